/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_direct.h"
#include "csp_post.h"

typedef struct range {
    uint64_t begin, bytes, segment;
} range_t;

/* By address; none overlaps another. With csp_lock. */
static MPL_gavl_tree_t ranges;
static const range_t *last;     /* the one found last */
static TSM_ATOMIC(int) n_ranges;

uint64_t csp_direct_key(void)
{
    static TSM_ATOMIC(uint64_t) serial;

    return (uint64_t) MPIR_Process.rank << 40 | tsm_fetch_add(&serial, 1, TSM_RELAXED);
}

uint64_t csp_direct_map(uint64_t key, const char *file, size_t bytes)
{
    csp_post_t post = {.kind = CSP_POST_MAP,.object = key,.bytes = bytes };
    uint64_t segment;
    csp_op_t *op;

    MPIR_Assert(strlen(file) < sizeof(post.data));
    strcpy((char *) post.data, file);
    if (csp_ask(&post, &op))
        return 0;
    segment = op->answer.error == MPI_SUCCESS ? op->answer.segment : 0;
    csp_op_free(op);
    return segment;
}

void csp_direct_unmap(uint64_t segment)
{
    const csp_post_t post = {.kind = CSP_POST_UNMAP,.object = segment };

    csp_post(&post);
}

/* The range that holds these bytes, or NULL; with the lock held. */
static range_t *find(uint64_t addr, uint64_t bytes)
{
    void *range = NULL;

    if (ranges)
        MPL_gavl_tree_search(ranges, (void *) (uintptr_t) addr, bytes, &range);
    return range;
}

static void free_range(void *range)
{
    MPL_free(range);
}

/* With the lock held. */
static int insert(range_t * range)
{
    if (!ranges && MPL_gavl_tree_create(free_range, &ranges) != MPL_SUCCESS)
        return 0;
    return MPL_gavl_tree_insert(ranges, (void *) (uintptr_t) range->begin, range->bytes, range) ==
        MPL_SUCCESS;
}

int csp_direct_add(void *addr, size_t bytes, uint64_t segment)
{
    range_t *range = MPL_malloc(sizeof(*range), MPL_MEM_OTHER);
    int is_added;

    if (!range)
        return 0;
    range->begin = (uint64_t) (uintptr_t) addr;
    range->bytes = bytes;
    range->segment = segment;
    csp_lock();
    is_added = insert(range);
    tsm_fetch_add(&n_ranges, is_added, TSM_RELAXED);
    csp_unlock();
    if (!is_added)
        MPL_free(range);
    return is_added;
}

uint64_t csp_direct_remove(void *addr, size_t * bytes)
{
    uint64_t segment = 0;

    if (tsm_load(&n_ranges, TSM_RELAXED) == 0)
        return 0;
    csp_lock();
    const range_t *range = find((uint64_t) (uintptr_t) addr, 1);
    if (range && range->begin == (uint64_t) (uintptr_t) addr) {
        segment = range->segment;
        *bytes = range->bytes;
        last = NULL;
        MPL_gavl_tree_delete_start_addr(ranges, addr);
        tsm_fetch_add(&n_ranges, -1, TSM_RELAXED);
    }
    csp_unlock();
    return segment;
}

/* Are all bytes of the post in the range? */
static int holds(const range_t * range, const csp_post_t * post)
{
    return post->addr >= range->begin && post->bytes <= range->bytes &&
        post->addr - range->begin <= range->bytes - post->bytes;
}

void csp_direct_mark(csp_post_t * post)
{
    if (tsm_load(&n_ranges, TSM_RELAXED) == 0 || post->bytes == 0 ||
        (post->flags & CSP_POST_INLINE))
        return;
    csp_lock();
    const range_t *range = last && holds(last, post) ? last : find(post->addr, post->bytes);
    if (range) {
        last = range;
        post->flags |= CSP_POST_DIRECT;
        post->data[0] = range->segment;
        post->data[1] = post->addr - range->begin;
    }
    csp_unlock();
}

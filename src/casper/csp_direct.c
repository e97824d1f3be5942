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

/* In the order of the addresses; none overlaps another. With csp_lock. */
static range_t *ranges;
static int room, last;          /* last: index of the one found last */
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

/* Index of the first range that ends behind addr; with the lock held. */
static int place_of(uint64_t addr)
{
    int low = 0, high = tsm_load(&n_ranges, TSM_RELAXED);

    while (low < high) {
        int middle = (low + high) / 2;
        if (addr - ranges[middle].begin < ranges[middle].bytes || addr < ranges[middle].begin)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int has_room(int n)
{
    range_t *more;

    if (n < room)
        return 1;
    more = MPL_realloc(ranges, 2 * (n + 8) * sizeof(*ranges), MPL_MEM_OTHER);
    if (!more)
        return 0;
    ranges = more;
    room = 2 * (n + 8);
    return 1;
}

int csp_direct_add(void *addr, size_t bytes, uint64_t segment)
{
    int is_added;
    const range_t range = {.begin = (uint64_t) (uintptr_t) addr,.bytes = bytes,.segment = segment };

    csp_lock();
    int n = tsm_load(&n_ranges, TSM_RELAXED);
    is_added = has_room(n);
    if (is_added) {
        int i = place_of(range.begin);
        memmove(&ranges[i + 1], &ranges[i], (n - i) * sizeof(*ranges));
        ranges[i] = range;
        tsm_store(&n_ranges, n + 1, TSM_RELAXED);
    }
    csp_unlock();
    return is_added;
}

uint64_t csp_direct_remove(void *addr, size_t * bytes)
{
    uint64_t segment = 0;

    if (tsm_load(&n_ranges, TSM_RELAXED) == 0)
        return 0;
    csp_lock();
    int i = place_of((uint64_t) (uintptr_t) addr), n = tsm_load(&n_ranges, TSM_RELAXED);
    if (i < n && ranges[i].begin == (uint64_t) (uintptr_t) addr) {
        segment = ranges[i].segment;
        *bytes = ranges[i].bytes;
        memmove(&ranges[i], &ranges[i + 1], (n - i - 1) * sizeof(*ranges));
        tsm_store(&n_ranges, n - 1, TSM_RELAXED);
        last = 0;
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
    int n = tsm_load(&n_ranges, TSM_RELAXED);
    int i = last < n && holds(&ranges[last], post) ? last : place_of(post->addr);
    if (i < n && holds(&ranges[i], post)) {
        last = i;
        post->flags |= CSP_POST_DIRECT;
        post->data[0] = ranges[i].segment;
        post->data[1] = post->addr - ranges[i].begin;
    }
    csp_unlock();
}

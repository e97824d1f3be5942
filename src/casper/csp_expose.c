/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_expose.h"
#include "csp_grant.h"

typedef struct segment {
    uint64_t key;
    MPL_shm_hnd_t handle;
    void *addr;
    MPI_Aint bytes;
    int users;
    struct segment *next;
} segment_t;

static segment_t *segments;

/* The link to the segment, or to NULL. */
static segment_t **find(uint64_t key)
{
    segment_t **link = &segments;

    while (*link && (*link)->key != key)
        link = &(*link)->next;
    return link;
}

static segment_t *attach(const csp_post_t * post)
{
    segment_t *s = csp_must_malloc(sizeof(*s));
    char name[sizeof(post->data)];

    memcpy(name, post->data, sizeof(name));
    memset(s, 0, sizeof(*s));
    s->key = post->object;
    s->bytes = (MPI_Aint) post->bytes;
    if (MPL_shm_hnd_init(&s->handle) ||
        MPL_shm_hnd_deserialize(s->handle, name, strlen(name)) ||
        MPL_shm_seg_attach(s->handle, s->bytes, &s->addr, 0)) {
        if (s->handle)
            MPL_shm_hnd_finalize(&s->handle);
        MPL_free(s);
        return NULL;
    }
    s->next = segments;
    segments = s;
    return s;
}

void csp_expose_map(csp_client_t * client, const csp_post_t * post)
{
    segment_t *s = *find(post->object);
    csp_answer_t answer = {.op = post->op };

    if (!s)
        s = attach(post);
    if (s) {
        s->users++;
        answer.object = (uint64_t) (uintptr_t) s->addr + post->addr;
        answer.bytes = (uint64_t) (uintptr_t) csp_grant_new();
    } else {
        answer.error = MPI_ERR_NO_MEM;
    }
    csp_answer(client, &answer);
}

void csp_expose_unmap(const csp_post_t * post)
{
    segment_t **link = find(post->object), *s = *link;

    csp_grant_drop((csp_lock_t *) (uintptr_t) post->addr);
    if (--s->users > 0)
        return;
    *link = s->next;
    MPL_shm_seg_detach(s->handle, &s->addr, s->bytes);
    MPL_shm_hnd_finalize(&s->handle);
    MPL_free(s);
}

/* The handlers of MPICH and ours set a flag when something has arrived for a window. */
int csp_expose_progress(void)
{
    if (!csp_grant_any())
        return 0;
    csp_must(MPID_Progress_test(NULL), "make progress");
    if (!MPL_atomic_load_int(&MPIDIG_global.rma_am_flag))
        return 0;
    MPL_atomic_store_int(&MPIDIG_global.rma_am_flag, 0);
    return 1;
}

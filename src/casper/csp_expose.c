/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_expose.h"
#include "csp_grant.h"

/* Segments at a time; Linux permits a process about as many mappings. */
#define MOST (1u << 16)

typedef struct csp_segment {
    uint64_t key, name;
    MPL_shm_hnd_t handle;
    void *addr;
    MPI_Aint bytes;
    int64_t uses;               /* by users and by operations */
} segment_t;

/* A name is a serial number and a place here, so the name of a segment that is gone finds nothing. */
static segment_t *segments[MOST];
static unsigned used;           /* places that were ever taken */

/* NULL: there is none with this key. *place: of it, or a free one, or MOST. */
static segment_t *find_key(uint64_t key, unsigned *place)
{
    *place = used;
    for (unsigned i = 0; i < used; i++) {
        if (segments[i] && segments[i]->key == key) {
            *place = i;
            return segments[i];
        }
        if (!segments[i])
            *place = i;
    }
    return NULL;
}

static segment_t *find_name(uint64_t name)
{
    segment_t *s = segments[name % MOST];

    return s && s->name == name ? s : NULL;
}

static int attach(segment_t * s, const csp_post_t * post)
{
    char file[sizeof(post->data)];

    memcpy(file, post->data, sizeof(file));
    return !MPL_shm_hnd_init(&s->handle) &&
        !MPL_shm_hnd_deserialize(s->handle, file, strlen(file)) &&
        !MPL_shm_seg_attach(s->handle, s->bytes, &s->addr, 0);
}

/* NULL: it cannot be mapped. */
static segment_t *new_segment(const csp_post_t * post, unsigned place)
{
    static uint64_t serial;
    segment_t *s;

    if (place == MOST)
        return NULL;
    s = csp_must_malloc(sizeof(*s));
    memset(s, 0, sizeof(*s));
    s->key = post->object;
    s->name = ++serial * MOST + place;
    s->bytes = (MPI_Aint) post->bytes;
    if (!attach(s, post)) {
        if (s->handle)
            MPL_shm_hnd_finalize(&s->handle);
        MPL_free(s);
        return NULL;
    }
    segments[place] = s;
    used = MPL_MAX(used, place + 1);
    return s;
}

void csp_expose_map(csp_client_t * client, const csp_post_t * post)
{
    unsigned place;
    segment_t *s = find_key(post->object, &place);
    csp_answer_t answer = {.op = post->op };

    if (!s)
        s = new_segment(post, place);
    if (s) {
        s->uses++;
        answer.object = (uint64_t) (uintptr_t) s->addr;
        answer.segment = s->name;
        if (post->flags & CSP_POST_LOCK)
            answer.bytes = (uint64_t) (uintptr_t) csp_grant_new();
    } else {
        answer.error = MPI_ERR_NO_MEM;
    }
    csp_answer(client, &answer);
}

void csp_expose_unmap(const csp_post_t * post)
{
    if (post->flags & CSP_POST_LOCK)
        csp_grant_drop((csp_lock_t *) (uintptr_t) post->addr);
    csp_expose_release(find_name(post->object));
}

void csp_expose_hold(csp_spot_t * spot, const csp_post_t * post)
{
    segment_t *s = find_name(post->data[0]);

    if (!s)
        return;
    s->uses++;
    spot->segment = s;
    spot->here = (char *) s->addr + post->data[1];
}

void csp_expose_release(segment_t * segment)
{
    if (!segment || --segment->uses > 0)
        return;
    segments[segment->name % MOST] = NULL;
    MPL_shm_seg_detach(segment->handle, &segment->addr, segment->bytes);
    MPL_shm_hnd_finalize(&segment->handle);
    MPL_free(segment);
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

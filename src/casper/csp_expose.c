/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_answer.h"
#include "csp_desk.h"
#include "csp_expose.h"
#include "csp_grant.h"
#include "csp_link.h"

#define MOST CSP_SEGMENTS

/* Of a process, by Linux, where nobody has set another limit. */
#define DEFAULT_MAPPINGS 65530

typedef struct csp_segment {
    uint64_t key, name;
    MPL_shm_hnd_t handle;
    void *addr;
    MPI_Aint bytes;
    int64_t uses;               /* by users, and by data without an item */
    int is_listed;              /* in `held` */
    struct csp_segment *next, *same_hash;
} segment_t;

/* A name is a serial number and a place here, so the name of a segment that is gone finds nothing. */
static segment_t *segments[MOST];
static segment_t *with_hash[MOST];      /* chains of those whose keys have this hash */
static segment_t *held;         /* given up by their users */
static unsigned used;           /* places that were ever taken */
static unsigned *free_places, n_free;   /* of these, those that are free now */

/* A key is a process and a small number of its own (csp_direct.c). */
static segment_t **chain_of(uint64_t key)
{
    return &with_hash[(key * 0x9e3779b97f4a7c15ull >> 32) % MOST];
}

static segment_t *find_key(uint64_t key)
{
    segment_t *s = *chain_of(key);

    while (s && s->key != key)
        s = s->same_hash;
    return s;
}

/* Each segment is a mapping, and a process without mappings left gets no memory of any kind. So half of
 * them stay free, here, and in users, each of which has fewer segments than its ghost. */
static unsigned most_places(void)
{
    static unsigned most;
    unsigned mappings = DEFAULT_MAPPINGS;
    FILE *file = most ? NULL : fopen("/proc/sys/vm/max_map_count", "r");

    if (most)
        return most;
    if (file && fscanf(file, "%u", &mappings) != 1)
        mappings = DEFAULT_MAPPINGS;
    if (file)
        fclose(file);
    most = MPL_MAX(MPL_MIN(mappings / 2, MOST), 1);
    return most;
}

/* MOST: there is none. */
static unsigned take_place(void)
{
    if (n_free > 0)
        return free_places[--n_free];
    return used < most_places() ? used++ : MOST;
}

static void free_place(unsigned place)
{
    if (!free_places)
        free_places = csp_must_malloc(MOST * sizeof(*free_places));
    free_places[n_free++] = place;
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

static void enter(segment_t * s, unsigned place)
{
    static uint64_t serial;
    segment_t **chain = chain_of(s->key);

    s->name = ++serial * MOST + place;
    segments[place] = s;
    s->same_hash = *chain;
    *chain = s;
}

/* NULL: it cannot be mapped. */
static segment_t *new_segment(const csp_post_t * post)
{
    unsigned place = take_place();
    segment_t *s;

    if (place == MOST)
        return NULL;
    s = csp_must_malloc(sizeof(*s));
    memset(s, 0, sizeof(*s));
    s->key = post->object;
    s->bytes = (MPI_Aint) post->bytes;
    if (!attach(s, post)) {
        if (s->handle)
            MPL_shm_hnd_finalize(&s->handle);
        MPL_free(s);
        free_place(place);
        return NULL;
    }
    enter(s, place);
    return s;
}

void csp_expose_map(int user, const csp_post_t * post)
{
    segment_t *s = find_key(post->object);
    csp_answer_t answer = {.op = post->op };

    if (!s)
        s = new_segment(post);
    if (s) {
        s->uses++;
        answer.object = (uint64_t) (uintptr_t) s->addr;
        answer.segment = s->name;
        if (post->flags & CSP_POST_LOCK)
            answer.bytes = (uint64_t) (uintptr_t) csp_grant_new();
    } else {
        answer.error = MPI_ERR_NO_MEM;
    }
    csp_answer_reply(user, &answer);
}

static void unmap(segment_t * segment)
{
    segment_t **link = chain_of(segment->key);

    while (*link != segment)
        link = &(*link)->same_hash;
    *link = segment->same_hash;
    segments[segment->name % MOST] = NULL;
    free_place((unsigned) (segment->name % MOST));
    MPL_shm_seg_detach(segment->handle, &segment->addr, segment->bytes);
    MPL_shm_hnd_finalize(&segment->handle);
    MPL_free(segment);
}

static int is_held(const segment_t * segment)
{
    int is;

    csp_desk_lock();
    is = csp_node.my_ghost->desk.holds[segment->name % MOST] > 0;
    csp_desk_unlock();
    return is || segment->uses > 0;
}

void csp_expose_clean(void)
{
    for (segment_t ** link = &held; *link;) {
        segment_t *s = *link;
        if (is_held(s)) {
            link = &s->next;
        } else {
            *link = s->next;
            unmap(s);
        }
    }
}

void csp_expose_hold(uint64_t name)
{
    segment_t *s = name ? find_name(name) : NULL;

    if (s)
        s->uses++;
}

void csp_expose_release(uint64_t name)
{
    segment_t *s = name ? find_name(name) : NULL;

    if (!s || --s->uses > 0)
        return;
    if (!s->is_listed) {
        s->is_listed = 1;
        s->next = held;
        held = s;
    }
    csp_expose_clean();
}

void csp_expose_unmap(const csp_post_t * post)
{
    if (post->flags & CSP_POST_LOCK)
        csp_grant_drop((csp_lock_t *) (uintptr_t) post->addr);
    csp_expose_release(post->object);
}

char *csp_expose_find(const csp_spot_t * spot)
{
    segment_t *s = find_name(spot->segment);

    return s ? (char *) s->addr + spot->offset : NULL;
}

/* The handlers of MPICH and ours set a flag when something has arrived for a window. */
int csp_expose_progress(void)
{
    if (!csp_grant_any())
        return 0;
    csp_link_progress();
    if (!MPL_atomic_load_int(&MPIDIG_global.rma_am_flag))
        return 0;
    MPL_atomic_store_int(&MPIDIG_global.rma_am_flag, 0);
    return 1;
}

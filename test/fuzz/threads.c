/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Helpers of a lane: threads that take part in one scene together. */
#include "fuzz.h"

typedef struct {
    fz_lane_t lane;
    int i;
    fz_helper_t fn;
    void *arg;
    pthread_t thread;
} helper_t;

static void *run(void *arg)
{
    helper_t *h = arg;

    h->fn(&h->lane, h->i, h->arg);
    return NULL;
}

void fz_threads(fz_lane_t * l, int n, fz_helper_t fn, void *arg)
{
    helper_t h[FZ_MAX_HELPERS];

    for (int i = 0; i < n; i++) {
        h[i] = (helper_t) {.lane = *l,.i = i,.fn = fn,.arg = arg };
        h[i].lane.jitter = fz_mix(l->jitter, 88, (uint64_t) i);
        FZ_CHECK(l, pthread_create(&h[i].thread, NULL, run, &h[i]) == 0, "no more threads");
    }
    for (int i = 0; i < n; i++)
        pthread_join(h[i].thread, NULL);
}

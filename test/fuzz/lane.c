/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A lane: a thread that plays the scenes of its plan one after another. Now and then it leaves the
 * rest to a new thread and exits, so that threads come and go while others communicate. */
#include "fuzz.h"
#include <unistd.h>

enum {
    EXCHANGE, RING, CANCEL, PERSISTENT, PARTITIONED, COLLECTIVE, COMMS, RMA, RMA_SHARED, RELAY, FLOOD,
    CROWD, NEIGHBOUR, MIXED, TRUNCATE, STORM, RMA_THREADS
};

const char *const fz_kind_name[FZ_KINDS] = {
    "exchange", "ring", "cancel", "persistent", "partitioned", "collective", "comms", "rma",
    "rmashared", "relay", "flood", "crowd", "neighbour", "mixed", "truncate", "storm", "rmathreads"
};

static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_cond = PTHREAD_COND_INITIALIZER;
static int lanes_done;

/* Changes the order in which lanes and processes arrive. */
void fz_pause(fz_lane_t * l)
{
    int r = fz_own_draw(l, 64);

    if (fz.plan.pace == 0 || r >= 8)
        return;
    if (r < 2)
        usleep((useconds_t) (50 * fz_own_draw(l, 1 << (2 * fz.plan.pace))));
    for (int i = 0; i < 100 << r; i++)
        fz_next(&l->jitter);
}

static int draw_kind(fz_lane_t * l)
{
    int sum = 0, k = 0, r;

    for (int i = 0; i < FZ_KINDS; i++)
        sum += fz.plan.weight[i];
    r = fz_draw(l, sum);
    while (r >= fz.plan.weight[k])
        r -= fz.plan.weight[k++];
    return k;
}

static fz_comm_t *draw_comm(fz_lane_t * l, int partners)
{
    static const int from[] = { 0, 0, 0, 0, 1, 1, 2, 3 };
    fz_comm_t *comm[] = { &l->own, &fz.plan.shared, &fz.world, &fz.self };
    fz_comm_t *c = comm[from[fz_draw(l, 8)]];

    return c->n >= partners ? c : &l->own;
}

static void play_scene(fz_lane_t * l)
{
    int kind;

    l->rng = fz_mix(fz.plan.seed, (uint64_t) l->id, (uint64_t) l->scene);
    l->jitter = fz_mix(l->rng, 77, (uint64_t) fz.rank);
    kind = draw_kind(l);
    l->what = fz_kind_name[kind];
    fz_pause(l);
    switch (kind) {
        case EXCHANGE: fz_exchange(l, draw_comm(l, 1), 0); break;
        case RING: fz_ring(l, draw_comm(l, 1)); break;
        case CANCEL: fz_cancel(l, draw_comm(l, 1)); break;
        case PERSISTENT: fz_persistent(l, draw_comm(l, 1)); break;
        case PARTITIONED: fz_partitioned(l, draw_comm(l, 2)); break;
        case COLLECTIVE: fz_collective(l, &l->own); break;
        case COMMS: fz_comms(l); break;
        case RMA: fz_rma(l); break;
        case RMA_SHARED: fz_rma_shared(l); break;
        case RELAY: fz_relay(l); break;
        case FLOOD: fz_flood(l, draw_comm(l, 1)); break;
        case CROWD: fz_crowd(l, draw_comm(l, 1)); break;
        case NEIGHBOUR: fz_neighbour(l); break;
        case MIXED: fz_mixed(l, draw_comm(l, 1)); break;
        case TRUNCATE: fz_truncate(l); break;
        case STORM: fz_storm(l); break;
        case RMA_THREADS: fz_rma_threads(l); break;
    }
}

static void lane_done(void)
{
    pthread_mutex_lock(&done_lock);
    lanes_done++;
    pthread_cond_signal(&done_cond);
    pthread_mutex_unlock(&done_lock);
}

static void *lane_main(void *arg)
{
    fz_lane_t *l = arg;

    if (l->has_before)
        pthread_join(l->before, NULL);
    else
        fz_bsend_begin(l);
    while (l->scene < fz.plan.scenes) {
        play_scene(l);
        l->scene++;
        if (fz.plan.respawn && l->scene % fz.plan.respawn == 0 && l->scene < fz.plan.scenes) {
            l->has_before = 1;
            l->before = pthread_self();
            FZ_CHECK(l, pthread_create(&l->thread, NULL, lane_main, l) == 0, "no more threads");
            return NULL;
        }
    }
    fz_bsend_end(l);
    fz_rma_end(l);
    lane_done();
    return NULL;
}

void fz_run_lanes(void)
{
    int n = fz.plan.threads;

    lanes_done = 0;
    for (int i = 0; i < n; i++) {
        fz_lane_t *l = &fz.lane[i];
        l->scene = 0;
        l->has_before = 0;
        l->win = MPI_WIN_NULL;
        l->shared_puts = 0;
        FZ_CHECK(l, pthread_create(&l->thread, NULL, lane_main, l) == 0, "no more threads");
    }
    pthread_mutex_lock(&done_lock);
    while (lanes_done < n)
        pthread_cond_wait(&done_cond, &done_lock);
    pthread_mutex_unlock(&done_lock);
    for (int i = 0; i < n; i++)
        pthread_join(fz.lane[i].thread, NULL);
}

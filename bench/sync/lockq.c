/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The step of LockQ (ICS'19, section 3.4): try the lock, else post to the queue. Nanoseconds of
 * both ways on one thread:
 *   issue  the try succeeds, the queue is empty, and the lock is released
 *   post   the try fails because the lock is held, and a node is pushed. Popping is not timed */
#include "common.h"
#include "lock/tsm_lock.h"
#include "queue/tsm_swp.h"

#define BATCH 256
#define BATCHES 800
#define USAGE "lockq [-r rounds] [-P]"

typedef struct item {
    tsm_swp_node_t node;
    char pad[TSM_CACHELINE - sizeof(tsm_swp_node_t)];
} item_t;

typedef struct vci {
    tsm_lock_t lock;
    char pad[TSM_CACHELINE];
    tsm_swp_t queue;
    char pad2[TSM_CACHELINE];
    long issued;
} vci_t;

/* 1 if the operation was issued, 0 if it was posted. */
static inline int step(vci_t *vci, item_t *item)
{
    if (!tsm_lock_try(&vci->lock)) {
        tsm_swp_push(&vci->queue, &item->node);
        return 0;
    }
    vci->issued += tsm_swp_is_empty(&vci->queue);
    tsm_lock_release(&vci->lock);
    return 1;
}

__attribute__((noinline)) static double timed_batch(vci_t *vci, item_t *items, int *issued)
{
    double start = bench_now();
    for (int i = 0; i < BATCH; i++)
        *issued += step(vci, &items[i]);
    return bench_now() - start;
}

/* Seconds for one batch, the median of BATCHES, with the lock held or not. */
static double measure(vci_t *vci, item_t *items, int held)
{
    static double seconds[BATCHES];
    int issued = 0, popped = 0;

    for (int b = 0; b < BATCHES; b++) {
        if (held)
            tsm_lock_acquire(&vci->lock);
        seconds[b] = timed_batch(vci, items, &issued);
        while (tsm_swp_pop(&vci->queue))
            popped++;
        if (held)
            tsm_lock_release(&vci->lock);
    }
    if (issued != (held ? 0 : BATCH * BATCHES) || issued + popped != BATCH * BATCHES)
        bench_die(1, "lockq: %d issued and %d posted of %d", issued, popped, BATCH * BATCHES);
    return bench_median(seconds, BATCHES);
}

static void report(const char *way, int round, double seconds)
{
    json_begin("lockq");
    json_text("lock", tsm_lock_name());
    json_text("way", way);
    json_int("threads", 1);
    json_int("round", round);
    json_end(seconds / BATCH * 1e9, "ns/step");
}

int main(int argc, char **argv)
{
    bench_options_t o = bench_parse(argc, argv, "r:P", USAGE, (bench_options_t) {.rounds = 15 });
    vci_t *vci = bench_alloc(sizeof(*vci));
    item_t *items = bench_alloc(BATCH * sizeof(*items));

    bench_not_alone();
    if (o.pin)
        bench_pin(0);
    tsm_lock_init(&vci->lock);
    tsm_swp_init(&vci->queue);
    /* round -1 warms up */
    for (int round = -1; round < o.rounds; round++) {
        for (int held = 0; held < 2; held++) {
            double seconds = measure(vci, items, held);
            if (round >= 0)
                report(held ? "post" : "issue", round, seconds);
        }
    }
    tsm_lock_destroy(&vci->lock);
    bench_free_all();
    return 0;
}

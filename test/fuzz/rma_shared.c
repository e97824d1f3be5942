/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One window that all lanes use at once, in an epoch that lasts for the whole seed: each lane puts
 * into places of its own and gets them back, and all add to the same counters.
 *
 * Window, in words: counters, then a part for each lane and origin. */
#include "fuzz.h"

#define PART 1024

static MPI_Win win = MPI_WIN_NULL;
static uint64_t *mem;

static MPI_Aint part(int lane, int origin)
{
    return 8 + ((MPI_Aint) lane * fz.size + origin) * PART;
}

void fz_shared_win_begin(void)
{
    MPI_Aint bytes = part(fz.plan.threads, 0) * 8;

    if (!fz.plan.shared_win)
        return;
    MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, fz.plan.shared.comm, &mem, &win);
    MPI_Win_lock_all(0, win);
    memset(mem, 0, (size_t) bytes);
    MPI_Win_sync(win);
    MPI_Barrier(fz.plan.shared.comm);
}

/* Every addition of 1, by whatever way and lane, went to process 0. */
void fz_shared_win_end(void)
{
    uint64_t mine = 0, all;

    if (!fz.plan.shared_win)
        return;
    for (int i = 0; i < fz.plan.threads; i++)
        mine += fz.lane[i].shared_puts;
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, fz.plan.shared.comm);
    if (fz.rank == 0) {
        uint64_t sum = 0;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        for (int i = 0; i < FZ_COUNTERS; i++)
            sum += mem[i];
        MPI_Win_unlock(0, win);
        FZ_CHECK(NULL, sum == all, "shared window: the counters' sum is %llu, not %llu",
                 (unsigned long long) sum, (unsigned long long) all);
    }
    MPI_Win_free(&win);
}

/* Puts, forgets the origin's copy, and gets it back. */
static void put_and_get(fz_lane_t * l)
{
    int target = fz_own_draw(l, fz.size), words = 1 + fz_own_draw(l, PART), wait = 0;
    uint64_t key = fz_next(&l->jitter), *m = fz_alloc(PART * 8);
    MPI_Request req;

    fz_fill(m, (size_t) words * 8, key);
    if (fz_own_draw(l, 2)) {
        MPI_Put(m, words, MPI_UINT64_T, target, part(l->id, fz.rank), words, MPI_UINT64_T, win);
        fz_flush_local(l, target, win);
    } else {
        MPI_Rput(m, words, MPI_UINT64_T, target, part(l->id, fz.rank), words, MPI_UINT64_T, win,
                 &req);
        fz_complete(l, 1, &req, fz_completed_nothing, NULL);
    }
    memset(m, 0xdd, (size_t) words * 8);
    fz_flush(l, target, win);
    wait = fz_own_draw(l, 2);
    if (wait)
        MPI_Rget(m, words, MPI_UINT64_T, target, part(l->id, fz.rank), words, MPI_UINT64_T, win,
                 &req);
    else
        MPI_Get(m, words, MPI_UINT64_T, target, part(l->id, fz.rank), words, MPI_UINT64_T, win);
    if (wait)
        fz_complete(l, 1, &req, fz_completed_nothing, NULL);
    else
        fz_flush(l, target, win);
    FZ_CHECK(l, fz_holds(m, (size_t) words * 8, key), "shared window: got %d words from %d other "
             "than put", words, target);
    free(m);
}

static void add(fz_lane_t * l)
{
    int by = fz_own_draw(l, FZ_COUNTERS);

    fz_count(l, by, 0, by, win);
    l->shared_puts++;
}

void fz_rma_shared(fz_lane_t * l)
{
    int turns = 1 + fz_draw(l, 8);

    if (!fz.plan.shared_win)
        return;
    for (int i = 0; i < turns; i++) {
        if (fz_own_draw(l, 2))
            put_and_get(l);
        else
            add(l);
        fz_pause(l);
    }
}

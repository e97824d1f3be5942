/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Locks of windows that ghosts serve: exclusive ones guard a counter that is read and written, shared
 * ones admit all, several targets, of one ghost, too, can be locked at once, and the owner's loads and
 * stores are guarded as well. -n: rounds, -t: threads, each with its own window. */
#include "../mt.h"

static MPI_Comm comm[MT_MAX_THREADS];
static MPI_Win win[MT_MAX_THREADS];
static long *mem[MT_MAX_THREADS];

/* Only an exclusive lock makes this right. *value is in use until the caller unlocks the target. */
static void add_one(int target, MPI_Win w, long *value)
{
    *value = -1;
    MT_OK(MPI_Get(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, w));
    MT_OK(MPI_Win_flush(target, w));
    ++*value;
    MT_OK(MPI_Put(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, w));
}

static void one_at_a_time(MPI_Win w, uint64_t * rng)
{
    int target = (int) (mt_rand(rng) % (unsigned) mt.size);
    long value;
    for (int i = 0; i < mt.size; i++) {
        target = (target + 1) % mt.size;
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w));
        add_one(target, w, &value);
        MT_OK(MPI_Win_unlock(target, w));
    }
}

/* In ascending order, so that nobody waits in a circle. */
static void all_at_once(MPI_Win w)
{
    long *value = mt_alloc((size_t) mt.size * sizeof(long));
    for (int i = 0; i < mt.size; i++)
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, w));
    for (int i = mt.size - 1; i >= 0; i--)
        add_one(i, w, &value[i]);
    for (int i = 0; i < mt.size; i++)
        MT_OK(MPI_Win_unlock(i, w));
    free(value);
}

/* By plain load and store, under the lock of the own memory. */
static void own(MPI_Win w, long *memory)
{
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.rank, 0, w));
    memory[0]++;
    MT_OK(MPI_Win_unlock(mt.rank, w));
}

static void shared(MPI_Win w)
{
    long one = 1;
    for (int i = 0; i < mt.size; i++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, i, 0, w));
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, i, 1, 1, MPI_LONG, MPI_SUM, w));
        MT_OK(MPI_Win_unlock(i, w));
    }
    MT_OK(MPI_Win_lock_all(0, w));
    for (int i = 0; i < mt.size; i++)
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, i, 1, 1, MPI_LONG, MPI_SUM, w));
    MT_OK(MPI_Win_flush_all(w));
    MT_OK(MPI_Win_unlock_all(w));
}

/* All processes are readers at a time: each waits in its epoch until the others are in theirs. */
static void all_readers_together(MPI_Comm c, MPI_Win w)
{
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    MT_OK(MPI_Barrier(c));
    MT_OK(MPI_Win_unlock(0, w));
    MT_OK(MPI_Win_lock_all(0, w));
    MT_OK(MPI_Barrier(c));
    MT_OK(MPI_Win_unlock_all(w));
}

static void without_check(MPI_Comm c, MPI_Win w)
{
    long one = 1;
    MT_OK(MPI_Barrier(c));
    if (mt.rank == 0) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.size - 1, MPI_MODE_NOCHECK, w));
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, mt.size - 1, 2, 1, MPI_LONG, MPI_SUM, w));
        MT_OK(MPI_Win_unlock(mt.size - 1, w));
    }
    MT_OK(MPI_Barrier(c));
    MT_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w));
    MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, mt.size - 1, 2, 1, MPI_LONG, MPI_SUM, w));
    MT_OK(MPI_Win_unlock_all(w));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Win w = win[t->id];
    long *m = mem[t->id], rounds = mt.iters;
    for (long i = 0; i < rounds; i++) {
        one_at_a_time(w, &t->rng);
        all_at_once(w);
        own(w, m);
        /* a process that locks all and one that locks several might wait for each other */
        MT_OK(MPI_Barrier(comm[t->id]));
        shared(w);
        MT_OK(MPI_Barrier(comm[t->id]));
    }
    all_readers_together(comm[t->id], w);
    without_check(comm[t->id], w);
    MT_OK(MPI_Barrier(comm[t->id]));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt.rank, 0, w));
    MT_CHECK(m[0] == (2 * mt.size + 1) * rounds, "%ld of %ld under exclusive locks", m[0],
             (2 * mt.size + 1) * rounds);
    MT_CHECK(m[1] == 2 * mt.size * rounds, "%ld of %ld under shared locks", m[1],
             2 * mt.size * rounds);
    if (mt.rank == mt.size - 1)
        MT_CHECK(m[2] == mt.size + 1, "%ld of %d without check", m[2], mt.size + 1);
    MT_OK(MPI_Win_unlock(mt.rank, w));
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 30);
    for (int i = 0; i < mt.threads; i++) {
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
        MT_OK(MPI_Win_allocate(3 * sizeof(long), sizeof(long), MPI_INFO_NULL, comm[i], &mem[i],
                               &win[i]));
        memset(mem[i], 0, 3 * sizeof(long));
        MT_OK(MPI_Barrier(comm[i]));
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MT_OK(MPI_Win_free(&win[i]));
        MT_OK(MPI_Comm_free(&comm[i]));
    }
    return mt_finish();
}

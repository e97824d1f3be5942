/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* More windows at once than the library finds without a lock (256; src/ch4/transport/win_table.h):
 * threads add to all of theirs, while others free some and make new ones, which take the places. */
#include "mt.h"

#define ROUNDS 3

typedef struct {
    MPI_Win win;
    long mem, expected;
} window_t;

static MPI_Comm comm[MT_MAX_THREADS];

static void make(window_t * w, int id)
{
    w->mem = w->expected = 0;
    MT_OK(MPI_Win_create(&w->mem, sizeof(long), sizeof(long), MPI_INFO_NULL, comm[id], &w->win));
    MT_OK(MPI_Win_lock_all(0, w->win));
}

static void end(window_t * w)
{
    MT_OK(MPI_Win_unlock_all(w->win));
    MT_OK(MPI_Win_free(&w->win));
}

static void add(window_t * w, long value)
{
    MT_OK(MPI_Accumulate(&value, 1, MPI_LONG, mt.peer, 0, 1, MPI_LONG, MPI_SUM, w->win));
    MT_OK(MPI_Win_flush(mt.peer, w->win));
    w->expected += value;
}

static void check(window_t * w, int id, long i)
{
    long value = -1, none = 0;
    MT_OK(MPI_Fetch_and_op(&none, &value, MPI_LONG, mt.rank, 0, MPI_NO_OP, w->win));
    MT_OK(MPI_Win_flush(mt.rank, w->win));
    MT_CHECK(value == w->expected, "thread %d window %ld: %ld instead of %ld", id, i, value,
             w->expected);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    window_t *w = calloc(mt.iters, sizeof(*w));
    for (long i = 0; i < mt.iters; i++)
        make(&w[i], t->id);
    for (int round = 0; round < ROUNDS; round++) {
        for (long i = 0; i < mt.iters; i++)
            add(&w[i], 1000 * i + t->id + 1);
        MT_OK(MPI_Barrier(comm[t->id]));
        for (long i = 0; i < mt.iters; i++)
            check(&w[i], t->id, i);
        MT_OK(MPI_Barrier(comm[t->id]));
        for (long i = round; i < mt.iters; i += ROUNDS) {
            end(&w[i]);
            make(&w[i], t->id);
        }
    }
    for (long i = 0; i < mt.iters; i++)
        end(&w[i]);
    free(w);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 40);
    mt_run_with_comms(worker, comm);
    return mt_finish();
}

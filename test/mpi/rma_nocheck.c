/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_MODE_NOCHECK holds for the epoch that it was given for: a later lock of the same target without
 * it is taken, kept from others and released. Each process in turn locks its peer with and without
 * it and adds to the peer's numbers, which must be the sum in the end. */
#include "mt.h"

#define NUMBERS 4

static MPI_Win win;
static long *mine;

/* Read and write, as MPI_Win_lock excludes others. */
static void add_one(int assert)
{
    long numbers[NUMBERS];

    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.peer, assert, win));
    MT_OK(MPI_Get(numbers, NUMBERS, MPI_LONG, mt.peer, 0, NUMBERS, MPI_LONG, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    for (int k = 0; k < NUMBERS; k++)
        numbers[k]++;
    MT_OK(MPI_Put(numbers, NUMBERS, MPI_LONG, mt.peer, 0, NUMBERS, MPI_LONG, win));
    MT_OK(MPI_Win_unlock(mt.peer, win));
}

/* NOCHECK: no other process locks this target before the barrier. */
static void round_of(int rank)
{
    if (mt.rank == rank) {
        add_one(MPI_MODE_NOCHECK);
        add_one(0);
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.rank, 0, win));
    MT_OK(MPI_Win_unlock(mt.rank, win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    MT_OK(MPI_Alloc_mem(NUMBERS * sizeof(long), MPI_INFO_NULL, &mine));
    memset(mine, 0, NUMBERS * sizeof(long));
    MT_OK(MPI_Win_create(mine, NUMBERS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &win));
    for (long i = 0; i < mt.iters; i++) {
        for (int rank = 0; rank < mt.size; rank++)
            round_of(rank);
    }
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.rank, 0, win));
    for (int k = 0; k < NUMBERS; k++)
        MT_CHECK(mine[k] == 2 * mt.iters, "number %d is %ld instead of %ld", k, mine[k], 2 * mt.iters);
    MT_OK(MPI_Win_unlock(mt.rank, win));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Free_mem(mine));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A put of process 0 fails in the network: the call that ends the epoch returns an error, and ends it
 * nevertheless. So the lock is free for the next process, and nobody waits in the fence, or for
 * MPI_Win_complete, for ever. */
#define _GNU_SOURCE
#include "fabric_write.h"

static MPI_Win win;
static MPI_Group other;
static char out[BYTES];

void fabric_endpoint(struct fid_ep *ep)
{
    FABRIC_REPLACE(ep->rma, writemsg, real_write, write_or_fail);
}

void fabric_counter(struct fid_cntr *cntr)
{
    FABRIC_REPLACE(cntr->ops, readerr, real_errors, count_errors);
}

static void put_in_vain(void)
{
    atomic_store(&fails, 1);
    MT_OK(MPI_Put(out, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, win));
}

static void put_well(void)
{
    MT_OK(MPI_Put(out, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, win));
}

#define FAILS(call_) MT_CHECK((call_) != MPI_SUCCESS, "%s gave no error", #call_)

static void lock_own(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.rank, 0, win));
    MT_OK(MPI_Win_unlock(mt.rank, win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void lock(void)
{
    if (mt.rank == 0) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        put_in_vain();
        FAILS(MPI_Win_unlock(1, win));
    }
    lock_own();
    if (mt.rank == 0) {
        MT_OK(MPI_Win_lock_all(0, win));
        put_in_vain();
        FAILS(MPI_Win_unlock_all(win));
    }
    lock_own();
}

static void fence(void)
{
    MT_OK(MPI_Win_fence(0, win));
    if (mt.rank == 0) {
        put_in_vain();
        FAILS(MPI_Win_fence(0, win));
        put_well();
    } else {
        MT_OK(MPI_Win_fence(0, win));
    }
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

static void start_and_post(void)
{
    if (mt.rank == 0) {
        MT_OK(MPI_Win_start(other, 0, win));
        put_in_vain();
        FAILS(MPI_Win_complete(win));
    } else {
        MT_OK(MPI_Win_post(other, 0, win));
        MT_OK(MPI_Win_wait(win));
    }
}

int main(int argc, char **argv)
{
    MPI_Group world;
    char *memory;

    mt_init(argc, argv, 1, 3);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Group_incl(world, 1, &mt.peer, &other));
    MT_OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (long i = 0; i < mt.iters; i++) {
        lock();
        fence();
        start_and_post();
    }
    MT_OK(MPI_Group_free(&other));
    MT_OK(MPI_Group_free(&world));
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Win_unlock of a target that is not locked gives MPI_ERR_RMA_SYNC, and the locks of others hold:
 * without any lock, with one of another target, of a target that was locked before, in the epoch of
 * MPI_Win_lock_all. In a window of MPI_Win_create and in one of MPI_Win_allocate. */
#include "mt.h"

static MPI_Win win;

static void not_locked(int target, const char *when)
{
    mt_fails(MPI_Win_unlock(target, win), MPI_ERR_RMA_SYNC, when);
}

static void add_one(void)
{
    static const long one = 1;
    MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, mt.peer, 0, 1, MPI_LONG, MPI_SUM, win));
}

static void lock_and_unlock(void)
{
    not_locked(mt.rank, "without a lock");
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt.peer, 0, win));
    not_locked(mt.rank, "never locked");
    add_one();
    not_locked(mt.rank, "never locked, again");
    MT_OK(MPI_Win_unlock(mt.peer, win));
    not_locked(mt.peer, "unlocked");
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt.rank, 0, win));
    not_locked(mt.peer, "locked before");
    MT_OK(MPI_Win_unlock(mt.rank, win));
    MT_OK(MPI_Win_lock_all(0, win));
    not_locked(mt.peer, "all are locked");
    add_one();
    MT_OK(MPI_Win_unlock_all(win));
}

static void check(const long *mine)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt.rank, 0, win));
    MT_CHECK(*mine == 2, "%ld instead of 2", *mine);
    MT_OK(MPI_Win_unlock(mt.rank, win));
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    long mine = 0, *allocated;

    mt_init(argc, argv, 1, 1);
    MT_OK(MPI_Win_create(&mine, sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    lock_and_unlock();
    check(&mine);
    MT_OK(MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &allocated,
                           &win));
    *allocated = 0;
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    lock_and_unlock();
    check(allocated);
    return mt_finish();
}

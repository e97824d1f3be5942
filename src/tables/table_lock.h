/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef TABLE_LOCK_H_INCLUDED
#define TABLE_LOCK_H_INCLUDED

/* A lock around the functions of one of MPICH's files that read or change a table of the process, which
 * MPICH leaves without one. The header of the file defines the function that others call, with the
 * lock, and gives the one in the file another name, by a macro behind it; calls within the file go to
 * the latter, so nothing takes the lock twice. The lock is static, since the functions may be called
 * while MPI is not initialized; nothing waits while it is held. */
#define TABLE_LOCKED(lock_, call_) \
    { \
        int mpi_errno; \
        MPL_initlock_lock(&lock_); \
        mpi_errno = call_; \
        MPL_initlock_unlock(&lock_); \
        return mpi_errno; \
    }

#endif /* TABLE_LOCK_H_INCLUDED */

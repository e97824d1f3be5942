/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef COMM_LOCKED_H_INCLUDED
#define COMM_LOCKED_H_INCLUDED

/* For comm_impl.c. Of all communicators, one thread at a time makes a group, whoever needs it. */
static MPL_initlock_t lock = MPL_INITLOCK_INITIALIZER;

#include "binding_calls_not.h"

/* For MPI_Intercomm_create, with the user's tag, which its function has (dynproc.h). */
#define MPID_Intercomm_exchange_map(comm_, leader_, peer_, remote_leader_, ...) \
    MPIDI_intercomm_exchange_map(comm_, leader_, peer_, remote_leader_, tag, __VA_ARGS__)

/* For MPI_Comm_create_group: its messages find their receivers by the group of the communicator, which
 * the program may never have asked for. */
static int comm_keep_group(MPIR_Comm * comm)
{
    MPIR_Group *group;
    int mpi_errno = MPIR_Comm_group_impl(comm, &group);

    return mpi_errno ? mpi_errno : MPIR_Group_release(group);
}

/* Before a communicator is made from one group, or from two: MPICH needs the first communicator of all
 * processes for that, unless the one group has them all or this process alone. Another thread may be
 * making it. With the lock of global; mpir_stay_up.h has the order of the locks. */
int MPIR_Comm_check_groups(MPIR_Group * group, MPIR_Group * remote)
{
    int mpi_errno;

    if (!remote && (group->size <= 1 || group->size == MPIR_Process.size))
        return MPI_SUCCESS;
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPL_initlock_lock(&MPIR_init_lock);
    mpi_errno = MPIDI_no_world();
    MPL_initlock_unlock(&MPIR_init_lock);
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

/* MPI_Comm_free. Calls the delete functions now and here: the last reference may go later, in another
 * thread that holds a lock. If one returns an error, the communicator stays. */
static int comm_free(MPIR_Comm * comm)
{
    int mpi_errno = MPI_SUCCESS;

    if (MPIR_Process.attr_free && comm->attributes)
        mpi_errno = MPIR_Process.attr_free(comm->handle, &comm->attributes);
    return mpi_errno ? mpi_errno : MPIR_Comm_release(comm);
}

#endif /* COMM_LOCKED_H_INCLUDED */

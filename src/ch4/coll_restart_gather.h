/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef COLL_RESTART_GATHER_H_INCLUDED
#define COLL_RESTART_GATHER_H_INCLUDED

/* For MPI_Gather_init and MPI_Igather by a binomial tree. The file copies the caller's own data when it
 * makes the schedule; a persistent gather has to copy what is there at each start. */
static inline int coll_copy_at_start(const void *from, MPI_Aint from_count, MPI_Datatype from_type,
                                     void *to, MPI_Aint to_count, MPI_Datatype to_type,
                                     MPIR_Sched_t s)
{
    int mpi_errno = MPIR_Sched_copy(from, from_count, from_type, to, to_count, to_type, s);

    return mpi_errno ? mpi_errno : MPIR_Sched_barrier(s);
}

#undef MPIR_Localcopy
#define MPIR_Localcopy(from_, from_count_, from_type_, to_, to_count_, to_type_) \
    coll_copy_at_start(from_, from_count_, from_type_, to_, to_count_, to_type_, s)

#endif /* COLL_RESTART_GATHER_H_INCLUDED */

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
    MPI_Aint from_size, to_size;
    int mpi_errno = MPI_SUCCESS;

    MPIR_Datatype_get_size_macro(from_type, from_size);
    MPIR_Datatype_get_size_macro(to_type, to_size);
    /* now, as MPIR_Localcopy does, and not at the start */
    MPIR_ERR_CHKANDJUMP(from_count * from_size > to_count * to_size, mpi_errno, MPI_ERR_TRUNCATE,
                        "**truncate");
    mpi_errno = MPIR_Sched_copy(from, from_count, from_type, to, to_count, to_type, s);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Sched_barrier(s);

  fn_fail:
    return mpi_errno;
}

#undef MPIR_Localcopy
#define MPIR_Localcopy(from_, from_count_, from_type_, to_, to_count_, to_type_) \
    coll_copy_at_start(from_, from_count_, from_type_, to_, to_count_, to_type_, s)

#endif /* COLL_RESTART_GATHER_H_INCLUDED */

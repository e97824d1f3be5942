/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef COLL_STRIDE_H_INCLUDED
#define COLL_STRIDE_H_INCLUDED

/* For the reduce-scatters of operators that do not commute: elements are as far apart as their extent
 * says, in the user's buffers and so in the temporary ones. These files take the true extent instead.
 * The macros give them the extent under that name; a buffer has room for what an element has beyond
 * its extent. */

static inline MPI_Aint coll_get_stride(MPI_Datatype datatype, MPI_Aint * true_lb, MPI_Aint * extent)
{
    MPI_Aint true_extent;

    MPIR_Type_get_true_extent_impl(datatype, true_lb, &true_extent);
    MPIR_Datatype_get_extent_macro(datatype, *extent);
    return MPL_MAX(true_extent - *extent, 0);
}

#define MPIR_Type_get_true_extent_impl(datatype_, true_lb_, extent_)                        \
    const MPI_Aint coll_beyond = coll_get_stride(datatype_, true_lb_, extent_)

#undef MPIR_Sched_alloc_state
#define MPIR_Sched_alloc_state(s_, size_) MPIDU_Sched_alloc_state(s_, (size_) + coll_beyond)

#undef MPIR_CHKLMEM_MALLOC
#define MPIR_CHKLMEM_MALLOC(pointer_, type_, size_, rc_, name_, class_)                     \
    MPIR_CHKLMEM_MALLOC_ORJUMP(pointer_, type_, (size_) + coll_beyond, rc_, name_, class_)

#endif /* COLL_STRIDE_H_INCLUDED */

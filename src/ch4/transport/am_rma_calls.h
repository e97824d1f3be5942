/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_AM_RMA_CALLS_H_INCLUDED
#define MPIDI_AM_RMA_CALLS_H_INCLUDED

/* One-sided operations as active messages, with and without a request: for mpidig_rma.h, in place of
 * MPICH's functions, after those that send (MPIDIG_do_*). *request is NULL, or a request that a model
 * gives which posts operations (am_given.h); the caller gets it back, or a new one. The calls that are
 * most frequent enter the VCI once at most (enter_once.h). */

#undef MPIDIG_request_create    /* of am_given.h: from here on there is no request that is given */

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_put(const void *origin_addr, int origin_count,
                                            MPI_Datatype origin_datatype, int target_rank,
                                            MPI_Aint target_disp, int target_count,
                                            MPI_Datatype target_datatype, MPIR_Win * win)
{
    const int vci = MPIDI_WIN(win, am_vci);
    const int entered = MPIDI_enter_once(vci);
    int mpi_errno = MPIDIG_do_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                  target_count, target_datatype, win, vci, NULL);

    MPIDI_exit_once(vci, entered);
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_get(void *origin_addr, int origin_count,
                                            MPI_Datatype origin_datatype, int target_rank,
                                            MPI_Aint target_disp, int target_count,
                                            MPI_Datatype target_datatype, MPIR_Win * win)
{
    const int vci = MPIDI_WIN(win, am_vci);
    const int entered = MPIDI_enter_once(vci);
    int mpi_errno = MPIDIG_do_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                  target_count, target_datatype, win, vci, NULL);

    MPIDI_exit_once(vci, entered);
    return mpi_errno;
}

/* The others: call_ sets mpi_errno, with the VCI held; it may use vci. */
#define MPIDI_AM_RMA_CALL(win_, call_) \
    int mpi_errno = MPI_SUCCESS; \
    const int vci = MPIDI_WIN(win_, am_vci); \
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock); \
    mpi_errno = call_; \
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock); \
    return mpi_errno

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_rput(const void *origin_addr, int origin_count,
                                             MPI_Datatype origin_datatype, int target_rank,
                                             MPI_Aint target_disp, int target_count,
                                             MPI_Datatype target_datatype, MPIR_Win * win,
                                             MPIR_Request ** request)
{
    MPIDI_AM_RMA_CALL(win, MPIDIG_do_put(origin_addr, origin_count, origin_datatype, target_rank,
                                         target_disp, target_count, target_datatype, win, vci,
                                         request));
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_rget(void *origin_addr, int origin_count,
                                             MPI_Datatype origin_datatype, int target_rank,
                                             MPI_Aint target_disp, int target_count,
                                             MPI_Datatype target_datatype, MPIR_Win * win,
                                             MPIR_Request ** request)
{
    MPIDI_AM_RMA_CALL(win, MPIDIG_do_get(origin_addr, origin_count, origin_datatype, target_rank,
                                         target_disp, target_count, target_datatype, win, vci,
                                         request));
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_raccumulate(const void *origin_addr, int origin_count,
                                                    MPI_Datatype origin_datatype, int target_rank,
                                                    MPI_Aint target_disp, int target_count,
                                                    MPI_Datatype target_datatype, MPI_Op op,
                                                    MPIR_Win * win, MPIR_Request ** request)
{
    MPIDI_AM_RMA_CALL(win, MPIDIG_do_accumulate(origin_addr, origin_count, origin_datatype, target_rank,
                                                target_disp, target_count, target_datatype, op, win,
                                                vci, request));
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_accumulate(const void *origin_addr, int origin_count,
                                                   MPI_Datatype origin_datatype, int target_rank,
                                                   MPI_Aint target_disp, int target_count,
                                                   MPI_Datatype target_datatype, MPI_Op op,
                                                   MPIR_Win * win)
{
    MPIDI_AM_RMA_CALL(win, MPIDIG_do_accumulate(origin_addr, origin_count, origin_datatype, target_rank,
                                                target_disp, target_count, target_datatype, op, win,
                                                vci, NULL));
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_rget_accumulate(const void *origin_addr, int origin_count,
                                                        MPI_Datatype origin_datatype,
                                                        void *result_addr, int result_count,
                                                        MPI_Datatype result_datatype,
                                                        int target_rank, MPI_Aint target_disp,
                                                        int target_count,
                                                        MPI_Datatype target_datatype, MPI_Op op,
                                                        MPIR_Win * win, MPIR_Request ** request)
{
    MPIDI_AM_RMA_CALL(win, MPIDIG_do_get_accumulate(origin_addr, origin_count, origin_datatype,
                                                    result_addr, result_count, result_datatype,
                                                    target_rank, target_disp, target_count,
                                                    target_datatype, op, win, vci, request));
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_get_accumulate(const void *origin_addr, int origin_count,
                                                       MPI_Datatype origin_datatype,
                                                       void *result_addr, int result_count,
                                                       MPI_Datatype result_datatype,
                                                       int target_rank, MPI_Aint target_disp,
                                                       int target_count,
                                                       MPI_Datatype target_datatype, MPI_Op op,
                                                       MPIR_Win * win)
{
    MPIDI_AM_RMA_CALL(win, MPIDIG_do_get_accumulate(origin_addr, origin_count, origin_datatype,
                                                    result_addr, result_count, result_datatype,
                                                    target_rank, target_disp, target_count,
                                                    target_datatype, op, win, vci, NULL));
}

#endif /* MPIDI_AM_RMA_CALLS_H_INCLUDED */

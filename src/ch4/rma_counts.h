/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_RMA_COUNTS_H_INCLUDED
#define MPIDI_RMA_COUNTS_H_INCLUDED

/* The functions below take counts of type int, and MPI_Put_c and its like give them counts of type
 * MPI_Aint: for the callers of the device, each is a macro of its name that returns MPI_ERR_COUNT for a
 * count that does not fit. */

static inline int MPIDI_rma_counts_fit(MPI_Aint origin, MPI_Aint target, MPI_Aint result)
{
    return origin <= INT_MAX && target <= INT_MAX && result <= INT_MAX;
}

static inline int MPIDI_rma_count_error(const char *function, int line)
{
    return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, function, line, MPI_ERR_COUNT,
                                "**too_big_for_input", NULL);
}

#define MPIDI_RMA_COUNTED(origin_, target_, result_, call_) \
    (likely(MPIDI_rma_counts_fit(origin_, target_, result_)) ? (call_) : \
     MPIDI_rma_count_error(__func__, __LINE__))

#define MPID_Put(buf_, n_, type_, rank_, disp_, target_n_, ...) \
    MPIDI_RMA_COUNTED(n_, target_n_, 0, \
                      MPID_Put(buf_, (int) (n_), type_, rank_, disp_, (int) (target_n_), __VA_ARGS__))
#define MPID_Get(buf_, n_, type_, rank_, disp_, target_n_, ...) \
    MPIDI_RMA_COUNTED(n_, target_n_, 0, \
                      MPID_Get(buf_, (int) (n_), type_, rank_, disp_, (int) (target_n_), __VA_ARGS__))
#define MPID_Accumulate(buf_, n_, type_, rank_, disp_, target_n_, ...) \
    MPIDI_RMA_COUNTED(n_, target_n_, 0, MPID_Accumulate(buf_, (int) (n_), type_, rank_, disp_, \
                                                        (int) (target_n_), __VA_ARGS__))
#define MPID_Rput(buf_, n_, type_, rank_, disp_, target_n_, ...) \
    MPIDI_RMA_COUNTED(n_, target_n_, 0, \
                      MPID_Rput(buf_, (int) (n_), type_, rank_, disp_, (int) (target_n_), __VA_ARGS__))
#define MPID_Rget(buf_, n_, type_, rank_, disp_, target_n_, ...) \
    MPIDI_RMA_COUNTED(n_, target_n_, 0, \
                      MPID_Rget(buf_, (int) (n_), type_, rank_, disp_, (int) (target_n_), __VA_ARGS__))
#define MPID_Raccumulate(buf_, n_, type_, rank_, disp_, target_n_, ...) \
    MPIDI_RMA_COUNTED(n_, target_n_, 0, MPID_Raccumulate(buf_, (int) (n_), type_, rank_, disp_, \
                                                         (int) (target_n_), __VA_ARGS__))
#define MPID_Get_accumulate(buf_, n_, type_, to_, to_n_, to_type_, rank_, disp_, target_n_, ...) \
    MPIDI_RMA_COUNTED(n_, target_n_, to_n_, \
                      MPID_Get_accumulate(buf_, (int) (n_), type_, to_, (int) (to_n_), to_type_, \
                                          rank_, disp_, (int) (target_n_), __VA_ARGS__))
#define MPID_Rget_accumulate(buf_, n_, type_, to_, to_n_, to_type_, rank_, disp_, target_n_, ...) \
    MPIDI_RMA_COUNTED(n_, target_n_, to_n_, \
                      MPID_Rget_accumulate(buf_, (int) (n_), type_, to_, (int) (to_n_), to_type_, \
                                           rank_, disp_, (int) (target_n_), __VA_ARGS__))

#endif /* MPIDI_RMA_COUNTS_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_COMPLETION_COUNT_H_INCLUDED
#define MPIDI_COMPLETION_COUNT_H_INCLUDED

/* Completion counters for the VCI granularity, in place of MPICH's mpir_refcount_pobj.h: how many
 * events a request, or a set of operations, still waits for. Each event counts one down. Below
 * MPI_THREAD_MULTIPLE that is no locked instruction, since one thread at a time is in MPI; the flag for
 * it changes at the ends of MPI_Init and of MPI_Finalize, while one thread alone is there. Counting up
 * is for what takes longer: acknowledgements and one-sided operations. */

typedef MPL_atomic_int_t MPIR_cc_t;

/* Before the request is known to any other thread. */
static inline void MPIR_cc_set(MPIR_cc_t * cc, int n)
{
    MPL_atomic_relaxed_store_int(cc, n);
}

/* A thread that finds it complete also sees what the last event wrote before it counted. */
static inline int MPIR_cc_is_complete(MPIR_cc_t * cc)
{
    return MPL_atomic_load_int(cc) == 0;
}

#define MPIR_cc_get(cc_) MPL_atomic_load_int(&(cc_))

/* Returns how many are left. */
static inline int MPIDI_cc_down(MPIR_cc_t * cc, int is_threaded)
{
    int left;

    if (likely(is_threaded))
        return MPL_atomic_fetch_sub_int(cc, 1) - 1;
    left = MPL_atomic_relaxed_load_int(cc) - 1;
    MPL_atomic_relaxed_store_int(cc, left);
    return left;
}

/* Macros, because MPIR_ThreadInfo is declared later. */
#define MPIR_cc_decr(cc_, left_) \
    do { \
        *(left_) = MPIDI_cc_down(cc_, MPIR_IS_THREADED); \
        MPIR_Assert(*(left_) >= 0); \
    } while (0)

#define MPIR_cc_dec(cc_) \
    do { \
        int left_ ATTRIBUTE((unused)); \
        MPIR_cc_decr(cc_, &left_); \
    } while (0)

#define MPIR_cc_incr(cc_, before_) (*(before_) = MPL_atomic_fetch_add_int(cc_, 1))
#define MPIR_cc_inc(cc_) ((void) MPL_atomic_fetch_add_int(cc_, 1))

/* Gives a handle to the program, after all that the object has. */
#define MPIR_OBJ_PUBLISH_HANDLE(handle_var_, handle_) \
    do { \
        if (MPIR_IS_THREADED) \
            MPL_atomic_write_barrier(); \
        *(volatile int *) &(handle_var_) = (handle_); \
    } while (0)

#endif /* MPIDI_COMPLETION_COUNT_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_CHECKED_H_INCLUDED
#define MPIDI_CHECKED_H_INCLUDED

/* A call of ours in a function of MPICH's, in one line of a patch: sets mpi_errno, and goes to fn_fail
 * if that is an error, as MPIR_ERR_CHECK does. */
#define MPIDI_CHECKED(call_) \
    do { \
        mpi_errno = (call_); \
        MPIR_ERR_CHECK(mpi_errno); \
    } while (0)

#endif /* MPIDI_CHECKED_H_INCLUDED */

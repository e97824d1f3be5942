/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_COPY_H_INCLUDED
#define POSIX_COPY_H_INCLUDED

/* Around a put or get that copies to or from memory that the processes of a node share. The copy is
 * over when the call returns, and MPI leaves the order of such copies to the program, so it needs no
 * lock (MPICH takes the VCI). Only a window with the hint that prefers the rate of operations keeps
 * copies under way in a list, which the VCI guards. */
#define MPIDI_POSIX_COPY_ENTER(win_, vci_) \
    do { \
        if (MPIDI_WIN(win_, winattr) & MPIDI_WINATTR_MR_PREFERRED) \
            MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci_).lock); \
    } while (0)
#define MPIDI_POSIX_COPY_EXIT(win_, vci_) \
    do { \
        if (MPIDI_WIN(win_, winattr) & MPIDI_WINATTR_MR_PREFERRED) \
            MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci_).lock); \
    } while (0)

/* Waits for the copies of that list, in place of MPICH's function of this name, which the macro
 * calls. */
#define MPIDI_POSIX_rma_outstanding_req_flushall(posix_win_) \
    do { \
        MPIR_Win *win_ = (MPIR_Win *) ((char *) (posix_win_) - offsetof(MPIR_Win, dev.shm.posix)); \
        MPIDI_POSIX_COPY_ENTER(win_, MPIDI_WIN(win_, am_vci)); \
        MPIDI_POSIX_rma_outstanding_req_flushall(posix_win_); \
        MPIDI_POSIX_COPY_EXIT(win_, MPIDI_WIN(win_, am_vci)); \
    } while (0)

#endif /* POSIX_COPY_H_INCLUDED */

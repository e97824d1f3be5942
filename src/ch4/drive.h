/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_DRIVE_H_INCLUDED
#define MPIDI_DRIVE_H_INCLUDED

/* Drives a VCI once, with its lock held: shared memory first, then the netmod. progress/poll.h and
 * section/section.h decide which thread drives and when. Two settings keep the netmod's slow polls
 * from limiting a stream of short messages: MPIR_CVAR_CH4_SHM_BATCH and MPIR_CVAR_CH4_NETMOD_TURN. */

/* Who polls: a nonblocking call; a call that waits, or a thread of the library; a call that waits and
 * has just polled in vain. Only for polls of the last kind does the library choose how much time passes
 * before them. */
enum { MPIDI_DRIVE_TEST, MPIDI_DRIVE_WAIT, MPIDI_DRIVE_AGAIN };

/* Poll once. flag: MPIDI_PROGRESS_SHM, MPIDI_PROGRESS_NM. wait: one of the above. By the holder of the
 * VCI. Returns an MPI error code. Out of line: its callers have enough in registers. */
int MPIDI_drive(MPIDI_per_vci_t * vci, int flag, int wait);

#endif /* MPIDI_DRIVE_H_INCLUDED */

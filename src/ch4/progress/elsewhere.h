/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ELSEWHERE_H_INCLUDED
#define MPIDI_ELSEWHERE_H_INCLUDED

/* Polls of the VCIs that a call does not wait for, since its peers may need them. MPICH polls them in
 * one turn of 256 (its global progress), and takes in a few messages then: too few for, say, a window
 * on one VCI while the process waits on another. Here a thread also finds out which of them no other
 * thread drives, and polls these while it would only spin. Those that have a thread of their own it
 * leaves alone between the global polls, as each look takes a cache line away from that thread.
 *
 *   MPIDI_elsewhere_poll   a global poll: each VCI that is not in state. wait: as of MPIDI_poll
 *   MPIDI_ELSEWHERE        the same, in the turns that MPICH chooses for it; 0, or goes to fn_fail
 *   MPIDI_elsewhere_next   one other VCI, each time the next one, whoever drives it
 *   MPIDI_elsewhere_spin   the next one if it is not in state and no other thread drives it
 *
 * Any thread; the functions return MPI error codes. With MPIR_CVAR_CH4_GLOBAL_PROGRESS off the first
 * and the last do nothing. */
int MPIDI_elsewhere_poll(const MPID_Progress_state * state, int wait);
#define MPIDI_ELSEWHERE(state_, wait_) \
    __extension__({ \
        if (MPIDI_do_global_progress()) \
            MPIDI_CHECKED(MPIDI_elsewhere_poll(state_, wait_)); \
        0; \
    })
int MPIDI_elsewhere_next(void);
int MPIDI_elsewhere_spin(const MPID_Progress_state * state);

#endif /* MPIDI_ELSEWHERE_H_INCLUDED */

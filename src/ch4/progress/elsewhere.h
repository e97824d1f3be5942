/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ELSEWHERE_H_INCLUDED
#define MPIDI_ELSEWHERE_H_INCLUDED

/* Polls of the VCIs that a call does not wait for, since its peers may need them (MPICH's global
 * progress). MPICH makes one in 256 turns, and each takes in a few messages. So a window on a VCI
 * whose process waits on another one would take in some thousand messages a second. Here a poll that
 * finds work brings the next one twice as soon, up to each turn, and one in vain puts it off again.
 * Work on a VCI that other threads drive does not count: they need no help. */

/* Poll each VCI that is not in state. wait: as of MPIDI_poll. Any thread. Returns the first error. */
int MPIDI_elsewhere_poll(const MPID_Progress_state * state, int wait);

/* Count a turn of the calling thread; 1: it is time for a poll. */
MPL_STATIC_INLINE_PREFIX int MPIDI_elsewhere_is_due(void)
{
    if (MPIDI_global.n_vcis == 1)
        return 0;
    if (likely(MPIDI_thread_local.elsewhere_left > 0)) {
        MPIDI_thread_local.elsewhere_left--;
        return 0;
    }
    return 1;
}

#endif /* MPIDI_ELSEWHERE_H_INCLUDED */

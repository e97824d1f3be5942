/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_PROGRESS_H_INCLUDED
#define MPIDI_PROGRESS_H_INCLUDED

/* How threads drive progress: the contract, and the choice (models.def, --with-thread-progress=,
 * MPIR_CVAR_CH4_THREAD_PROGRESS).
 *
 *   blocking  a poll takes the lock of the VCI, with low priority (TOPC section 6.2)
 *   backoff   a poll tries the lock; a waiting thread that finds nothing spins, then yields; a
 *             nonblocking call that finds the lock taken leaves it alone for a while (ICS'19 3.5)
 *   usc       as backoff; a thread that has waited long enough becomes the server, which keeps
 *             polling for all, or sleeps until its requests complete (ICS'19 4.2)
 *   server    a thread of the library polls for all (server.h); any other polls only in calls that
 *             wait for something else than requests
 *
 * A wait is an object on the caller's stack (MPIDI_wait_t, in MPID_Progress_state): a long wait does
 * not shorten the spinning of the next. Only while threads outnumber processors does a thread learn
 * from its last sleep: it then polls less before the next one (wait.c). A sleep in MPI_Waitany or
 * MPI_Waitall of n requests costs up to 2n atomic exchanges. Included by ch4_progress.h. */

#include "../model.h"
#include "turn.h"
#include "watchdog.h"

/* What a call that waits is called in the watchdog's report. */
MPL_STATIC_INLINE_PREFIX const char *MPIDI_wait_name(int any, int count)
{
    return any ? "MPI_Waitany, MPI_Waitsome" : count ?
        "MPI_Wait, MPI_Waitall or a blocking call" : "a call that waits";
}

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../section/section.h"
#include "elsewhere.h"
#include "poll.h"

/* How MPICH's polls drive a VCI, in place of its macro. */
#undef MPIDI_PROGRESS
#define MPIDI_PROGRESS(vci) do { mpi_errno = MPIDI_poll(vci, state->flag, wait); } while (0)

/* One turn of a call that waits: poll the VCIs in `state` and, if that completed nothing, back off or
 * sleep. The caller then looks at what it waits for, as another thread may have completed it. Any
 * thread. */
int MPIDI_wait_turn(MPID_Progress_state * state);

/* End a wait that has had a turn in vain. */
void MPIDI_wait_leave(MPID_Progress_state * state);

/* Around the loop of a call that waits for all, or any, of count requests (0: for something else). */
MPL_STATIC_INLINE_PREFIX void MPIDI_wait_begin(MPID_Progress_state * state, int any, int count,
                                               MPIR_Request ** reqs)
{
    MPIDI_watchdog_begin(MPIDI_wait_name(any, count), count, reqs);
    state->wait.any = any;
    state->wait.count = count;
    state->wait.reqs = reqs;
    state->wait.turns = 0;
    state->wait.may_pause = 0;
    state->wait.is_counted = 0;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_wait_end(MPID_Progress_state * state)
{
    if (unlikely(state->wait.is_counted))
        MPIDI_wait_leave(state);
    MPIDI_watchdog_end();
}

#else
#ifdef ENABLE_THREAD_STATS
/* MPICH's poll, counted. Any thread that has the lock of the process. */
int MPIDI_poll_counted(int vci, int flag);

#undef MPIDI_PROGRESS
#define MPIDI_PROGRESS(vci) do { mpi_errno = MPIDI_poll_counted(vci, state->flag); } while (0)
#endif
#define MPIDI_wait_begin(state_, any_, count_, reqs_) \
    MPIDI_watchdog_begin(MPIDI_wait_name(any_, count_), count_, reqs_)
#define MPIDI_wait_end(state_) MPIDI_watchdog_end()
#endif

#endif /* MPIDI_PROGRESS_H_INCLUDED */

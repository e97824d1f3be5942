/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_TURN_H_INCLUDED
#define MPIDI_TURN_H_INCLUDED

/* What MPICH's own code calls, in every model: in its loops that wait, in MPI_Init and in
 * MPI_Finalize. Included by ch4_impl.h. */

#include "../vci.h"
#include "server.h"
#include "watchdog.h"

/* Around the loop of a call that waits in a loop of MPICH's own (watched.h). */
MPL_STATIC_INLINE_PREFIX void MPIDI_wait_enter(const char *call)
{
    MPIDI_watchdog_enter(call);
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    MPIDI_thread_count_wait(1);
#endif
}

MPL_STATIC_INLINE_PREFIX void MPIDI_wait_exit(void)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    MPIDI_thread_count_wait(-1);
#endif
    MPIDI_watchdog_leave();
}

/* Before a loop of the following turns: it has had none. See MPIDI_section_yield_or_nap. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define MPIDI_TURNS_BEGIN() (MPIDI_thread_local.turns = 0)
#else
#define MPIDI_TURNS_BEGIN() ((void) 0)
#endif

/* One turn of a loop that holds the lock of a VCI and waits for the peer. After one in vain: let other
 * threads in, and rest; drive another VCI, since the peer may be in such a loop for that; then drive
 * the VCI. The first one, which often is the only one, mostly does the last of these alone; every
 * eighth of the thread does all of them. What the lock guards may have changed on return. */
int MPIDI_progress_turn_locked(int vci);

/* The same until a counter of one-sided operations of that VCI is 0 (MPIDI_am_flush_t.awaited): waits
 * for that as MPI_Wait does, with the VCI released, or takes one turn if counter is NULL or 0. */
int MPIDI_progress_await_counter(int vci, MPIR_cc_t * counter);

/* A flush of active messages, with the VCI held: progress while cond_, a look that sets
 * flush_.awaited. */
#define MPIDI_AM_FLUSH_WHILE(cond_, vci_, flush_) \
    for (MPIDI_TURNS_BEGIN(); cond_;) { \
        mpi_errno = MPIDI_progress_await_counter(vci_, (flush_).awaited); \
        MPIR_ERR_CHECK(mpi_errno); \
    }

/* One turn of a loop that holds the lock of a VCI, must not let other threads in, and waits for a peer:
 * poll the netmod alone, for that VCI and for another one each time, since the peer may be in such a
 * loop of the other one. Waits for no lock; a VCI that another thread holds is left to it. */
int MPIDI_progress_netmods_locked(int vci);

/* Between two attempts at a call of libfabric that finds no room, where the user has asked for attempts
 * (MPIR_CVAR_CH4_OFI_MAX_EAGAIN_RETRY) instead of a deferred send. The VCI is held. A thread that
 * issues posted operations keeps it; any other lets threads in. */
int MPIDI_progress_make_room(int vci);

/* Between two polls of the asynchronous progress thread: let in the threads that wait for a VCI or, in
 * global, for the lock of the process, and leave it alone for a while, longer each time that the polls
 * have brought nothing. */
void MPIDI_async_rest(void);

/* In MPI_Init, before the first request: the caches of requests, and the model that the user chose.
 * Returns an MPI error code. */
int MPIDI_progress_open(void);

/* In MPI_Init, once the VCIs have their locks: our part of them, MPI_COMM_SELF, the counters and the
 * watchdog. Returns an MPI error code. */
int MPIDI_progress_start(void);

/* In MPI_Init, once the processes of the node can share memory; collective over them: make the measure
 * of load count them all, and ghosts share memory with their users. Returns an MPI error code. */
int MPIDI_progress_join_node(void);

/* In MPI_Finalize, before the netmod is: nothing more will be posted; stop the watchdog, the counters
 * and the sharing of the load; free the pools of operations. */
void MPIDI_progress_stop(void);

/* In MPI_Finalize, before the locks of the VCIs are destroyed: give up what open and start made. */
void MPIDI_progress_close(void);

/* In MPI_Finalize, by the last thread in MPI: issue what is posted, then make progress until every
 * process is here, and stop the servers. A process gets here only when it has received all that it
 * waits for, so sends whose requests were freed are complete afterwards, but for those to other worlds
 * (mpir_stay_up.h). Then the same for ghosts. */
int MPIDI_progress_quiesce(void);

#endif /* MPIDI_TURN_H_INCLUDED */

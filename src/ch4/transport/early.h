/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_EARLY_H_INCLUDED
#define MPIDI_EARLY_H_INCLUDED

/* Early messages: active messages that a thread takes in before their receives are posted. The threads
 * that will post the receives may need this thread's processor. Without a yield, this thread would
 * take in thousands for the rest of its time slice, each with its own request and buffer. So it yields
 * once after MPIR_CVAR_CH4_EARLY_YIELD of them if threads outnumber processors. Messages that the
 * thread's own receives have found since do not count, and the check is before the next poll, when
 * the thread has had the chance to post them: a stream for itself alone causes no yield. */

#include "../thread.h"
#include "tsm/tsm_load.h"
#include "tsm/tsm_wait.h"

/* Before the next poll after such messages, by a thread that may be in sections. */
MPL_STATIC_INLINE_PREFIX void MPIDI_early_yield(MPIDI_thread_t * self)
{
    self->attention &= ~MPIDI_THREAD_EARLY;
    if (likely(self->early < MPIR_CVAR_CH4_EARLY_YIELD || MPIR_CVAR_CH4_EARLY_YIELD == 0))
        return;
    self->early = 0;
    tsm_load_touch();
    if (!MPIDI_thread_local.held && tsm_load_crowded())
        tsm_yield();
}

/* Call it after the calling thread has issued a receive, and owns req. If req is complete, one of the
 * early messages was for this thread and does not count. A hint only: another thread may have
 * completed req since. */
MPL_STATIC_INLINE_PREFIX void MPIDI_early_found(int mpi_errno, const MPIR_Request * req)
{
    MPIDI_thread_t *self = MPIDI_thread_local.self;

    if (self && self->early > 0 && mpi_errno == MPI_SUCCESS && MPIR_Request_is_complete(req))
        self->early--;
}

#endif /* MPIDI_EARLY_H_INCLUDED */

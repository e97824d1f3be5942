/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/complete.h"

void MPIDI_complete_wake_later(tsm_usc_waiter_t * waiter)
{
    if (MPIDI_thread_local.to_wake == MPIDI_THREAD_WAKES)
        MPIDI_complete_wake();
    MPIDI_thread_self()->wake[MPIDI_thread_local.to_wake++] = waiter;
    if (!MPIDI_thread_holds_vci())
        MPIDI_complete_wake();
}

void MPIDI_complete_counted(MPIR_Request * req, MPIR_cc_t * counter)
{
    MPIDI_counter_wait_t **link = &MPIDI_VCI(MPIR_REQUEST_POOL(req)).threads.counter_waits;
    int left;

    MPIR_cc_decr(counter, &left);
    if (left || req->kind != MPIR_REQUEST_KIND__RMA)
        return;
    while (*link) {
        MPIDI_counter_wait_t *wait = *link;
        if (wait->counter == counter) {
            *link = wait->next;
            MPIDI_complete(wait->req);
        } else {
            link = &wait->next;
        }
    }
}

void MPIDI_complete_wake(void)
{
    for (int i = 0; i < MPIDI_thread_local.to_wake; i++)
        tsm_usc_wake(MPIDI_thread_local.self->wake[i]);
    MPIDI_STATS(MPIDI_STATS_COUNT(wakes, (uint64_t) MPIDI_thread_local.to_wake));
    MPIDI_thread_local.to_wake = 0;
}

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_COMPLETE_H_INCLUDED
#define MPIDI_COMPLETE_H_INCLUDED

/* The port of completion. Every path of the device and the netmods that completes a request ends in
 * MPIDI_complete, after the handler has finished with the data, the status and an any-source partner.
 * A waiting thread takes no lock to see a completion, so a handler that used the request after the
 * port would race with the user. doc/design.md lists the paths.
 *
 * The port counts the completion, wakes the thread that sleeps until it, and drops the device's
 * reference. The thread issues the wake, a system call, when it holds no VCI any more (section.h). */

#include "stats/hooks.h"
#include "thread.h"

#undef MPIR_Handle_obj_alloc_unsafe     /* request_cache.h */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

/* The decrement of the counter is an acq_rel read-modify-write. Where the processor does not reorder
 * it with a later seq_cst load, that load is enough to see that no thread sleeps. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#define MPIDI_COMPLETE_TAKE tsm_usc_notify
#else
#define MPIDI_COMPLETE_TAKE tsm_usc_notify_swap
#endif

/* Wake the thread as soon as the calling thread holds no VCI. */
void MPIDI_complete_wake_later(tsm_usc_waiter_t * waiter);

/* Wake all threads whose requests the calling thread has completed. Lock-free. */
void MPIDI_complete_wake(void);

/* req, which is complete, is one operation less in counter. If it was the last one and one-sided, the
 * requests in counter_waits that wait for that are complete, too. A one-sided operation ends, as an
 * active message, with the VCI of its window held. */
void MPIDI_complete_counted(MPIR_Request * req, MPIR_cc_t * counter);

/* Ask for the line of req that the caller is about to read and to write: one transfer in place of two,
 * if another thread has it (doc/scale.md). A server wrote to the request as it issued it. */
MPL_STATIC_INLINE_PREFIX void MPIDI_complete_fetch(const MPIR_Request * req)
{
    if (!MPIDI_thread_local.is_server)
        tsm_prefetch_write(&req->cc);
}

/* Notify the waiters of req, whose counter has reached zero. The caller still has a reference. */
MPL_STATIC_INLINE_PREFIX void MPIDI_complete_notify(MPIR_Request * req)
{
    tsm_usc_waiter_t *waiter = MPIDI_COMPLETE_TAKE(&req->waiter);

    MPIDI_thread_local.completed++;
    MPIDI_STATS(MPIDI_stats_completed(&req->counted));
    if (unlikely(waiter))
        MPIDI_complete_wake_later(waiter);
}

#else
#define MPIDI_complete_counted(req_, counter_) MPIR_cc_dec(counter_)
#define MPIDI_complete_notify(req_) \
    MPIDI_STATS(MPIDI_thread_local.completed++; MPIDI_stats_completed(&(req_)->counted))
#define MPIDI_complete_fetch(req_) do { } while (0)
#endif

/* 1 if the next MPIDI_complete of req completes it, so that a handler can clean up before. Only where
 * all events of req come under one lock, which the caller holds. */
MPL_STATIC_INLINE_PREFIX int MPIDI_complete_is_last(MPIR_Request * req)
{
    return MPIR_cc_get(*req->cc_ptr) == 1;
}

/* The same for MPICH's handlers: *count_ is what the next MPIDI_complete leaves. */
#define MPIDI_complete_peek(req_, count_) (*(count_) = MPIR_cc_get(*(req_)->cc_ptr) - 1)

/* Count one event of req. The last event completes req and drops the device's reference: the caller
 * must not touch req again. */
MPL_STATIC_INLINE_PREFIX void MPIDI_complete(MPIR_Request * req)
{
    int incomplete;
    MPIR_cc_t *notification;

    MPIDI_complete_fetch(req);
    notification = req->completion_notification;
    /* publishes the data and the status; pairs with the acquiring load of MPIR_Request_is_complete */
    MPIR_cc_decr(req->cc_ptr, &incomplete);
    if (!incomplete) {
        if (unlikely(notification))
            MPIDI_complete_counted(req, notification);
        MPIDI_complete_notify(req);
        MPIR_Request_free_unsafe(req);
    }
}

/* MPICH's name of it, in the netmods. */
#define MPIDIU_request_complete(req_) MPIDI_complete(req_)

/* A generalized request ends with MPI_Request_free and MPI_Grequest_complete, in either order: the
 * later call frees it. */
#define MPIR_Grequest_free_last(req_) \
    (__atomic_fetch_add(&(req_)->u.ureq.greq_fns->ended, 1, __ATOMIC_ACQ_REL) == 1 ? \
     MPIR_Grequest_free(req_) : MPI_SUCCESS)

#endif /* MPIDI_COMPLETE_H_INCLUDED */

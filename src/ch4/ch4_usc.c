/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "ch4_model.h"
#include "ch4_usc.h"
#include "tsm/lock/tsm_mutex.h"
#include "tsm/tsm_wait.h"

/* Values of MPIDI_tsm_thread_t.sleep */
enum { AWAKE, ASLEEP, ASLEEP_IN_KERNEL };

/* The waiting thread has polled long enough: no more spinning or yielding before it sleeps. */
#define SLEEP_AT_ONCE ((tsm_wait_policy_t) {0, 0, 1})

/* Polls in vain before a thread sleeps, when threads outnumber processors. A little more patience
 * pays when what the thread waits for is under way, and costs the server its time when not. So the
 * number follows the thread's experience: less with each sleep, all of it again when a wait ended
 * without one, and, to find out, once in PATIENCE_PROBE sleeps. */
#define PATIENCE_MAX 8
#define PATIENCE_PROBE 16

static __thread struct {
    unsigned polls;
    unsigned sleeps;
    int slept;
} patience;

typedef struct {
    tsm_mutex_t lock;           /* guards the two below */
    MPIDI_tsm_thread_t *server;
    MPIDI_tsm_thread_t *sleepers;       /* in the order of their coming */
} MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE) usc_t;

static usc_t usc[MPIDI_CH4_MAX_VCIS];

__thread MPIDI_tsm_thread_t *MPIDI_tsm_to_wake __attribute__((tls_model("initial-exec")));

/* Before any other thread uses the VCI. */
void MPIDI_tsm_usc_init(int vci)
{
    int err = tsm_mutex_init(&usc[vci].lock);
    MPIR_Assert(err == 0);
}

static void wake(MPIDI_tsm_thread_t * thread)
{
    tsm_wake_word(&thread->sleep, AWAKE, ASLEEP_IN_KERNEL);
}

/* 1 if the caller is the first who ends this sleep of thread, and has to wake it. If not, the thread
 * must not be touched again. */
static int take(MPIDI_tsm_thread_t * thread)
{
    return tsm_fetch_add(&thread->takers, 1, TSM_ACQ_REL) == 0;
}

static MPIDI_tsm_thread_t *take_pointer(MPIR_Request * req)
{
    return tsm_swap(&req->dev.tsm.waiter, NULL, TSM_ACQ_REL);
}

void MPIDI_tsm_usc_complete(MPIR_Request * req)
{
    MPIDI_tsm_thread_t *thread = take_pointer(req);

    if (!thread || !take(thread))
        return;
    thread->wake_next = MPIDI_tsm_to_wake;
    MPIDI_tsm_to_wake = thread;
    if (!MPIDI_tsm_held)
        MPIDI_tsm_usc_wake();
}

void MPIDI_tsm_usc_wake(void)
{
    while (MPIDI_tsm_to_wake) {
        MPIDI_tsm_thread_t *thread = MPIDI_tsm_to_wake;
        MPIDI_tsm_to_wake = thread->wake_next;  /* before the thread may go away */
        wake(thread);
    }
}

/* Become the server (1) or one of the sleepers (0). */
static int join(usc_t * u, MPIDI_tsm_thread_t * self)
{
    int serve;

    tsm_mutex_acquire(&u->lock);
    serve = (u->server == NULL);
    if (serve) {
        u->server = self;
    } else {
        tsm_store(&self->takers, 0, TSM_RELAXED);
        tsm_store(&self->sleep, ASLEEP, TSM_RELAXED);
        DL_APPEND_NP(u->sleepers, self, sleep_next, sleep_prev);
    }
    tsm_mutex_release(&u->lock);
    return serve;
}

/* No longer one of the sleepers: 1 if that is because of an election. */
static int rejoin(usc_t * u, MPIDI_tsm_thread_t * self)
{
    int elected;

    tsm_mutex_acquire(&u->lock);
    elected = (u->server == self);
    if (!elected)
        DL_DELETE_NP(u->sleepers, self, sleep_next, sleep_prev);
    tsm_mutex_release(&u->lock);
    return elected;
}

/* The server leaves: the first of the sleepers follows. */
void MPIDI_tsm_usc_leave(int vci)
{
    usc_t *u = &usc[vci];
    MPIDI_tsm_thread_t *thread;
    int must_wake = 0;

    tsm_mutex_acquire(&u->lock);
    MPIR_Assert(u->server == MPIDI_tsm_self_ptr);
    thread = u->server = u->sleepers;
    if (thread) {
        DL_DELETE_NP(u->sleepers, thread, sleep_next, sleep_prev);
        must_wake = take(thread);
    }
    tsm_mutex_release(&u->lock);
    if (must_wake)
        wake(thread);
}

/* The netmod's request behind a persistent one. */
static MPIR_Request *active_request(MPIR_Request * req)
{
    if (req->kind == MPIR_REQUEST_KIND__PREQUEST_SEND ||
        req->kind == MPIR_REQUEST_KIND__PREQUEST_RECV)
        return req->u.persist.real_request;
    return req;
}

/* Only point-to-point requests of the device are known to wake who waits for them when they
 * complete. MPIDI_Self completes with a plain store; its requests have their communicator, those of
 * UCX have none. */
static int wakes(const MPIR_Request * req)
{
    return req && (req->kind == MPIR_REQUEST_KIND__SEND || req->kind == MPIR_REQUEST_KIND__RECV) &&
        !(req->comm && MPIDI_is_self_comm(req->comm));
}

/* Reduce the list to what to sleep on. All: the last incomplete request, because operations of one
 * thread tend to complete in order. 0 if there is nothing to sleep on, or something on the list may
 * complete without waking us. */
static int can_sleep(MPIDI_tsm_wait_t * w)
{
    int found = 0;

    for (int i = w->count - 1; i >= 0; i--) {
        MPIR_Request *req = w->reqs[i];
        if (!req || (!w->any && MPIR_Request_is_complete(req)))
            continue;
        if (w->any && !MPIR_Request_is_active(req))
            continue;
        if (MPIR_Request_is_complete(req) || !wakes(active_request(req)))
            return 0;
        found = 1;
        if (!w->any) {
            w->reqs = &w->reqs[i];
            w->count = 1;
            break;
        }
    }
    return found;
}

/* Register with each request; 1 if one of them is complete already, so that there may be no wake. */
static int register_all(const MPIDI_tsm_wait_t * w, MPIDI_tsm_thread_t * self)
{
    int complete = 0;

    for (int i = 0; i < w->count; i++) {
        if (w->reqs[i] && MPIR_Request_is_active(w->reqs[i])) {
            MPIR_Request *req = active_request(w->reqs[i]);
            tsm_swap(&req->dev.tsm.waiter, self, TSM_SEQ_CST);
            MPIDI_tsm_usc_fence();
            complete |= MPIR_Request_is_complete(req);
        }
    }
    return complete;
}

/* Take the pointers back; the number of those that others have taken. */
static int unregister_all(const MPIDI_tsm_wait_t * w)
{
    int takers = 0;

    for (int i = 0; i < w->count; i++) {
        if (w->reqs[i] && MPIR_Request_is_active(w->reqs[i]))
            takers += (take_pointer(active_request(w->reqs[i])) == NULL);
    }
    return takers;
}

/* Sleep until the call can return, or until the caller is elected to serve the VCI. 1: it is the
 * server, goes on polling, and calls MPIDI_tsm_usc_leave at the end. */
static int sleep_or_serve(int vci, const MPIDI_tsm_wait_t * w)
{
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self();
    int takers, elected;

    if (join(&usc[vci], self))
        return 1;
    if (!register_all(w, self))
        tsm_wait_word(&self->sleep, ASLEEP, ASLEEP_IN_KERNEL, SLEEP_AT_ONCE);
    takers = unregister_all(w);
    elected = rejoin(&usc[vci], self);
    takers += elected;
    if (takers > 0) {
        tsm_wait_word(&self->sleep, ASLEEP, ASLEEP_IN_KERNEL, SLEEP_AT_ONCE);
        tsm_wait_until(tsm_load(&self->takers, TSM_ACQUIRE) == takers, TSM_WAIT_POLL);
    }
    return elected;
}

static int patience_is_over(const MPIDI_tsm_thread_t * self)
{
    if (self->idle == 0) {
        /* the first poll in vain after one that made progress */
        if (!patience.slept)
            patience.polls = PATIENCE_MAX;
        patience.slept = 0;
    }
    return self->idle >= patience.polls && MPIDI_tsm_should_yield(self);
}

static void lose_patience(void)
{
    patience.slept = 1;
    if (patience.polls > 1)
        patience.polls--;
    else if (++patience.sleeps % PATIENCE_PROBE == 0)
        patience.polls = PATIENCE_MAX;
}

/* A waiting call found nothing to do. */
void MPIDI_tsm_wait(MPID_Progress_state * state)
{
    MPIDI_tsm_wait_t w = state->tsm;
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self();

    if (self && w.serving) {
        MPIDI_tsm_pause_server(self);
    } else if (!self || !MPIR_ThreadInfo.isThreaded || state->vci_count != 1 || MPIDI_tsm_held ||
               MPIR_CVAR_ENABLE_FT || !patience_is_over(self) || !can_sleep(&w)) {
        MPIDI_tsm_pause();
    } else {
        lose_patience();
        state->tsm.serving = sleep_or_serve(state->vci[0], &w);
    }
}

#endif

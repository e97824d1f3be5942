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

/* Take the waiter out of req: NULL if there is none or another thread has taken it. */
static MPIDI_tsm_thread_t *take_waiter(MPIR_Request * req)
{
    return tsm_swap(&req->dev.tsm.waiter, NULL, TSM_ACQ_REL);
}

void MPIDI_tsm_usc_complete(MPIR_Request * req)
{
    MPIDI_tsm_thread_t *thread = take_waiter(req);

    if (!thread)
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
static int join(usc_t * u, MPIDI_tsm_thread_t * self, MPIR_Request * req)
{
    int serve;

    tsm_mutex_acquire(&u->lock);
    serve = (u->server == NULL);
    if (serve) {
        u->server = self;
    } else {
        self->waits_for = req;
        tsm_store(&self->sleep, ASLEEP, TSM_RELAXED);
        /* a full barrier between this and the caller's look at req */
        tsm_swap(&req->dev.tsm.waiter, self, TSM_SEQ_CST);
        tsm_fence(TSM_SEQ_CST);
        DL_APPEND_NP(u->sleepers, self, sleep_next, sleep_prev);
    }
    tsm_mutex_release(&u->lock);
    return serve;
}

/* Awake again: 1 if that is because of an election. */
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

int MPIDI_tsm_usc_wait(int vci, MPIR_Request * req)
{
    usc_t *u = &usc[vci];
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self();

    MPIR_Assert(self && !MPIDI_tsm_held);
    if (join(u, self, req))
        return 1;
    /* complete already: unless somebody is about to wake us, nobody will */
    if (!MPIR_Request_is_complete(req) || take_waiter(req) == NULL)
        tsm_wait_word(&self->sleep, ASLEEP, ASLEEP_IN_KERNEL, SLEEP_AT_ONCE);
    return rejoin(u, self);
}

/* The server leaves: the first of the sleepers follows, woken by us or by its own completion. */
void MPIDI_tsm_usc_leave(int vci)
{
    usc_t *u = &usc[vci];
    MPIDI_tsm_thread_t *thread = NULL;

    tsm_mutex_acquire(&u->lock);
    MPIR_Assert(u->server == MPIDI_tsm_self_ptr);
    u->server = u->sleepers;
    if (u->sleepers) {
        thread = take_waiter(u->server->waits_for);
        DL_DELETE_NP(u->sleepers, u->server, sleep_next, sleep_prev);
    }
    tsm_mutex_release(&u->lock);
    if (thread)
        wake(thread);
}

/* What to sleep on: the last incomplete one of the list, because operations of one thread tend to
 * complete in order. NULL if it may complete without waking us: only point-to-point requests of the
 * device are known not to. (MPIDI_Self completes with a plain store.) */
static MPIR_Request *sleep_target(const MPIDI_tsm_wait_t * w)
{
    for (int i = w->count - 1; i >= 0; i--) {
        MPIR_Request *req = w->reqs[i];
        if (!req || MPIR_Request_is_complete(req))
            continue;
        if (req->kind == MPIR_REQUEST_KIND__PREQUEST_SEND ||
            req->kind == MPIR_REQUEST_KIND__PREQUEST_RECV)
            req = req->u.persist.real_request;
        if (!req || (req->kind != MPIR_REQUEST_KIND__SEND && req->kind != MPIR_REQUEST_KIND__RECV))
            return NULL;
        return req->comm && !MPIDI_is_self_comm(req->comm) ? req : NULL;
    }
    return NULL;
}

/* A waiting call found nothing to do. */
void MPIDI_tsm_wait(MPID_Progress_state * state)
{
    MPIR_Request *req;

    if (state->tsm.serving || state->vci_count != 1 || MPIDI_tsm_held || MPIR_CVAR_ENABLE_FT ||
        !MPIDI_tsm_patience_is_over() || !(req = sleep_target(&state->tsm)))
        MPIDI_tsm_pause();
    else
        state->tsm.serving = MPIDI_tsm_usc_wait(state->vci[0], req);
}

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/alone.h"
#include "threads/served.h"
#include "tsm/tsm_load.h"
#include "tsm/tsm_usc.h"
#include "tsm/tsm_wait.h"

/* Sleeps after which a thread that sleeps after one poll tries its full patience again. */
#define PATIENCE_PROBE 16

/* Polls in a row that miss before a spin may be longer than MPIR_CVAR_CH4_POLL_PAUSES. */
#define SHORT_MISSES 4u

/* A spin is twice as long as the one before: at most 2^16 pauses, the most that the variables allow. */
#define LAST_DOUBLING 16u

/* A long spin has at most so many pauses for each processor, since that many threads may try. */
#define PAUSES_PER_PROCESSOR 32

/* Pauses from one look at a request to the next. */
#define PAUSES_PER_LOOK 16

/* Turns of a wait for its own VCIs alone: a message that comes soon should not find the thread
 * elsewhere. */
#define TURNS_AT_HOME 16u

/* Turns in vain, a millisecond or so, after which a poller takes naps; turns from one to the next. */
#define POLLER_PATIENCE 1024u
#define TURNS_PER_NAP 16u

/* Time between two looks in a sleep of a process with servers. */
#define SERVED_SLEEP_NS 100000000

/* How many polls in vain pay before a sleep while threads outnumber processors: many if what the
 * thread waits for tends to come meanwhile, else each costs the other threads their time. So the
 * number follows the thread's waits: one less with each sleep; all of it after a wait that polled in
 * vain and did not sleep, and once in a while. It counts only while the load is crowded. */
#define crowded (MPIDI_thread_self()->crowded)

static void crowded_wait(void)
{
    if (!crowded.slept)
        crowded.polls = (unsigned) MPIR_CVAR_CH4_WAIT_POLLS;
    crowded.slept = 0;
}

static void crowded_sleep(void)
{
    if (!tsm_load_crowded())
        return;
    crowded.slept = 1;
    if (crowded.polls > 1)
        crowded.polls--;
    else if (++crowded.sleeps % PATIENCE_PROBE == 0)
        crowded.polls = (unsigned) MPIR_CVAR_CH4_WAIT_POLLS;
}

/* The waiting thread has polled long enough: no more spinning or yielding before it sleeps. */
#define SLEEP_AT_ONCE ((tsm_wait_policy_t) {0, 0, 1})

static tsm_usc_t *usc_of(int vci)
{
    return &MPIDI_VCI(vci).threads.usc;
}

/* The netmod's request behind a persistent one. */
static MPIR_Request *active_request(MPIR_Request * req)
{
    if (req->kind == MPIR_REQUEST_KIND__PREQUEST_SEND ||
        req->kind == MPIR_REQUEST_KIND__PREQUEST_RECV)
        return req->u.persist.real_request;
    return req;
}

/* Generalized, partitioned and collective requests may complete without passing the port of
 * completion, or need this thread's own progress. */
static int wakes(const MPIR_Request * req)
{
    return req && (req->kind == MPIR_REQUEST_KIND__SEND || req->kind == MPIR_REQUEST_KIND__RECV ||
                   req->kind == MPIR_REQUEST_KIND__RMA);
}

/* 1 if a generalized request on the list is incomplete that only its own poll function completes: the
 * waiting thread calls it in each turn (request_done.h), and other requests may depend on what it does.
 * Looks once at each request before that. */
static int must_poll(MPIDI_wait_t * w)
{
    for (; w->may_sleep < w->count; w->may_sleep++) {
        MPIR_Request *req = w->reqs[w->may_sleep];
        if (req && MPIR_Request_has_poll_fn(req) && !MPIR_Request_is_complete(req))
            return 1;
    }
    return 0;
}

/* Reduce the list to the requests to sleep on. In a wait for all, that is the last incomplete request,
 * because operations of one thread tend to complete in order. Returns 0 if there is none, or if one
 * of those to sleep on may complete without waking us. */
static int can_sleep(MPIDI_wait_t * w)
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
static int register_all(void *arg)
{
    const MPIDI_wait_t *w = arg;
    int complete = 0;

    for (int i = 0; i < w->count; i++) {
        if (w->reqs[i] && MPIR_Request_is_active(w->reqs[i])) {
            MPIR_Request *req = active_request(w->reqs[i]);
            tsm_usc_register(&req->waiter, &MPIDI_thread_self()->waiter);
            MPL_atomic_read_write_barrier();    /* the load below is not seq_cst */
            complete |= MPIR_Request_is_complete(req);
        }
    }
    return complete;
}

static int has_complete(const MPIDI_wait_t * w)
{
    for (int i = 0; i < w->count; i++) {
        if (w->reqs[i] && MPIR_Request_is_active(w->reqs[i]) &&
            MPIR_Request_is_complete(active_request(w->reqs[i])))
            return 1;
    }
    return 0;
}

static void unregister_all(void *arg)
{
    const MPIDI_wait_t *w = arg;

    for (int i = 0; i < w->count; i++) {
        if (w->reqs[i] && MPIR_Request_is_active(w->reqs[i]))
            tsm_usc_unregister(&active_request(w->reqs[i])->waiter,
                               &MPIDI_thread_self()->waiter);
    }
}

/* 1 if the thread is a server already: then this wait runs in a progress hook of another wait. */
static int is_nested(void)
{
    for (int i = 0; i < MPIDI_THREAD_LINKS; i++) {
        if (MPIDI_thread_self()->links[i].state != TSM_USC_OUT)
            return 1;
    }
    return 0;
}

/* Sleep until the call can return, or until the thread becomes the server of some of its VCIs. Returns
 * a bit for each of state->vci[] that it serves then. */
static uint32_t sleep_or_serve(const MPID_Progress_state * state, MPIDI_wait_t * w)
{
    MPIDI_thread_t *self = MPIDI_thread_self();
    tsm_usc_t *sets[MPIDI_THREAD_LINKS];
    uint32_t serving = 0;

    for (int i = 0; i < state->vci_count; i++)
        sets[i] = usc_of(state->vci[i]);
    tsm_usc_wait_t wait = {
        .waiter = &self->waiter,.sets = state->vci_count,.usc = sets,.link = self->links,
        .enlist = register_all,.delist = unregister_all,.arg = w,.policy = SLEEP_AT_ONCE
    };
    if (tsm_usc_sleep_or_serve(&wait)) {
        for (int i = 0; i < state->vci_count; i++)
            serving |= (uint32_t) (self->links[i].state == TSM_USC_SERVES) << i;
        MPIDI_STATS(MPIDI_STATS_COUNT(usc_served, (uint64_t) __builtin_popcount(serving)));
    }
    return serving;
}

/* Sleep until the call can return, while the process's servers drive the VCIs. It looks now and then: a
 * server may meet an error that completes no request, or be stopped because the program exits. */
static void sleep_served(MPIDI_wait_t * w)
{
    tsm_usc_waiter_t *self = &MPIDI_thread_self()->waiter;

    MPIDI_served_sleep_begin();
    tsm_usc_begin(self);
    if (!register_all(w)) {
        do
            tsm_usc_sleep_for(self, SERVED_SLEEP_NS);
        while (!tsm_usc_is_woken(self) && MPIDI_served_here() && !MPIDI_served_has_error() &&
               !has_complete(w));
    }
    unregister_all(w);
    MPIDI_served_sleep_end();
}

void MPIDI_wait_leave(MPID_Progress_state * state)
{
    for (uint32_t left = state->wait.serving; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        tsm_usc_leave(usc_of(state->vci[i]), &MPIDI_thread_self()->links[i]);
    }
    MPIDI_STATS(MPIDI_STATS_COUNT(usc_left, (uint64_t) __builtin_popcount(state->wait.serving)));
    MPIDI_thread_count_wait(-1);
    state->wait.is_counted = 0;
}

/* The wait is one that lasts. */
static void count_wait(MPIDI_wait_t * w)
{
    MPIDI_thread_count_wait(1);
    crowded_wait();
    w->is_counted = 1;
    w->may_sleep = 0;
    w->serving = 0;
}

/* 1 if the thread may pause long: it can see without a poll that its call can return, none of its
 * requests needs it to make progress, and no other thread wants its processor or a lock of its. Looks
 * at each request once: what it finds stays so, and the threads that complete requests need their
 * lines. */
static int may_pause_long(MPIDI_wait_t * w)
{
    if (w->count == 0 || w->any || !w->reqs[w->count - 1] || MPIDI_thread_local.held ||
        tsm_load_crowded())
        return 0;
    for (; w->may_pause < w->count; w->may_pause++) {
        MPIR_Request *req = w->reqs[w->may_pause];
        if (req && !MPIR_Request_is_complete(req) && !wakes(active_request(req)))
            return 0;
    }
    return 1;
}

/* Pause for a moment, or until the last request is complete. In a wait for all, that one tends to be
 * the last to complete. Returns the pauses made. */
static unsigned pause_long(const MPIDI_wait_t * w, unsigned pauses)
{
    const MPIR_Request *last = w->reqs[w->count - 1];

    for (unsigned i = 1; i <= pauses; i++) {
        tsm_cpu_pause();
        if (i % PAUSES_PER_LOOK == 0 && MPIR_Request_is_complete(last))
            return i;
    }
    return pauses;
}

/* A wait begins, or goes on after progress or a sleep: what was before says nothing of the lock. */
static void forget_misses(const MPID_Progress_state * state)
{
    for (int i = 0; i < state->vci_count; i++)
        MPIDI_thread_self()->watch[state->vci[i]].taken = 0;
}

/* A long pause counts as the misses that short ones would have had in its time, so that a thread asks
 * the lock holder for a poll after about the same time (poll.c). */
static void count_misses(const MPID_Progress_state * state, unsigned pauses)
{
    for (int i = 0; i < state->vci_count; i++)
        MPIDI_thread_self()->watch[state->vci[i]].misses += (int) pauses / MPIR_CVAR_CH4_POLL_PAUSES;
}

static unsigned most_pauses(void)
{
    return (unsigned) MPL_MIN(MPIR_CVAR_CH4_TAKEN_PAUSES,
                              PAUSES_PER_PROCESSOR * tsm_load_processors());
}

/* Polls in a row that found the locks of all the call's VCIs taken. */
static int polls_missed(const MPID_Progress_state * state)
{
    int least = INT_MAX;

    for (int i = 0; i < state->vci_count; i++)
        least = MPL_MIN(least, MPIDI_thread_self()->watch[state->vci[i]].taken);
    return state->vci_count ? least : 0;
}

/* After a turn that may have taken long: poll another VCI each time, since what this thread waits for
 * may depend on it. */
static int poll_another(void)
{
    if (!MPIR_CVAR_CH4_GLOBAL_PROGRESS || MPIDI_served_here())
        return MPI_SUCCESS;
    return MPIDI_elsewhere_next();
}

/* Pauses after a poll in vain: more each time, but not for long, since the next poll may find
 * something. A pause of a thread that waits alone only delays its message. */
static unsigned poll_pauses(const MPIDI_wait_t * w)
{
    if (MPIDI_waits_alone())
        return 1;
    return MPL_MIN(1u << MPL_MIN(w->turns, LAST_DOUBLING), (unsigned) MPIR_CVAR_CH4_POLL_PAUSES);
}

/* Back off once by spinning: for a moment after a poll, but longer and longer while other threads have
 * the lock. They drive the VCI for all, and each try of a lock that changes hands moves its cache line
 * to one more processor. */
static int spin(MPID_Progress_state * state)
{
    MPIDI_wait_t *w = &state->wait;
    const unsigned missed = (unsigned) polls_missed(state);
    const unsigned pauses = poll_pauses(w);

    if (missed > SHORT_MISSES && most_pauses() > (unsigned) MPIR_CVAR_CH4_POLL_PAUSES &&
        may_pause_long(w)) {
        const unsigned wanted = MPL_MAX(1u << MPL_MIN(missed, LAST_DOUBLING), pauses);
        const unsigned most = MPL_MIN(wanted, most_pauses());
        count_misses(state, pause_long(w, most));
        return poll_another();
    }
    for (unsigned i = 0; i < pauses; i++)
        tsm_cpu_pause();
    return w->turns < TURNS_AT_HOME || MPIDI_served_here() ? MPI_SUCCESS : MPIDI_elsewhere_spin(state);
}

/* vain: turns so far. */
static int yield_turn(unsigned vain)
{
    MPIDI_STATS(MPIDI_STATS_COUNT(yields, 1));
    MPIDI_section_yield_or_nap(vain);
    return poll_another();
}

/* Yield once for the threads that the server has woken, and then less and less often, because all
 * other threads that wait for the VCI sleep: a thread outside MPI would get the processor, and if it
 * spins in a barrier, say, keep it for a whole time slice. In a long wait take naps instead: processes
 * may outnumber processors, and each has a server. */
static int server_turn(MPID_Progress_state * state)
{
    const MPIDI_wait_t *w = &state->wait;
    int is_power_of_2 = (w->turns & (w->turns - 1)) == 0;

    if (w->turns >= POLLER_PATIENCE && w->turns % TURNS_PER_NAP == 0 && tsm_load_crowded())
        return yield_turn(w->turns);
    if (w->turns >= (unsigned) MPIR_CVAR_CH4_POLLER_YIELD && is_power_of_2 && tsm_load_crowded())
        return yield_turn(0);
    return spin(state);
}

/* No thread sleeps with a mutex of MPICH, which the server's progress hooks may want. */
static int may_sleep(const MPID_Progress_state * state)
{
    int is_driven = MPIDI_model.progress == MPIDI_PROGRESS_USC_KIND || MPIDI_served_here();

    return is_driven && state->wait.count > 0 && state->vci_count <= MPIDI_THREAD_LINKS &&
        !MPIDI_thread_local.held && !MPIR_CVAR_ENABLE_FT;
}

/* Back off after a turn that completed nothing. */
static int back_off(MPID_Progress_state * state)
{
    MPIDI_wait_t *w = &state->wait;
    MPIDI_wait_t list = *w;

    if (!w->is_counted)
        count_wait(w);
    if (w->turns++ == 0) {
        tsm_patience_begin(&w->patience, 1000 * (uint64_t) MPIR_CVAR_CH4_WAIT_SPIN_USEC,
                           crowded.polls);
        forget_misses(state);
    }
    if (w->serving) {
        tsm_load_touch();
        return server_turn(state);
    }
    switch (tsm_patience_step(&w->patience, may_sleep(state))) {
        case TSM_PATIENCE_SPIN:
            return spin(state);
        case TSM_PATIENCE_YIELD:
            return yield_turn(w->turns);
        default:
            if (must_poll(w) || !can_sleep(&list) || is_nested())
                return yield_turn(w->turns);
            crowded_sleep();
            MPIDI_STATS(MPIDI_STATS_COUNT(sleeps, 1));
            if (MPIDI_served_here())
                sleep_served(&list);
            else
                w->serving = sleep_or_serve(state, &list);
            w->turns = 0;
            return MPI_SUCCESS;
    }
}

/* Poll, or leave that to the servers: only while the call waits for requests. A server that meets an
 * error completes no request, so the error must end some wait. */
static int poll_turn(MPID_Progress_state * state)
{
    const int wait = state->wait.turns ? MPIDI_DRIVE_AGAIN : MPIDI_DRIVE_WAIT;
    int mpi_errno;

    if (!MPIDI_served_here())
        return MPIDI_progress_test(state, wait);
    if (state->wait.count > 0 && !MPIDI_thread_local.held && !MPIR_CVAR_ENABLE_FT) {
        MPIDI_served_ring_all();
    } else {
        mpi_errno = MPIDI_progress_test(state, wait);
        if (mpi_errno != MPI_SUCCESS)
            return mpi_errno;
    }
    return MPIDI_served_take_error();
}

int MPIDI_wait_turn(MPID_Progress_state * state)
{
    unsigned done = MPIDI_thread_done();
    int mpi_errno = poll_turn(state);

    MPIR_ERR_CHECK(mpi_errno);
    if (done != MPIDI_thread_done()) {
        state->wait.turns = 0;
        goto fn_exit;
    }
    MPIDI_watchdog_step();
    if (MPIR_ThreadInfo.isThreaded)
        mpi_errno = back_off(state);
    else
        MPIDI_poll_lone_turn(++state->wait.turns);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    MPIDI_wait_end(state);      /* some callers do not */
    goto fn_exit;
}

#endif

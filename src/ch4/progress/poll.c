/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

/* Turns of a loop that waits inside MPI between two that make progress of every kind. */
#define FULL_TURN 8

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/complete.h"
#include "tsm/tsm_load.h"
#include "tsm/tsm_wait.h"

/* Attempts at the lock of a VCI before a thread asks the holder for a poll, if there was none. */
#define MISSES_BEFORE_ASKING 32

/* Turns in vain after which a process below MPI_THREAD_MULTIPLE offers its processor. */
#define LONE_TURNS 8u

/* Turns in vain in which a thread that is alone in its process pauses only, while threads outnumber
 * processors: the answer of a process that runs is there sooner than the thread would be back from a
 * yield. Several threads would wait for each other's pauses. */
#define BRIEF_TURNS 4u
#define BRIEF_PAUSES 16

/* Pauses for which a thread of the library leaves a VCI to threads that wait for it. */
#define WAY_PAUSES 256

void MPIDI_poll_give_way(int vci)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;

    for (int n = 0; n < WAY_PAUSES && tsm_load(&v->entering, TSM_RELAXED); n++)
        tsm_cpu_pause();
    if (tsm_load(&v->entering, TSM_RELAXED))
        tsm_yield_server();
}

/* Before a poll of a thread that has something to attend to. Returns 0 if it leaves the lock alone. */
int MPIDI_poll_attend(MPIDI_thread_t * self, int vci, int wait)
{
    const MPIDI_thread_watch_t *watch = &self->watch[vci];

    if (self->attention & MPIDI_THREAD_EARLY)
        MPIDI_early_yield(self);
    return wait || watch->backoff_ns == 0 || tsm_now_ns() >= watch->not_before;
}

/* The thread has had the lock of the VCI. */
void MPIDI_poll_end_backoff(MPIDI_thread_t * self, int vci)
{
    self->watch[vci].backoff_ns = 0;
    if (--self->backing_off == 0)
        self->attention &= ~MPIDI_THREAD_BACKS_OFF;
}

/* At most MPIDI_BACKOFF_FIRST_NS for each processor: so many threads can run, and if all of them test,
 * one of them looks at the lock in that time. Longer pauses on few processors only miss the times when
 * the lock is free: a breadth-first search of 4 threads on two lost a tenth of its rate. */
static uint32_t longest_backoff(void)
{
    const uint64_t most = (uint64_t) MPIDI_BACKOFF_FIRST_NS * (unsigned) tsm_load_processors();

    return (uint32_t) MPL_MIN(most, (uint64_t) MPIR_CVAR_CH4_TEST_BACKOFF_NSEC);
}

static void back_off(MPIDI_thread_t * self, MPIDI_thread_watch_t * watch)
{
    const uint32_t most = longest_backoff();
    const uint32_t next = watch->backoff_ns ? 2 * watch->backoff_ns : MPIDI_BACKOFF_FIRST_NS;

    if (most == 0)
        return;
    if (watch->backoff_ns == 0)
        self->backing_off++;
    watch->backoff_ns = MPL_MIN(next, most);
    watch->not_before = tsm_now_ns() + watch->backoff_ns;
    self->attention |= MPIDI_THREAD_BACKS_OFF;
    MPIDI_STATS(const uint32_t times = watch->backoff_ns / MPIDI_BACKOFF_FIRST_NS;
                MPIDI_STATS_COUNT(backoff[MPIDI_count_bucket(times, MPIDI_BACKOFF_LEVELS)], 1));
}

/* After so many misses: ask the holder for a poll, unless the VCI was driven since the last time here.
 * Only now does the thread read what the holder and others write, and it writes only what changes: many
 * waiting threads would take these lines away from them. poll_wanted is relaxed, as it publishes no
 * data. If it is set after the last holder has looked, the lock is free, and the caller's next attempt
 * drives the VCI. A poll that had already begun may clear it; if that poll found nothing, as many
 * misses again ask once more. */
static void ask_for_poll(MPIDI_vci_t * v, MPIDI_thread_watch_t * watch)
{
    int polls = (int) tsm_load(&v->polls, TSM_RELAXED);

    if (watch->polls == polls && !tsm_load(&v->poll_wanted, TSM_RELAXED))
        tsm_store(&v->poll_wanted, 1, TSM_RELAXED);
    watch->polls = polls;
    watch->misses = 0;
}

/* Count a miss: the lock of the VCI was taken. */
void MPIDI_poll_missed(MPIDI_thread_t * self, int vci, int wait)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;
    MPIDI_thread_watch_t *watch = &self->watch[vci];

    MPIDI_STATS(MPIDI_STATS_COUNT(misses, 1));
    if (++watch->misses >= MISSES_BEFORE_ASKING)
        ask_for_poll(v, watch);
    if (wait) {
        if (watch->taken < INT_MAX)
            watch->taken++;
    } else {
        back_off(self, watch);
        MPIDI_poll_test_failed(self);
    }
}

void MPIDI_poll_offer_processor(MPIDI_thread_t * self)
{
    self->tests = MPIR_CVAR_CH4_TEST_YIELD;
    tsm_load_touch();
    if (!MPIDI_thread_local.held && tsm_load_crowded())
        tsm_yield();
}

int MPIDI_poll_otherwise(MPIDI_thread_t * self, int vci, int flag, int wait)
{
    MPIDI_per_vci_t *p = MPIDI_vci_at(vci);

    /* servers make this poll of a nonblocking call */
    if (MPIDI_model.progress == MPIDI_PROGRESS_SERVER_KIND && !wait && MPIDI_served_here() &&
        !MPIDI_vci_lock_is_mine(&p->lock)) {
        MPIDI_served_ring(vci);
        MPIDI_poll_test_failed(self);
        return MPIDI_served_take_error();
    }
    if (MPIDI_model.progress == MPIDI_PROGRESS_BLOCKING_KIND) {
        MPIDI_section_enter(&p->lock, 1, 1);
    } else if (MPIDI_section_try(&p->lock)) {
        MPIDI_STATS(if (p->lock.count == 1) MPIDI_stats_progress_path(&p->threads));
    } else {
        MPIDI_poll_missed(self, vci, wait);
        return MPI_SUCCESS;
    }
    return MPIDI_poll_entered_(self, p, vci, flag, wait, 0);
}

void MPIDI_poll_lone_turn(unsigned turns)
{
    tsm_load_touch();
    if (turns >= LONE_TURNS && tsm_load_crowded()) {
        MPIDI_STATS(MPIDI_STATS_COUNT(yields, 1));
        MPIDI_section_yield_or_nap(turns - LONE_TURNS);
    }
}

/* A thread that issues posted operations keeps its lock, because a later operation in the queue may be
 * of the same thread to the same peer, and runs no progress hook, which might wait for a lock. */
int MPIDI_progress_make_room(int vci)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;
    int mpi_errno, depth;

    if (!MPIR_ThreadInfo.isThreaded)
        return MPID_Progress_test(NULL);
    if (MPIDI_thread_local.draining)
        return MPIDI_NM_progress(vci, 0);
    depth = MPIDI_section_suspend(m);
    mpi_errno = MPID_Progress_test(NULL);
    MPIDI_section_pause();
    MPIDI_section_resume(m, depth, 0);
    return mpi_errno;
}

/* Each thread's turns: every eighth one drives everything (progress hooks, too). */
static int is_full_turn(void)
{
    static __thread unsigned turns;

    return ++turns % FULL_TURN == 0;
}

/* With the VCI released: drive everything, else one other VCI. */
static int drive_elsewhere(int is_full)
{
    return is_full ? MPID_Progress_test(NULL) : MPIDI_elsewhere_next();
}

/* The rest of a turn below MPI_THREAD_MULTIPLE. done: what the thread had done before. */
static int turn_lone(unsigned done)
{
    int mpi_errno = drive_elsewhere(is_full_turn());

    if (done == MPIDI_thread_done())
        MPIDI_poll_lone_turn(++MPIDI_thread_local.turns);
    else
        MPIDI_thread_local.turns = 0;
    return mpi_errno;
}

/* A turn while threads outnumber processors. A flush that has nothing to wait for takes one turn, so
 * that is like a test: a yield in each would cost it a time slice of another thread. */
static void crowded_turn(unsigned turns)
{
    const unsigned brief = tsm_load_wanted() <= 1 ? BRIEF_TURNS : 0;

    if (turns == 0) {
        MPIDI_poll_test_failed(MPIDI_thread_self());
    } else if (turns <= brief) {
        for (int i = 0; i < BRIEF_PAUSES; i++)
            tsm_cpu_pause();
    } else {
        MPIDI_STATS(MPIDI_STATS_COUNT(yields, 1));
        MPIDI_section_yield_or_nap(turns - brief - 1);
    }
}

/* Whether a turn releases the VCI: most times not the first one of a flush that has nothing to wait
 * for. A thread whose polls find something each time has no turns in vain, but wakes and posts wait for
 * the release, and a thread for the lock. */
static int must_release(MPIDI_vci_t * vci, unsigned turns, int is_full)
{
    return turns > 0 || is_full || MPIDI_thread_local.to_wake > 0 ||
        MPIDI_section_has_posted(vci) || tsm_load_crowded();
}

/* With the VCI held, after so many turns in vain: all that a turn does without it. */
static int turn_released(MPIDU_Thread_mutex_t * m, unsigned turns, int is_full)
{
    int mpi_errno, depth = MPIDI_section_suspend(m);

    mpi_errno = drive_elsewhere(is_full);
    if (tsm_load_crowded())
        crowded_turn(turns);
    else if (turns > 0 || is_full)
        MPIDI_section_rest();
    MPIDI_section_resume(m, depth, 1);
    return mpi_errno;
}

int MPIDI_progress_turn_locked(int vci)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;
    unsigned *turns = &MPIDI_thread_local.turns;
    const unsigned done = MPIDI_thread_done();
    int mpi_errno = MPI_SUCCESS, is_full;

    if (MPIR_ThreadInfo.isThreaded) {
        is_full = is_full_turn();
        if (must_release(m->vci, *turns, is_full)) {
            mpi_errno = turn_released(m, *turns, is_full);
            MPIR_ERR_CHECK(mpi_errno);
        }
    }
    mpi_errno = MPIDI_drive(&MPIDI_VCI(vci), MPIDI_PROGRESS_ALL, 1);
    MPIR_ERR_CHECK(mpi_errno);
    if (!MPIR_ThreadInfo.isThreaded)
        mpi_errno = turn_lone(done);
    else
        *turns = done == MPIDI_thread_done() ? *turns + 1 : 0;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static void forget(MPIDI_vci_t * vci, const MPIDI_counter_wait_t * wait)
{
    MPIDI_counter_wait_t **link = &vci->counter_waits;

    while (*link && *link != wait)
        link = &(*link)->next;
    if (*link)
        *link = wait->next;
}

/* With the VCI held: wait for req, without it. */
static int wait_for(MPIDU_Thread_mutex_t * m, MPIR_Request * req)
{
    int depth = MPIDI_section_suspend(m);
    int mpi_errno = MPID_Wait(req, MPI_STATUS_IGNORE);

    MPIDI_section_resume(m, depth, 1);
    return mpi_errno;
}

/* The thread sleeps on the request. The one that decrements the counter to 0 completes it. */
int MPIDI_progress_await_counter(int vci, MPIR_cc_t * counter)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;
    MPIDI_counter_wait_t wait = {.next = v->counter_waits,.counter = counter };
    int mpi_errno;

    if (!MPIR_ThreadInfo.isThreaded || !counter || MPIR_cc_get(*counter) == 0)
        return MPIDI_progress_turn_locked(vci);
    wait.req = MPIR_Request_create_from_pool(MPIR_REQUEST_KIND__RMA, vci, 2);
    v->counter_waits = &wait;
    mpi_errno = wait_for(&MPIDI_VCI(vci).lock, wait.req);
    if (!MPIR_Request_is_complete(wait.req)) {  /* an error */
        forget(v, &wait);
        MPIDI_complete(wait.req);
    }
    MPIR_Request_free(wait.req);
    return mpi_errno;
}

#else

#ifdef ENABLE_THREAD_STATS
/* A number that changes if a poll finds something: see drive.c and match.h. */
static unsigned found(void)
{
    return MPIDI_thread_local.completed + MPIDI_thread_local.arrived;
}

int MPIDI_poll_counted(int vci, int flag)
{
    const unsigned before = found();
    int mpi_errno = MPI_SUCCESS;

    if (flag & MPIDI_PROGRESS_NM)
        mpi_errno = MPIDI_NM_progress(vci, 0);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (flag & MPIDI_PROGRESS_SHM && mpi_errno == MPI_SUCCESS)
        mpi_errno = MPIDI_SHM_progress(vci, 0);
#endif
    MPIDI_count(&MPIDI_VCI(vci).threads.polls, 1);
    MPIDI_stats_polled(&MPIDI_VCI(vci).threads, before != found());
    return mpi_errno;
}
#define POLL_ONE(vci_) MPIDI_poll_counted(vci_, MPIDI_PROGRESS_ALL)
#else
#define POLL_ONE(vci_) MPIDI_progress_test_vci(vci_)
#endif

int MPIDI_progress_await_counter(int vci, MPIR_cc_t * counter)
{
    return MPIDI_progress_turn_locked(vci);
}

int MPIDI_progress_make_room(int vci)
{
    return MPID_Progress_test(NULL);
}

int MPIDI_progress_netmods_locked(int vci)
{
    MPIDI_watchdog_step();
    return MPIDI_NM_progress(vci, 0);
}

int MPIDI_progress_turn_locked(int vci)
{
    static __thread unsigned turns;
    int mpi_errno = ++turns % FULL_TURN == 0 ? MPID_Progress_test(NULL) : POLL_ONE(vci);

    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

#endif

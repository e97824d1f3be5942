/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/alone.h"
#include "threads/complete.h"
#include "threads/drive.h"
#include "threads/one_node.h"
#include "threads/posted.h"
#include "tsm/tsm_wait.h"

/* Spins of one pause. */
#define PAUSE_SPINS 16

/* Spins after which a thread yields once, whatever the measure of load: that may be wrong, and the
 * awaited thread may need this processor. */
#define SPINS_BEFORE_YIELD (1024 * PAUSE_SPINS)

/* A thread that is alone pauses so long once in so many polls, and else spins once. */
#define LONE_RESTS 64

/* A yield that takes as long gave a whole time slice away, most likely to a thread that computes. The
 * next offers are naps then: after a nap the scheduler has the thread back soon. */
#define SLICE_NS 1000000
#define NAPS_AFTER_SLICE 256

/* Drive the VCI for another thread, before the caller leaves it. Leaves that to the next holder if the
 * caller holds another lock, which a handler might want, or is in the middle of an operation. Counts
 * as issuing for others, so that a handler for which the netmod has no room waits for no lock and
 * runs no hook. Keeps the first error for the next thread that polls, since the caller did not ask
 * for this poll. */
void MPIDI_section_poll_for_others(MPIDU_Thread_mutex_t * m)
{
    MPIDI_vci_t *vci = m->vci;
    int mpi_errno, depth;

    if (MPIDI_thread_local.held > MPIDI_THREAD_VCI || vci->draining)
        return;
    MPIDI_thread_local.draining++;
    depth = m->count;
    m->count = 1;
    mpi_errno = MPIDI_drive(MPL_container_of(m, MPIDI_per_vci_t, lock), MPIDI_PROGRESS_ALL, 1);
    m->count = depth;
    MPIDI_thread_local.draining--;
    if (vci->poll_error == MPI_SUCCESS)
        vci->poll_error = mpi_errno;
}

/* As the holder: issue what is posted; if another thread is between the two stores of its post, ask for
 * a second look. Returns the number issued. */
static int issue_or_ask(MPIDI_vci_t * vci, int budget)
{
    int issued = MPIDI_posted_issue(vci, budget);

    if (unlikely(issued == 0)) {
        tsm_second_look_ask(&vci->second_look);
        issued = MPIDI_posted_issue(vci, budget);
    } else {
        tsm_second_look_settle(&vci->second_look);
    }
    return issued;
}

/* Issue operations that are posted after the release of the lock, unless another thread holds it. That
 * thread looks at the queue when it leaves, and so does this one. The caller has passed one of the
 * fences of section.h. Does not read m->vci, which is in a line of the holder's. */
void MPIDI_section_help(MPIDU_Thread_mutex_t * m)
{
    MPIDI_vci_t *vci = &(MPL_container_of(m, MPIDI_per_vci_t, lock))->threads;
    const int is_other = MPIDI_MODEL_LOCK != MPIDI_LOCK_OWN;
    int budget = MPIR_CVAR_CH4_MAX_COMBINE;

    while (budget > 0 && MPIDI_section_has_posted(vci) && MPIDI_vci_lock_try(m, is_other)) {
        int issued = issue_or_ask(vci, budget);
        MPIDI_section_release(m);
        MPIDI_SECTION_FENCE();
        if (issued == 0 && !tsm_second_look_is_due(&vci->second_look))
            break;      /* a thread in the middle of its post tries the lock afterwards */
        budget -= MPL_MAX(issued, 1);
    }
}

/* With csync: issue the operations that wait for the lock. Not by a thread that is in the middle of
 * such an operation, nor by one that holds another lock: the operation may be to this process, which
 * takes a lock, too. The lock then passes to the thread that waits next. */
static void combine(MPIDU_Thread_mutex_t * m)
{
    MPIDI_vci_t *vci = m->vci;
    uint32_t served;

    if (MPIDI_thread_local.held != MPIDI_THREAD_VCI || MPIDI_thread_local.draining ||
        !tsm_dsm_lock_has_waiters(&vci->csync))
        return;
    MPIDI_vci_issue_begin(vci);
    served = tsm_dsm_lock_combine(&vci->csync);
    MPIDI_vci_issue_end(vci);
    MPIDI_STATS(MPIDI_stats_combined(vci, served));
    (void) served;              /* only counted */
}

static void exit_csync(MPIDU_Thread_mutex_t * m)
{
    MPIDI_vci_t *vci = m->vci;

    if (unlikely(tsm_load(&vci->poll_wanted, TSM_RELAXED)))
        MPIDI_section_poll_for_others(m);
    combine(m);
    MPIDI_section_release(m);
}

/* Enter a mutex that the thread does not hold. */
void MPIDI_section_enter_first(MPIDU_Thread_mutex_t * m, int low)
{
    low |= MPIDI_thread_local.is_low;
    if (unlikely(MPIDI_vci_lock_is_other(m))) {
        MPIDI_vci_other_enter(m, low);
        if (MPIDI_MODEL_LOCK == MPIDI_LOCK_COMBINING)
            combine(m);
    } else {
        MPIDI_vci_lock_enter(m, low);
    }
    MPIDI_STATS(if (low && m->vci) MPIDI_stats_progress_path(m->vci));
    if (unlikely(MPIDI_section_has_posted(m->vci)))
        MPIDI_posted_issue_all(m->vci);
}

/* The last exit of a mutex, whose count the caller has just brought to 0. */
void MPIDI_section_exit_last(MPIDU_Thread_mutex_t * m)
{
    MPIR_Assert(m->count == 0);
    if (likely(m->vci && !MPIDI_vci_lock_is_csync(m))) {
        MPIDI_section_leave_last_(m, m->vci, MPIDI_MODEL_LOCK != MPIDI_LOCK_OWN);
        return;
    }
    m->count = 1;
    if (m->vci)
        exit_csync(m);
    else
        MPIDI_section_release(m);
}

void MPIDI_section_wake(void)
{
    MPIDI_complete_wake();
}

/* Progress backoff and blocking are the papers' forms, which only yield. */
static int may_nap(void)
{
    const int is_ours = MPIDI_model.progress == MPIDI_PROGRESS_USC_KIND ||
        MPIDI_model.progress == MPIDI_PROGRESS_SERVER_KIND;

    return is_ours && MPIR_CVAR_CH4_NAP_TURNS < INT_MAX && !MPIDI_thread_local.held;
}

static void yield(void)
{
    if (MPIDI_thread_local.is_server)
        tsm_yield_server();
    else
        tsm_yield();
}

/* Offer the processor to other threads; naps only while they outnumber processors. Not for the poller
 * of progress usc, which yields seldom: the other threads that wait would wait for each of its naps. */
void MPIDI_section_offer(void)
{
    static __thread unsigned naps;
    uint64_t begin;

    if (naps > 0 && may_nap() && tsm_load_crowded()) {
        naps--;
        tsm_nap();
        return;
    }
    begin = tsm_now_ns();
    yield();
    if (tsm_now_ns() - begin > SLICE_NS)
        naps = NAPS_AFTER_SLICE;
}

/* Offer the processor in a wait that has had so many turns in vain. In a long wait a yield is not
 * enough: the scheduler may choose the same thread again, or another one that only yields, and a thread
 * with work to do gets one time slice in as many as there are threads. */
void MPIDI_section_yield_or_nap(unsigned turns)
{
    if (turns > (unsigned) MPIR_CVAR_CH4_NAP_TURNS && may_nap() && tsm_load_crowded())
        tsm_nap();
    else
        tsm_yield();
}

static void spin_or_offer(unsigned n)
{
    static __thread unsigned spins;

    tsm_load_touch();
    spins += n;
    if (spins >= SPINS_BEFORE_YIELD || tsm_load_crowded()) {
        spins = 0;
        MPIDI_STATS(MPIDI_STATS_COUNT(yields, 1));
        MPIDI_section_offer();
    } else {
        for (unsigned i = 0; i < n; i++)
            tsm_cpu_pause();
    }
}

/* Pause a loop that waits inside MPI: spin briefly, or offer the processor if other threads need it. */
void MPIDI_section_pause(void)
{
    spin_or_offer(PAUSE_SPINS);
}

/* The same between polls. A thread that is alone lets nobody in, so it polls most times at once. Not if
 * it polls the network: that takes so long that a thread which computed would find the lock taken at
 * nearly every try, before the measure of load counts it. */
void MPIDI_section_rest(void)
{
    static __thread unsigned rests;

    if (++rests % LONE_RESTS && MPIDI_polls_briefly() && MPIDI_waits_alone())
        spin_or_offer(1);
    else
        spin_or_offer(PAUSE_SPINS);
}

#endif

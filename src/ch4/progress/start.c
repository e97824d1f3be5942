/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "threads/model.h"
#include "threads/op_pool.h"
#include "threads/progress/server.h"
#include "threads/progress/watchdog.h"
#include "threads/served.h"
#include "threads/stats/report.h"
#include "mpidu_init_shm.h"
#include "tsm/tsm_load.h"
#include "tsm/tsm_wait.h"

/* Looks for threads that have been woken to leave MPI, with a nap (tsm_wait.h) after each. */
#define LEAVING_LOOKS 1000

static tsm_load_slot_t *slots;  /* one for each process of the node, in shared memory */

int MPIDI_progress_open(void)
{
    MPIDI_request_cache_open();
    /* that of MPI_Irecv from MPI_PROC_NULL; MPICH leaves its source 0 */
    MPIR_Status_set_procnull(&MPIR_Request_builtins[MPIR_REQUEST_KIND__RECV].status);
    return MPIDI_model_init();
}

static int start(int vcis, MPIDI_watchdog_fill_t describe)
{
    int mpi_errno = MPI_SUCCESS;

    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++)
        MPIDI_vci_init(vci);
    mpi_errno = MPIDI_Self_init();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDI_stats_start();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIDI_watchdog_start(MPIR_Process.rank, vcis, describe);
    MPIR_ERR_CHECK(mpi_errno);
  fn_fail:
    return mpi_errno;
}

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
/* For the watchdog: reads without the lock, so that it also works when the lock's holder hangs. */
static void describe_vci(int vci, MPIDI_watchdog_vci_t * out)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;

    memset(out, 0, sizeof(*out));
    out->owner = (unsigned long) __atomic_load_n(&m->owner, __ATOMIC_RELAXED);
    out->depth = __atomic_load_n(&m->count, __ATOMIC_RELAXED);
    out->queue_empty = !MPIDI_section_has_posted(v);
    out->polls = (unsigned) tsm_load(&v->polls, TSM_RELAXED);
    if (MPIDI_served_here()) {
        out->sleepers = tsm_load(&MPIDI_served.sleepers, TSM_RELAXED);
        out->is_served = 1;
    } else {
        out->sleepers = tsm_usc_look(&v->usc, &out->is_served);
    }
}

#define VCI_OFFSET(field_) offsetof(MPIDI_vci_t, field_)
#define IS_A_LINE(first_, last_) (VCI_OFFSET(first_) % TSM_CACHELINE == 0 && \
    VCI_OFFSET(last_) + sizeof(((MPIDI_vci_t *) 0)->last_) <= VCI_OFFSET(first_) + TSM_CACHELINE)

/* What op.h says of the lines of a request, where nothing else is in between, and doc/stats.md of those
 * of a VCI's counters. */
static void check_lines(void)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(HAVE_DEBUGGER_SUPPORT)
    MPL_COMPILE_TIME_ASSERT(offsetof(MPIR_Request, waiter) < MPL_CACHELINE_SIZE);
    MPL_COMPILE_TIME_ASSERT(offsetof(MPIR_Request, next) / MPL_CACHELINE_SIZE == 1);
    MPL_COMPILE_TIME_ASSERT((offsetof(MPIR_Request, match) + sizeof(MPIDI_match_t) - 1) /
                            MPL_CACHELINE_SIZE == 1);
    MPL_COMPILE_TIME_ASSERT(offsetof(MPIR_Request, dev.ch4) % MPL_CACHELINE_SIZE == 0);
    MPL_COMPILE_TIME_ASSERT(sizeof(MPIR_Request) % MPL_CACHELINE_SIZE == 0);
#ifdef ENABLE_THREAD_STATS
    MPL_COMPILE_TIME_ASSERT(offsetof(MPIR_Request, counted) + sizeof(int) ==
                            offsetof(MPIR_Request, next));
    MPL_COMPILE_TIME_ASSERT(offsetof(MPIR_Request, counted) ==
                            offsetof(MPIR_Request, status) + sizeof(MPI_Status));
    MPL_COMPILE_TIME_ASSERT(IS_A_LINE(stats.waiting, stats.cpu_at));
    MPL_COMPILE_TIME_ASSERT(IS_A_LINE(polls, held));
    MPL_COMPILE_TIME_ASSERT(IS_A_LINE(stats.posted, stats.tenures));
    MPL_COMPILE_TIME_ASSERT(VCI_OFFSET(stats.queue_most) % TSM_CACHELINE == 0);
#endif
#endif
}

int MPIDI_progress_start(void)
{
    check_lines();
    MPIR_Assert(MPIDI_VCI_LOCK_SELF() == pthread_self());
    return start(MPIDI_global.n_vcis, describe_vci);
}

/* Entering a VCI issues what is posted there. */
static void issue_all_posted(void)
{
    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++) {
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    }
}

#else

/* For the watchdog: there is one lock, or none, and no queue. */
static void describe_process(int vci, MPIDI_watchdog_vci_t * out)
{
    (void) vci;
    memset(out, 0, sizeof(*out));
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__GLOBAL
    MPIDU_Thread_mutex_t *m = &MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX;
    out->owner = (unsigned long) __atomic_load_n(&m->owner, __ATOMIC_RELAXED);
    out->depth = __atomic_load_n(&m->count, __ATOMIC_RELAXED);
#endif
    out->queue_empty = -1;
}

/* From here on the lock of the process is counted (section/counted_lock.h). A new one is not. */
int MPIDI_progress_start(void)
{
    MPIDI_STATS(MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX.vci = &MPIDI_VCI(0).threads);
    return start(1, describe_process);
}

#define issue_all_posted() do { } while (0)
#define MPIDI_thread_others_wait() MPIDU_lock_yields
#define MPIDI_op_pool_finalize() do { } while (0)
#endif

int MPIDI_progress_join_node(void)
{
    int mpi_errno = MPI_SUCCESS;
    int n = MPIR_Process.local_size;

    if (n > 1) {
        mpi_errno = MPIDU_Init_shm_alloc(n * sizeof(*slots), (void **) &slots);
        MPIR_ERR_CHECK(mpi_errno);
        tsm_load_share(slots, n, MPIR_Process.local_rank);
    }
    mpi_errno = csp_join_node();
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

void MPIDI_progress_stop(void)
{
    csp_leave();
    MPIDI_watchdog_stop();
    MPIDI_stats_stop();
    MPIDI_op_pool_finalize();
    tsm_load_unshare();
    if (slots)
        MPIDU_Init_shm_free(slots);
    slots = NULL;
}

void MPIDI_progress_close(void)
{
    MPIDI_request_cache_close();
    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++)
        MPIDI_vci_finalize(vci);
}

/* MPI is not taken down under a thread that waits in it. That is erroneous, and would crash. */
static void abort_if_others_wait(void)
{
    char text[128];
    int n;

    for (int i = 0; (n = MPIDI_thread_others_wait()) > 0 && i < LEAVING_LOOKS; i++) {
        tsm_nap();
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    }
    if (n) {
        snprintf(text, sizeof(text), "MPI_Finalize was called while %d other thread%s of the process "
                 "waited in MPI", n, n > 1 ? "s" : "");
        MPID_Abort(MPIR_Process.comm_world, MPI_SUCCESS, 1, text);
    }
}

int MPIDI_progress_quiesce(void)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;

    issue_all_posted();
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    if (MPIR_Process.comm_world && MPIR_Process.size > 1)
        mpi_errno = MPIR_Barrier(MPIR_Process.comm_world, &errflag);
    MPIDI_server_stop();
    abort_if_others_wait();
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno ? mpi_errno : csp_quiesce();
}

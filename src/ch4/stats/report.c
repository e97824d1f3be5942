/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "threads/model.h"
#include "threads/stats/hint.h"
#include "threads/stats/hooks.h"
#include "threads/stats/report.h"
#include "threads/stats/trace.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_CH4_THREAD_SUMMARY
      category    : CH4_THREADS
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Print a line at MPI_Finalize that names the thread-safety model, the contention seen, and what
        might help. 0: none; 1: process 0 of MPI_COMM_WORLD; 2: every process. Needs a library
        configured with --enable-thread-stats.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#ifdef ENABLE_THREAD_STATS

#define HINT_BYTES 256

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static uint64_t acquired(int vci)
{
    return tsm_load(&MPIDI_VCI(vci).threads.held.acquired, TSM_RELAXED);
}

static int busiest_vci(void)
{
    int most = 0;

    for (int i = 1; i < MPIDI_global.n_vcis; i++)
        most = acquired(i) > acquired(most) ? i : most;
    return most;
}

static int has_issued(const MPIDI_thread_stats_t * s)
{
    for (int way = 0; way < MPIDI_STATS_WAYS; way++) {
        for (int kind = 0; kind < MPIDI_STATS_KINDS; kind++) {
            if (tsm_load(&s->issued[way][kind], TSM_RELAXED))
                return 1;
        }
    }
    return 0;
}

/* Threads that have issued operations, at least 1. One that came after another had ended is not counted
 * again. */
static int issuing_threads(void)
{
    int n = 0;

    for (MPIDI_thread_t * t = MPIDI_thread_first(); t; t = t->next)
        n += has_issued(&t->stats);
    return MPL_MAX(n, 1);
}

static MPIDI_hint_figures_t figures(void)
{
    const double main_path = MPIDI_stats_value("lock_acquired_main");
    const double posted = MPIDI_stats_value("issued_posted");
    const double delegated = MPIDI_stats_value("issued_delegated");

    return (MPIDI_hint_figures_t) {
        .issued = posted + delegated + MPIDI_stats_value("issued_direct"),
        .posted = posted,
        .delegated = delegated,
        .acquired = main_path + MPIDI_stats_value("lock_acquired_progress"),
        .busiest = (double) acquired(busiest_vci()),
        .contended = MPIDI_stats_value("lock_contended"),
        .crowded = MPIDI_stats_value("lock_crowded"),
        .bias = share(MPIDI_stats_value("monopolization_thread"),
                      MPIDI_stats_value("fair_score_thread")),
        .vain = MPIDI_stats_value("polls_unsuccessful"),
        .wasted = MPIDI_stats_value("polls_wasted"),
        .turns = MPIDI_stats_value("server_turns"),
        .idle = MPIDI_stats_value("server_idle"),
        .dangling = MPIDI_stats_value("dangling_average")
    };
}

static MPIDI_hint_facts_t facts(const char *lock)
{
    return (MPIDI_hint_facts_t) {
        .is_lock = MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCK,
        .is_lockq = MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCKQ ||
            MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCKQ_CHOSEN,
        .is_served = MPIDI_model.progress == MPIDI_PROGRESS_SERVER_KIND,
        .is_usc = MPIDI_model.progress == MPIDI_PROGRESS_USC_KIND,
        .has_lock = MPIDI_model_may_choose_lock(),
        .is_runtime = MPIDI_MODEL_CONFIGURED == MPIDI_MODEL_RUNTIME,
        .is_global = MPIDI_MODEL_CONFIGURED == MPIDI_MODEL_GLOBAL,
        .has_low = !strcmp(lock, "clh-lpw"),
        .vcis = MPIDI_global.n_vcis,
        .most_vcis = MPIDI_CH4_MAX_VCIS,
        .busiest_vci = busiest_vci(),
        .threads = issuing_threads()
    };
}

static void summarize(void)
{
    const MPIDI_hint_figures_t f = figures();
    const double polls = MPIDI_stats_value("polls");
    const char *model, *progress, *lock;
    char hint[HINT_BYTES];
    MPIDI_hint_facts_t k;

    MPIDI_model_names(&model, &progress, &lock);
    k = facts(lock);
    MPIDI_hint_write(MPIDI_hint_choose(&f, &k), &k, hint, sizeof(hint));
    printf("MPICH-TSM threads: rank %d: %s (progress: %s, lock: %s, VCIs: %d): %.0f operations, "
           "%.1f %% posted, %.1f %% by another thread; lock: %.0f acquisitions, %.1f %% contended, "
           "bias %.2f, left by %.0f polls; polls: %.0f, %.1f %% unsuccessful, %.1f %% of these wasted; "
           "dangling requests: %.1f on average; hint: %s\n", MPIR_Process.rank, model,
           progress, lock, MPIDI_global.n_vcis, f.issued, 100 * share(f.posted, f.issued),
           100 * share(f.delegated, f.issued), f.acquired, 100 * share(f.contended, f.acquired), f.bias,
           MPIDI_stats_value("lock_misses"), polls, 100 * share(f.vain, polls),
           100 * share(f.wasted, f.vain), f.dangling, hint);
    fflush(stdout);
}

int MPIDI_stats_start(void)
{
    MPIDI_stats_open();
    MPIDI_stats_register();
    return MPIDI_trace_open();
}

#else

#define ABSENT ": ignored, since this library was configured without --enable-thread-stats\n"

/* The settings ask for what this library has not. */
int MPIDI_stats_start(void)
{
    const char *trace = MPIR_CVAR_CH4_THREAD_TRACE;

    if (MPIR_CVAR_CH4_THREAD_SUMMARY && MPIR_Process.rank == 0)
        fprintf(stderr, "MPIR_CVAR_CH4_THREAD_SUMMARY=%d" ABSENT, MPIR_CVAR_CH4_THREAD_SUMMARY);
    if (trace && trace[0] && MPIR_Process.rank == 0)
        fprintf(stderr, "MPIR_CVAR_CH4_THREAD_TRACE=%s" ABSENT, trace);
    return MPI_SUCCESS;
}

#endif

void MPIDI_stats_stop(void)
{
#ifdef ENABLE_THREAD_STATS
    if (MPIR_CVAR_CH4_THREAD_SUMMARY > (MPIR_Process.rank != 0))
        summarize();
    MPIDI_trace_write();
    MPIDI_stats_close();
#endif
}

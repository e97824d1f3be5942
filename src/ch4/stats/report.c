/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "threads/model.h"
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

/* Shares above which the line has a hint. */
#define CONTENDED_SHARE 0.1
#define POSTED_SHARE 0.5
#define WASTED_SHARE 0.5
#define IDLE_SHARE 0.9
#define BIASED 2.0
#define MANY_DANGLING 1000

/* Fewer events than this are no reason for a hint. */
#define ENOUGH 1000

typedef struct {
    double acquired, contended, bias, issued, posted, delegated, polls, vain, wasted, dangling, turns,
        idle, misses;
} figures_t;

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static figures_t figures(void)
{
    const double main_path = MPIDI_stats_value("lock_acquired_main");
    const double posted = MPIDI_stats_value("issued_posted");
    const double delegated = MPIDI_stats_value("issued_delegated");

    return (figures_t) {
        .acquired = main_path + MPIDI_stats_value("lock_acquired_progress"),
        .contended = MPIDI_stats_value("lock_contended"),
        .bias = share(MPIDI_stats_value("monopolization_thread"),
                      MPIDI_stats_value("fair_score_thread")),
        .issued = posted + delegated + MPIDI_stats_value("issued_direct"),
        .posted = posted,
        .delegated = delegated,
        .polls = MPIDI_stats_value("polls"),
        .vain = MPIDI_stats_value("polls_unsuccessful"),
        .wasted = MPIDI_stats_value("polls_wasted"),
        .dangling = MPIDI_stats_value("dangling_average"),
        .turns = MPIDI_stats_value("server_turns"),
        .idle = MPIDI_stats_value("server_idle"),
        .misses = MPIDI_stats_value("lock_misses")
    };
}

/* The first hint that applies. csync has no lock to choose. More VCIs divide the threads only if the
 * program has more than one communicator. */
static const char *hint(const figures_t * f)
{
    const int waits = f->contended > ENOUGH && share(f->contended, f->acquired) > CONTENDED_SHARE;
    const int posts = f->posted + f->delegated > ENOUGH &&
        share(f->posted + f->delegated, f->issued) > POSTED_SHARE;
    const int served = MPIDI_model.progress == MPIDI_PROGRESS_SERVER_KIND;

    if (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCK && waits)
        return "threads wait for the lock: use lockq, or raise MPIR_CVAR_CH4_NUM_VCIS and give each "
            "thread a communicator";
    if (!served && posts)
        return "operations often find the VCI taken: raise MPIR_CVAR_CH4_NUM_VCIS and give each thread "
            "a communicator";
    if (f->wasted > ENOUGH && share(f->wasted, f->vain) > WASTED_SHARE)
        return "polls keep threads from the lock: use MPIR_CVAR_CH4_THREAD_PROGRESS=usc, or lockq";
    if (MPIDI_MODEL_LOCK != MPIDI_LOCK_COMBINING && waits && f->bias > BIASED)
        return MPIDI_MODEL_CONFIGURED == MPIDI_MODEL_RUNTIME ?
            "one thread keeps the lock: use a fair one, such as MPIR_CVAR_CH4_THREAD_LOCK=ticket" :
            "one thread keeps the lock: configure a fair one, such as --with-thread-lock=ticket";
    if (served && f->turns > ENOUGH && share(f->idle, f->turns) > IDLE_SHARE)
        return "the server thread is mostly idle: lockq needs no thread of its own";
    if (f->dangling > MANY_DANGLING)
        return "many completed requests wait for MPI_Wait or MPI_Test: complete them sooner";
    return "none";
}

static void summarize(void)
{
    const figures_t f = figures();
    const char *model, *progress, *lock;

    MPIDI_model_names(&model, &progress, &lock);
    printf("MPICH-TSM threads: rank %d: %s (progress: %s, lock: %s, VCIs: %d): %.0f operations, "
           "%.1f %% posted, %.1f %% by another thread; lock: %.0f acquisitions, %.1f %% contended, "
           "bias %.2f, left by %.0f polls; polls: %.0f, %.1f %% unsuccessful, %.1f %% wasted; "
           "dangling requests: %.1f on average; hint: %s\n", MPIR_Process.rank, model,
           progress, lock, MPIDI_global.n_vcis, f.issued, 100 * share(f.posted, f.issued),
           100 * share(f.delegated, f.issued), f.acquired,
           100 * share(f.contended, f.acquired), f.bias, f.misses, f.polls,
           100 * share(f.vain, f.polls), 100 * share(f.wasted, f.polls), f.dangling, hint(&f));
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

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "awaited.h"
#include "stack.h"
#include "watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_PROGRESS_TIMEOUT
      category    : CH4
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        When an MPI call has waited for this many seconds, the process prints once to stderr which
        threads wait in which calls and for what, with their stacks, and the state of every VCI, and
        continues. Uses a real-time signal. 0: never. At least 0.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#define NANO 1000000000u

/* Time between two looks at each VCI; their difference shows whether it is being polled. */
#define LOOK_AGAIN_NS (NANO / 10)

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int stop;                   /* under lock */
    int rank, vcis;
    uint64_t limit;
    MPIDI_watchdog_fill_t fill;
} dog;

static uint64_t oldest_wait(void)
{
    uint64_t oldest = UINT64_MAX;

    for (MPIDI_watched_t * r = MPIDI_watched_first(); r; r = r->next) {
        uint64_t since = MPIDI_watched_since(r);
        if (since && since < oldest)
            oldest = since;
    }
    return oldest;
}

/* MPICH's names of its own functions begin with MPID. */
static const char *user_name(const char *call)
{
    return call + (strncmp(call, "MPID_", 5) ? 0 : 5);
}

static double seconds(uint64_t ns)
{
    return (double) (int64_t) ns / NANO;
}

static void print_lock(FILE * out, int vci, uint64_t ns)
{
    MPIDI_watchdog_vci_t v = { 0 };

    if (vci == MPIDI_WATCHED_OTHER_LOCK) {
        fprintf(out, "waits for a lock inside MPI for %.1f s\n", seconds(ns));
        return;
    }
    dog.fill(vci, &v);
    fprintf(out, "waits for the lock of VCI %d (", vci);
    if (v.owner)
        fprintf(out, "held by thread %#lx", v.owner);
    else
        fprintf(out, "held by no thread now");
    fprintf(out, ") for %.1f s\n", seconds(ns));
}

/* Its call, and the lock if it waits for one now, in such a call or not. Returns 0 if it no longer
 * waits. */
static int print_wait(FILE * out, MPIDI_watched_t * r, uint64_t t, const char *prefix)
{
    const uint64_t since = MPIDI_watched_since(r);
    const uint64_t lock_since = tsm_load(&r->lock_since, TSM_ACQUIRE);
    const char *call = tsm_load(&r->call, TSM_RELAXED);

    if (!since || (!call && !lock_since))
        return 0;
    fprintf(out, "[%d]   thread %#lx (LWP %ld) ", dog.rank, tsm_load(&r->thread, TSM_RELAXED),
            tsm_load(&r->lwp, TSM_RELAXED));
    if (call)
        fprintf(out, "waits in %s%s for %.1f s\n", user_name(call) == call ? "" : "MPI_",
                user_name(call), seconds(t - since));
    if (call && lock_since)
        fputs(prefix, out);
    if (lock_since)
        print_lock(out, tsm_load(&r->lock, TSM_RELAXED), t - lock_since);
    return 1;
}

static void print_stack(FILE * out, MPIDI_watched_t * r, const char *prefix)
{
    if (MPIDI_stack_ask(tsm_load(&r->lwp, TSM_RELAXED))) {
        MPIDI_awaited_print(out, prefix);
        MPIDI_stack_print(out, prefix);
    } else {
        fprintf(out, "%sno stack\n", prefix);
    }
}

static void print_waits(FILE * out, uint64_t t, const char *prefix)
{
    for (MPIDI_watched_t * r = MPIDI_watched_first(); r; r = r->next) {
        if (print_wait(out, r, t, prefix))
            print_stack(out, r, prefix);
    }
}

/* The thread that holds a VCI all the time, if it is known and its stack is not printed as one that
 * waits. */
static void print_holder(FILE * out, unsigned long holder, const char *prefix)
{
    for (MPIDI_watched_t * r = MPIDI_watched_first(); r; r = r->next) {
        if (tsm_load(&r->used, TSM_ACQUIRE) && tsm_load(&r->thread, TSM_RELAXED) == holder &&
            !MPIDI_watched_since(r)) {
            fprintf(out, "%sheld by thread %#lx (LWP %ld):\n", prefix, holder,
                    tsm_load(&r->lwp, TSM_RELAXED));
            print_stack(out, r, prefix);
        }
    }
}

static void print_vci(FILE * out, int vci, const char *prefix)
{
    static const struct timespec again = {.tv_nsec = LOOK_AGAIN_NS };
    static const char *const queue[] = { "none", "not empty", "empty" };
    MPIDI_watchdog_vci_t a = { 0 }, b = { 0 };

    dog.fill(vci, &a);
    nanosleep(&again, NULL);
    dog.fill(vci, &b);
    fprintf(out, "[%d]   VCI %d: owner %#lx, then %#lx (depth %d), queue %s, then %s, "
            "sleepers %d, %s, polls %u (+%u in 0.1 s)\n", dog.rank, vci, a.owner, b.owner, b.depth,
            queue[a.queue_empty + 1], queue[b.queue_empty + 1], b.sleepers,
            b.is_served ? "served" : "no server", b.polls, b.polls - a.polls);
    if (b.owner && b.owner == a.owner && b.polls == a.polls)
        print_holder(out, b.owner, prefix);
}

/* One write, so that the reports of several processes stay apart. */
static void report(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    char prefix[32];

    if (!out)
        return;
    snprintf(prefix, sizeof(prefix), "[%d]     ", dog.rank);
    fprintf(out, "[%d] an MPI call has waited for more than MPIR_CVAR_PROGRESS_TIMEOUT=%d s:\n",
            dog.rank, (int) (dog.limit / NANO));
    print_waits(out, MPIDI_watched_now(), prefix);
    for (int vci = 0; vci < dog.vcis; vci++)
        print_vci(out, vci, prefix);
    fclose(out);
    fputs(text, stderr);
    fflush(stderr);
    (free) (text);
}

/* Sleeps for a second. Returns 1 at once when the watchdog has to stop. */
static int doze(void)
{
    struct timespec until;
    int stop;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    pthread_mutex_lock(&dog.lock);
    while (!dog.stop && pthread_cond_timedwait(&dog.wake, &dog.lock, &until) == 0);
    stop = dog.stop;
    pthread_mutex_unlock(&dog.lock);
    return stop;
}

static void *watch(void *unused)
{
    (void) unused;
    while (!doze()) {
        uint64_t oldest = oldest_wait(), t = MPIDI_watched_now();
        /* a wait may have begun after the clock was read */
        if (oldest < t && t - oldest >= dog.limit) {
            report();
            break;
        }
    }
    return NULL;
}

/* Signals are for the program's threads. */
static int start_thread(void)
{
    sigset_t all, old;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&dog.thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err;
}

int MPIDI_watchdog_start(int rank, int vcis, MPIDI_watchdog_fill_t fill)
{
    pthread_condattr_t attr;
    int mpi_errno = MPI_SUCCESS, err;

    if (MPIR_CVAR_PROGRESS_TIMEOUT == 0)
        return MPI_SUCCESS;
    dog.rank = rank;
    dog.vcis = vcis;
    dog.fill = fill;
    dog.limit = (uint64_t) MPIR_CVAR_PROGRESS_TIMEOUT * NANO;
    dog.stop = 0;
    pthread_mutex_init(&dog.lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&dog.wake, &attr);
    pthread_condattr_destroy(&attr);
    MPIDI_stack_open(MPIDI_awaited_note);
    err = start_thread();
    if (err)
        fprintf(stderr, "MPIR_CVAR_PROGRESS_TIMEOUT=%d: cannot start the thread that watches: %s\n",
                MPIR_CVAR_PROGRESS_TIMEOUT, strerror(err));
    MPIR_ERR_CHKANDJUMP(err, mpi_errno, MPI_ERR_OTHER, "**other");
    MPIDI_watchdog_on = 1;

  fn_exit:
    return mpi_errno;
  fn_fail:
    MPIDI_stack_close();
    pthread_cond_destroy(&dog.wake);
    pthread_mutex_destroy(&dog.lock);
    goto fn_exit;
}

void MPIDI_watchdog_driver(void)
{
    if (MPIDI_watchdog_on) {
        MPIDI_watchdog_register();
        MPIDI_stack_let_in();
    }
}

void MPIDI_watchdog_stop(void)
{
    if (!MPIDI_watchdog_on)
        return;
    MPIDI_watchdog_on = 0;
    pthread_mutex_lock(&dog.lock);
    dog.stop = 1;
    pthread_cond_signal(&dog.wake);
    pthread_mutex_unlock(&dog.lock);
    pthread_join(dog.thread, NULL);
    MPIDI_stack_close();
    pthread_cond_destroy(&dog.wake);
    pthread_mutex_destroy(&dog.lock);
}

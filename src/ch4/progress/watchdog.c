/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "stack.h"
#include "watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

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
        When an MPI call has waited for so many seconds, the process prints once to stderr which
        threads wait in which calls, with their stacks, and the state of every VCI, and goes on
        waiting. Takes a real-time signal. 0: never.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#define NANO 1000000000u

/* Time between two looks at each VCI; their difference shows whether it is being polled. */
#define LOOK_AGAIN_NS (NANO / 10)

typedef struct record {
    struct record *next;        /* written before the record is linked */
    TSM_ATOMIC(int) used;       /* by a thread */
    TSM_ATOMIC(uint64_t) since; /* when a poll of the wait first found nothing; 0: not yet */
    TSM_ATOMIC(const char *) call;
    TSM_ATOMIC(unsigned long) thread;
    TSM_ATOMIC(long) lwp;
    const char *inside;         /* the call it has entered; only the thread itself reads it */
} record_t;

int MPIDI_watchdog_on;

static TSM_ATOMIC(record_t *) records;
static __thread record_t *mine;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int stop;                   /* under lock */
    int rank, vcis;
    uint64_t limit;
    MPIDI_watchdog_fill_t fill;
} dog;

/* --- the threads that wait ------------------------------------------------ */

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * NANO + (uint64_t) t.tv_nsec;
}

static long lwp_of_self(void)
{
#ifdef __linux__
    return (long) syscall(SYS_gettid);
#else
    return 0;
#endif
}

static void record_exit(void *arg)
{
    record_t *r = arg;

    mine = NULL;
    r->inside = NULL;
    tsm_store(&r->since, 0, TSM_RELAXED);
    tsm_store(&r->used, 0, TSM_RELEASE);
}

static void make_exit_key(void)
{
    int err = pthread_key_create(&exit_key, record_exit);
    MPIR_Assert(err == 0);
}

static record_t *reused_record(void)
{
    for (record_t * r = tsm_load(&records, TSM_ACQUIRE); r; r = r->next) {
        int unused = 0;
        if (tsm_cas(&r->used, &unused, 1, TSM_ACQUIRE, TSM_RELAXED))
            return r;
    }
    return NULL;
}

/* Returns NULL without memory; then the watchdog does not see the thread's waits. */
static record_t *new_record(void)
{
    record_t *r = reused_record();

    pthread_once(&exit_key_once, make_exit_key);
    if (!r) {
        /* not MPL's tracing allocator: records outlive MPI_Finalize */
        r = calloc(1, sizeof(*r));
        if (!r)
            return NULL;
        tsm_store(&r->used, 1, TSM_RELAXED);
        r->next = tsm_load(&records, TSM_RELAXED);
        while (!tsm_cas(&records, &r->next, r, TSM_RELEASE, TSM_RELAXED));
    }
    tsm_store(&r->thread, (unsigned long) pthread_self(), TSM_RELAXED);
    tsm_store(&r->lwp, lwp_of_self(), TSM_RELAXED);
    pthread_setspecific(exit_key, r);
    return r;
}

void MPIDI_watchdog_clear(const char *call)
{
    if (!mine && !(mine = new_record()))
        return;
    tsm_store(&mine->since, 0, TSM_RELAXED);
    tsm_store(&mine->call, call ? call : mine->inside, TSM_RELAXED);
    if (!call)
        MPIDI_watchdog_mark();
}

void MPIDI_watchdog_inside(const char *call)
{
    if (mine || (mine = new_record())) {
        mine->inside = call;
        MPIDI_watchdog_clear(NULL);
    }
}

void MPIDI_watchdog_mark(void)
{
    if (mine && tsm_load(&mine->call, TSM_RELAXED) && !tsm_load(&mine->since, TSM_RELAXED))
        tsm_store(&mine->since, now(), TSM_RELEASE);
}

/* --- the watchdog's thread ------------------------------------------------ */

static uint64_t oldest_wait(void)
{
    uint64_t oldest = UINT64_MAX;

    for (record_t * r = tsm_load(&records, TSM_ACQUIRE); r; r = r->next) {
        uint64_t since = tsm_load(&r->since, TSM_ACQUIRE);
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

static void print_waits(FILE * out, uint64_t t)
{
    char prefix[32];

    for (record_t * r = tsm_load(&records, TSM_ACQUIRE); r; r = r->next) {
        uint64_t since = tsm_load(&r->since, TSM_ACQUIRE);
        const char *call = tsm_load(&r->call, TSM_RELAXED);
        if (!since || !call)
            continue;
        fprintf(out, "[%d]   thread %#lx (LWP %ld) waits in %s%s for %.1f s\n", dog.rank,
                tsm_load(&r->thread, TSM_RELAXED), tsm_load(&r->lwp, TSM_RELAXED),
                user_name(call) == call ? "" : "MPI_", user_name(call),
                (double) (int64_t) (t - since) / NANO);
        snprintf(prefix, sizeof(prefix), "[%d]     ", dog.rank);
        MPIDI_stack_print(out, tsm_load(&r->lwp, TSM_RELAXED), prefix);
    }
}

static void print_vci(FILE * out, int vci)
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
}

/* One write, so that the reports of several processes stay apart. */
static void report(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return;
    fprintf(out, "[%d] an MPI call has waited for more than MPIR_CVAR_PROGRESS_TIMEOUT=%d s:\n",
            dog.rank, (int) (dog.limit / NANO));
    print_waits(out, now());
    for (int vci = 0; vci < dog.vcis; vci++)
        print_vci(out, vci);
    fclose(out);
    fputs(text, stderr);
    fflush(stderr);
    free(text);
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
        uint64_t oldest = oldest_wait(), t = now();
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
    int mpi_errno = MPI_SUCCESS;

    if (MPIR_CVAR_PROGRESS_TIMEOUT <= 0)
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
    MPIDI_stack_open();
    MPIR_ERR_CHKANDJUMP(start_thread(), mpi_errno, MPI_ERR_OTHER, "**nomem");
    MPIDI_watchdog_on = 1;

  fn_exit:
    return mpi_errno;
  fn_fail:
    MPIDI_stack_close();
    pthread_cond_destroy(&dog.wake);
    pthread_mutex_destroy(&dog.lock);
    goto fn_exit;
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

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Contention whose counts are known. A signal stops one thread of process 0 inside MPI_Irecv, or
 * inside MPI_Test, again and again until it holds the VCI there. Two more threads then call MPI_Irecv,
 * and wait for the lock, or post, as the model has it. The performance variables must say so, and after
 * the first thread has gone on and left MPI, what followed: with per-vci, for example, one acquisition
 * between two threads, fair score 1/2, and if the first thread was in a poll that found nothing, a
 * wasted poll. Each thread makes one more call at most, so every number is known. With more threads
 * than processors (forced) and a FIFO lock, each of the two yields before it queues. In every other
 * round the first thread moves to another processor while it holds the VCI, where it can: it had got
 * the VCI from that of the other two, or gets it from another one and moves to theirs. -n rounds. */
#define _GNU_SOURCE             /* CPU_SET */
#include "mt.h"
#include "pvars.h"

#define CALLS 500               /* of the stopped thread, before it cancels them and begins again */
#define TRIES 2000              /* of a round */
#define PATIENCE_US 20000       /* for which the two threads get time to wait */
#define TAG 77

enum { VICTIM, FIRST, SECOND, THREADS };

static const char *model;
static int polls;               /* the victim polls */
static int gives_way;           /* a thread yields before it queues for the lock */
static atomic_int calls, stop, stopped, go_on, begin, ended;
static atomic_int cancels;      /* the victim is in no call of those above */
static int came_late;           /* the signal met it there */
static MPI_Request request[CALLS + THREADS];
static pthread_t victim;
static int cpu_of[2];           /* two that the process may use, or one twice */
static int took_on, went_to;    /* the victim's, before and behind its acquisition; others: cpu_of[0] */

static int model_is(const char *name)
{
    return !strcmp(model, name);
}

static void find_cpus(void)
{
    cpu_set_t all;
    int n = 0;

    MT_CHECK(sched_getaffinity(0, sizeof(all), &all) == 0, "sched_getaffinity fails");
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++) {
        if (CPU_ISSET(cpu, &all))
            cpu_of[n++] = cpu;
    }
    cpu_of[1] = n < 2 ? cpu_of[0] : cpu_of[1];
}

/* The lowest processor of its core. */
static int core_of(int cpu)
{
    char path[96];
    int core = cpu;
    FILE *f;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    f = fopen(path, "r");
    if (f && fscanf(f, "%d", &core) != 1)
        core = cpu;
    if (f)
        fclose(f);
    return core;
}

static void move_to(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    MT_CHECK(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity fails");
}

static void on_signal(int sig)
{
    int saved = errno;

    (void) sig;
    came_late = atomic_load(&cancels);
    move_to(went_to);
    atomic_store(&stopped, 1);
    while (!atomic_load(&go_on))
        usleep(100);
    errno = saved;
}

static void receive(MPI_Request * r)
{
    MT_OK(MPI_Irecv(NULL, 0, MPI_INT, 1, TAG, MPI_COMM_WORLD, r));
}

static void cancel(int n)
{
    for (int i = 0; i < n; i++) {
        if (request[i] != MPI_REQUEST_NULL) {
            MT_OK(MPI_Cancel(&request[i]));
            MT_OK(MPI_Wait(&request[i], MPI_STATUS_IGNORE));
        }
    }
}

/* It is always in calls, so that a signal that is late on a busy machine meets one, too. */
static void *be_stopped(void *arg)
{
    int flag, n = 0;

    (void) arg;
    move_to(took_on);
    if (polls)
        receive(&request[n++]);
    while (!atomic_load(&stop)) {
        if (polls) {
            MT_OK(MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE));
        } else if (n < CALLS) {
            receive(&request[n++]);
        } else {
            atomic_store(&cancels, 1);
            cancel(CALLS);
            atomic_store(&cancels, 0);
            n = 0;
        }
        atomic_store(&calls, n + 1);
    }
    atomic_store(&calls, n);
    return NULL;
}

static void *call_once(void *arg)
{
    move_to(cpu_of[0]);
    while (!atomic_load(&begin))
        sched_yield();
    receive(&request[CALLS + *(int *) arg]);
    atomic_fetch_add(&ended, 1);
    return NULL;
}

/* Both wait, or have posted, while the victim holds the VCI. */
static int is_held(pv_set_t * set)
{
    for (int us = 0; us < PATIENCE_US && atomic_load(&ended) < 2; us += 100) {
        if (pv(set, "lock_waiting") == 2)
            return 1;
        usleep(100);
    }
    return pv(set, "issued_posted") == 2;
}

/* The two operations of a set that began before they were issued. */
static void check_issued(pv_set_t * set)
{
    const double delegated = pv(set, "issued_delegated");

    if (model_is("lockq")) {
        PV_IS(set, "issued_posted", 2);
        PV_IS(set, "queue_taken", 2);
        PV_IS(set, "combined", 2);
        PV_IS(set, "combined_tenures", 1);
        MT_CHECK(pv_element(set, "combined_histogram", 1) == 1, "no tenure of two operations");
        MT_CHECK(pv(set, "post_time") <= 2, "%g posts timed", pv(set, "post_time"));
        PV_IS(set, "lock_waits_main", 0);
        PV_IS(set, "queue_depth", 0);
        return;
    }
    PV_IS(set, "issued_posted", 0);
    PV_IS(set, "combined", delegated);
    MT_CHECK(delegated <= (model_is("csync") ? 2 : model_is("hybcomb") ? 1 : 0),
             "%g operations delegated", delegated);
}

/* What came after the victim's release; it was in one call, of which the poll may be counted yet or
 * not. Returns 0 if even its acquisition was not counted yet when the set began. */
static int check_after(pv_set_t * set, int *wasted)
{
    PV_IS(set, "lock_waiting", 0);
    if (!model_is("lockq") &&
        (pv(set, "lock_acquired_main") > 2 || pv(set, "lock_acquired_progress") > 0))
        return 0;
    PV_IS(set, "polls_wasted", pv(set, "polls_unsuccessful"));
    MT_CHECK(pv(set, "polls") <= polls, "%g polls", pv(set, "polls"));
    *wasted += (int) pv(set, "polls_wasted");
    if (!model_is("per-vci") && !model_is("hmcs-usc"))
        return 1;
    PV_IS(set, "lock_acquired_main", 2);
    PV_IS(set, "lock_acquired_progress", 0);
    PV_IS(set, "lock_contended", 1);
    PV_IS(set, "lock_competitors", 2);
    MT_CHECK(pv(set, "lock_crowded") <= 1, "%g acquisitions crowded", pv(set, "lock_crowded"));
    PV_IS(set, "monopolization_thread", 0);
    PV_IS(set, "fair_score_thread", 0.5);
    /* both threads are on one core: that from which the victim got the VCI, or another one */
    PV_IS(set, "monopolization_core", core_of(took_on) == core_of(cpu_of[0]));
    PV_IS(set, "fair_score_core", core_of(took_on) == core_of(cpu_of[0]));
    MT_CHECK(pv(set, "lock_waiting_max") >= 2, "the most is %g", pv(set, "lock_waiting_max"));
    return 1;
}

/* Returns whether the victim held the VCI, and all is known of what followed. */
static int try_once(int *wasted)
{
    int id[2] = { 0, 1 }, held;
    pthread_t other[2];
    pv_set_t *before, *after = NULL;

    for (int i = 0; i < CALLS + THREADS; i++)
        request[i] = MPI_REQUEST_NULL;
    calls = stop = stopped = go_on = begin = ended = cancels = 0;
    MT_CHECK(!pthread_create(&victim, NULL, be_stopped, NULL), "cannot create a thread");
    for (int i = 0; i < 2; i++)
        MT_CHECK(!pthread_create(&other[i], NULL, call_once, &id[i]), "cannot create a thread");
    while (atomic_load(&calls) < (polls ? 1 : 10))
        sched_yield();
    pthread_kill(victim, SIGUSR1);
    while (!atomic_load(&stopped))
        sched_yield();
    atomic_store(&stop, 1);
    before = pv_start();
    atomic_store(&begin, 1);
    held = is_held(before) && !came_late;
    if (held)
        after = pv_start();
    atomic_store(&go_on, 1);
    pthread_join(victim, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(other[i], NULL);
    if (held && gives_way)
        MT_CHECK(pv(before, "yields") >= 2, "%g yields of two threads that wait for the lock",
                 pv(before, "yields"));
    if (held) {
        check_issued(before);
        held = check_after(after, wasted);
        pv_free(after);
    }
    pv_free(before);
    cancel(CALLS + THREADS);
    return held;
}

/* Polls until one was wasted: the signal may stop the thread behind the count. */
static void try_round(int from, int to)
{
    int held = 0, wasted = 0, n = 0;

    took_on = cpu_of[from];
    went_to = cpu_of[to];
    for (; n < TRIES && !(held && (!polls || wasted)); n++)
        held += try_once(&wasted);
    MT_CHECK(n < TRIES, "of %d times, the thread was stopped %d times with the VCI held, and in %d "
             "polls", n, held, wasted);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal,.sa_flags = SA_RESTART };

    mt_init(argc, argv, 1, 5);
    model = getenv("MT_MODEL");
    MT_CHECK(model, "MT_MODEL names the model");
    gives_way = model_is("per-vci") && getenv("MPIR_CVAR_CH4_OVERSUBSCRIBED") &&
        getenv("MPIR_CVAR_CH4_THREAD_LOCK");
    if (mt.rank == 0) {
        pv_find();
        find_cpus();
        sigaction(SIGUSR1, &action, NULL);
        for (long i = 0; i < mt.iters; i++) {
            polls = i % 2 && !model_is("lockq");
            try_round(i / 2 % 2, (i + i / 2) % 2);
        }
        MT_OK(MPI_T_finalize());
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    return mt_finish();
}

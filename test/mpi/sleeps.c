/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads that have a processor each do not sleep at once when they wait inside MPI. Two threads
 * of process 0 send a token to and fro; process 1 is outside MPI, and so is the main thread of
 * process 0. Each round begins with a stall: one thread is away for a while, so that the other has
 * good reason to sleep. After it, there must be stretches of many trips in which neither thread
 * gives up its processor voluntarily (getrusage counts such switches). On a loaded machine threads
 * lose their processors, waits take long, and some sleeps are right; so the test asks only for a few
 * stretches without any sleep among many, which need both threads to run at the same time for some
 * microseconds. A library that finds more threads than processors, or never forgets a stall, has
 * none.
 *
 * MT_BIND=before  the first thread is bound to a processor before MPI_Init, and the two threads to
 *                 one each, as OpenMP does: two processors, not one
 * MT_BIND=after   they are bound to one each after MPI_Init
 * else            nothing is bound */
#define _GNU_SOURCE
#include "mt.h"
#include <sched.h>
#include <sys/resource.h>

#define TRIPS 50                /* in a stretch */
#define STRETCHES 4000          /* in a round, at most */
#define ENOUGH 5                /* stretches without a sleep */
#define STOP (-1)

static int cpu[2], cpus, bound;
static atomic_long slept[2][STRETCHES];
static atomic_int finished[2];  /* stretches whose count is known */

static void bind_to(int c)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(c, &set);
    MT_CHECK(sched_setaffinity(0, sizeof(set), &set) == 0, "cannot bind to processor %d", c);
}

static void find_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return;
    for (int c = 0; c < CPU_SETSIZE && cpus < 2; c++) {
        if (CPU_ISSET(c, &set))
            cpu[cpus++] = c;
    }
}

static long sleeps_so_far(void)
{
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw;
}

/* A trip is a message and its answer. Returns the token. */
static int trip(int id, int token)
{
    int in = -2;

    if (id == 0)
        MT_OK(MPI_Send(&token, 1, MPI_INT, mt.rank, 1, MPI_COMM_WORLD));
    MT_OK(MPI_Recv(&in, 1, MPI_INT, mt.rank, id, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (id == 1)
        MT_OK(MPI_Send(&in, 1, MPI_INT, mt.rank, 0, MPI_COMM_WORLD));
    MT_CHECK(id == 1 || in == token, "the token is %d instead of %d", in, token);
    return in;
}

static int clean_stretches(void)
{
    int a = atomic_load(&finished[0]), b = atomic_load(&finished[1]), n = 0;

    for (int i = 0; i < (a < b ? a : b); i++)
        n += (atomic_load(&slept[0][i]) + atomic_load(&slept[1][i]) == 0);
    return n;
}

/* One stretch; 0 if thread 0 has sent the last one. */
static int stretch(int id, int n, int last)
{
    long before = sleeps_so_far();
    int more = trip(id, last ? STOP : n) != STOP;

    for (int i = 1; more && i < TRIPS; i++)
        trip(id, n);
    atomic_store(&slept[id][n], sleeps_so_far() - before);
    atomic_store(&finished[id], n + more);
    return more;
}

static void check(long round)
{
    long all = 0;
    int n = atomic_load(&finished[0]);

    for (int i = 0; i < n; i++)
        all += atomic_load(&slept[0][i]) + atomic_load(&slept[1][i]);
    MT_CHECK(clean_stretches() >= ENOUGH, "round %ld: two threads slept %ld times in %d waits; %d "
             "of %d stretches of %d trips were without a sleep", round, all, 2 * n * TRIPS,
             clean_stretches(), n, TRIPS);
}

/* The stall is longer than any wait spins. */
static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    if (bound)
        bind_to(cpu[t->id]);
    for (long round = 0; round < mt.iters; round++) {
        trip(t->id, 0);
        atomic_store(&finished[t->id], 0);
        trip(t->id, 0);
        if (t->id == round % 2)
            usleep(round == 0 ? 1000000 : 100000);
        for (int n = 0; stretch(t->id, n, n == STRETCHES - 1 || clean_stretches() >= ENOUGH); n++)
            continue;
        if (t->id == 0)
            check(round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *when = getenv("MT_BIND");
    int pid;

    find_cpus();
    bound = when && cpus == 2;
    if (bound && !strcmp(when, "before"))
        bind_to(cpu[0]);
    mt_init(argc, argv, 2, 4);
    MT_CHECK(mt.size == 2 && mt.threads == 2, "run with 2 processes and 2 threads");
    if (mt.rank == 1) {
        mt_stay_outside();
    } else {
        pid = mt_peer_outside();
        if (cpus == 2)          /* with one processor sleeping is right */
            mt_run(2, worker);
        else
            printf("left out: there is one processor only\n");
        mt_call_back(pid);
    }
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Processes with one thread that share one processor, below MPI_THREAD_MULTIPLE: one that waits must
 * offer the processor to the others at every level. Each kind of wait takes turns with process 0. What
 * a process waits for comes only when others have had the processor, so it must have offered that about
 * once a turn; one that polls to the end of its time slice offers it never. */
#define _GNU_SOURCE
#include "mt.h"
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define ROUNDS 500
#define LOCKS 250

static atomic_long yields;

/* Takes the place of libc's, also for the library. */
int sched_yield(void)
{
    atomic_fetch_add_explicit(&yields, 1, memory_order_relaxed);
    return (int) syscall(SYS_sched_yield);
}

/* How often this process has offered the processor: yields, and sleeps, which the kernel counts. */
static long offers(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return atomic_load(&yields) + usage.ru_nvcsw;
}

static void must_have_offered(long since, int turns, const char *what)
{
    const long n = offers() - since;

    MT_CHECK(n >= turns / 2, "%s: %d turns, the processor was offered %ld times", what, turns, n);
}

/* All on the first processor of the mask. */
static void bind_process(void)
{
    cpu_set_t set, one;
    int k = 0;

    if (sched_getaffinity(0, sizeof(set), &set))
        return;
    while (!CPU_ISSET(k, &set))
        k++;
    CPU_ZERO(&one);
    CPU_SET(k, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void wait_in_recv(int *value, int peer)
{
    MT_OK(MPI_Recv(value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void wait_in_test(int *value, int peer)
{
    MPI_Request request;
    int flag = 0;

    MT_OK(MPI_Irecv(value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request));
    while (!flag)
        MT_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
}

static void wait_in_iprobe(int *value, int peer)
{
    int flag = 0;

    while (!flag)
        MT_OK(MPI_Iprobe(peer, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    wait_in_recv(value, peer);
}

static void wait_in_probe(int *value, int peer)
{
    MT_OK(MPI_Probe(peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    wait_in_recv(value, peer);
}

typedef void wait_function(int *value, int peer);

static void take_turns(wait_function *wait, const char *what)
{
    const long before = offers();

    for (int i = 0; i < ROUNDS; i++) {
        for (int peer = 1; mt.rank == 0 && peer < mt.size; peer++) {
            int value = i, back = -1;
            MT_OK(MPI_Send(&value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD));
            wait(&back, peer);
            MT_CHECK(back == i + peer, "%d instead of %d", back, i + peer);
        }
        if (mt.rank != 0) {
            int value = -1;
            wait(&value, 0);
            value += mt.rank;
            MT_OK(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
        }
    }
    must_have_offered(before, ROUNDS, what);
}

/* Passive one-sided operations, which wait in loops of their own. */
static void lock_in_turn(void)
{
    int counter = 0;
    long before;
    MPI_Win win;

    MT_OK(MPI_Win_create(&counter, sizeof(counter), sizeof(counter), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &win));
    before = offers();
    for (int i = 0; i < LOCKS; i++) {
        int one = 1;
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
        MT_OK(MPI_Win_unlock(0, win));
    }
    if (mt.rank != 0)           /* process 0 may find its lock free */
        must_have_offered(before, LOCKS, "MPI_Win_lock");
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_CHECK(mt.rank != 0 || counter == mt.size * LOCKS, "%d counted", counter);
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED };
    int provided, n = argc > 1 ? atoi(argv[1]) : 0;

    bind_process();
    MT_OK(MPI_Init_thread(&argc, &argv, levels[n], &provided));
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    MT_OK(MPI_Comm_size(MPI_COMM_WORLD, &mt.size));
    take_turns(wait_in_recv, "MPI_Recv");
    take_turns(wait_in_probe, "MPI_Probe");
    take_turns(wait_in_iprobe, "MPI_Iprobe");
    take_turns(wait_in_test, "MPI_Test");
    lock_in_turn();
    return mt_finish();
}

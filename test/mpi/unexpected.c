/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages that arrive before their receives. With more threads than processors, a thread that takes
 * them in while it waits for something else must let the threads run that will post the receives;
 * else an unlimited sender fills the memory. Here one thread takes in all of them, and the test
 * counts how often the library yields meanwhile. Then they are received, in order. Messages
 * that the thread takes in for itself and then receives are no reason to yield. Run it with
 * MPIR_CVAR_CH4_OVERSUBSCRIBED=1: the other threads are outside MPI and want no processor. */
#define _GNU_SOURCE             /* processor sets */
#include "mt.h"

#include <sched.h>
#include <sys/syscall.h>

#define EARLY 1
#define LAST 2
#define FEW 3                   /* fewer than the library takes in before it yields */
#define MESSAGES_PER_YIELD 50   /* at most; a library that yields only when nothing comes, or not at
                                 * all, is far above */

static _Thread_local long yields;
static pthread_barrier_t all_known, done;

/* In place of the C library's, for libmpi as well. */
int sched_yield(void)
{
    yields++;
    return (int) syscall(SYS_sched_yield);
}

static void send_all(void)
{
    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Send(&i, 1, MPI_LONG, 1, EARLY, MPI_COMM_WORLD));
    MT_OK(MPI_Send(NULL, 0, MPI_LONG, 1, LAST, MPI_COMM_WORLD));
}

static void take_in(void)
{
    long before = yields;
    MT_OK(MPI_Recv(NULL, 0, MPI_LONG, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    long n = yields - before;
    MT_CHECK(n >= mt.iters / MESSAGES_PER_YIELD, "%ld messages taken in, processor offered %ld times",
             mt.iters, n);
}

static void receive_all(void)
{
    for (long i = 0, got; i < mt.iters; i++) {
        MT_OK(MPI_Recv(&got, 1, MPI_LONG, 0, EARLY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_CHECK(got == i, "message %ld in place of %ld", got, i);
    }
}

/* A few messages to this process at a time, all there before the library looks for them. */
static void stream_to_self(void)
{
    long rounds = mt.iters / 4, before = yields, got;

    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < FEW; i++)
            MT_OK(MPI_Send(&r, 1, MPI_LONG, mt.rank, EARLY, MPI_COMM_WORLD));
        MT_OK(MPI_Send(NULL, 0, MPI_LONG, mt.rank, LAST, MPI_COMM_WORLD));
        MT_OK(MPI_Recv(NULL, 0, MPI_LONG, mt.rank, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < FEW; i++) {
            MT_OK(MPI_Recv(&got, 1, MPI_LONG, mt.rank, EARLY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MT_CHECK(got == r, "message of round %ld in round %ld", got, r);
        }
    }
    MT_CHECK(yields - before <= rounds / 50, "%ld rounds of messages to oneself, processor offered "
             "%ld times", rounds, yields - before);
}

/* All threads call MPI once, so that the library knows of them; all but the first then wait outside
 * of it. */
static void *receiver(void *arg)
{
    const mt_thread_t *t = arg;
    int flag;

    MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, LAST + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    pthread_barrier_wait(&all_known);
    if (t->id == 0) {
        MT_OK(MPI_Send(NULL, 0, MPI_LONG, 0, LAST, MPI_COMM_WORLD));
        take_in();
        receive_all();
        stream_to_self();
    }
    pthread_barrier_wait(&done);
    return NULL;
}

/* Before MPI counts them: one processor for this process, so that any two threads are too many. */
static void bind(void)
{
    cpu_set_t all, one;
    int cpu = 0;

    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(all), &all) == 0) {
        for (int skip = getpid() % CPU_COUNT(&all); !CPU_ISSET(cpu, &all) || skip-- > 0; cpu++);
        CPU_SET(cpu, &one);
    }
    if (sched_setaffinity(0, sizeof(one), &one)) {
        perror("sched_setaffinity");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    bind();
    mt_init(argc, argv, 4, 4000);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    if (mt.rank == 0) {
        MT_OK(MPI_Recv(NULL, 0, MPI_LONG, 1, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        send_all();
    } else {
        pthread_barrier_init(&all_known, NULL, (unsigned) mt.threads);
        pthread_barrier_init(&done, NULL, (unsigned) mt.threads);
        mt_run(mt.threads, receiver);
    }
    return mt_finish();
}

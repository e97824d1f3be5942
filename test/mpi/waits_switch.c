/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads that wait in MPI_Waitany and MPI_Waitsome sleep until their own message comes, as in
 * MPI_Wait: a message for one of them does not wake the others. Several threads of process 0 wait, and
 * process 1 sends one message after the other, with a pause before each in which all threads fall
 * asleep. What is compared is how often the process gives up a processor voluntarily (getrusage). On a
 * loaded machine some threads sleep more often, in one kind of call as in the other; so all kinds take
 * turns, and of each the turn with the fewest switches counts. -n turns, -t threads. */
#include "mt.h"
#include <limits.h>
#include <sys/resource.h>

#define WAITS 20                /* of each thread, in each turn of a kind */
#define PAUSE_USEC 3000

enum { WAIT, WAITANY, WAITSOME, KINDS };
static const char *const names[KINDS] = { "MPI_Wait", "MPI_Waitany", "MPI_Waitsome" };
static int kind;

static void wait_for(MPI_Request * r)
{
    int index = 0, n = 1;

    if (kind == WAIT)
        MT_OK(MPI_Wait(r, MPI_STATUS_IGNORE));
    else if (kind == WAITANY)
        MT_OK(MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE));
    else
        MT_OK(MPI_Waitsome(1, r, &n, &index, MPI_STATUSES_IGNORE));
    MT_CHECK(index == 0 && n == 1, "%s: request %d, %d complete", names[kind], index, n);
}

static void *waiter(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Request r;
    int in;

    for (int i = 0; i < WAITS; i++) {
        MT_OK(MPI_Irecv(&in, 1, MPI_INT, 1, t->id, MPI_COMM_WORLD, &r));
        wait_for(&r);
        MT_CHECK(in == i, "%s: message %d has %d", names[kind], i, in);
    }
    return NULL;
}

static void send_slowly(void)
{
    for (int i = 0; i < WAITS; i++) {
        for (int tag = 0; tag < mt.threads; tag++) {
            usleep(PAUSE_USEC);
            MT_OK(MPI_Send(&i, 1, MPI_INT, 0, tag, MPI_COMM_WORLD));
        }
    }
}

static long switches(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return u.ru_nvcsw;
}

static long turn(void)
{
    long before = switches();

    if (mt.rank == 0)
        mt_run(mt.threads, waiter);
    else
        send_slowly();
    return switches() - before;
}

int main(int argc, char **argv)
{
    long least[KINDS] = { LONG_MAX, LONG_MAX, LONG_MAX };

    mt_init(argc, argv, 8, 2);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (long i = 0; i < mt.iters; i++) {
        for (kind = 0; kind < KINDS; kind++) {
            long n;
            MT_OK(MPI_Barrier(MPI_COMM_WORLD));
            n = turn();
            if (n < least[kind])
                least[kind] = n;
        }
    }
    for (kind = WAITANY; kind < KINDS && mt.rank == 0; kind++)
        MT_CHECK(least[kind] <= 2 * least[WAIT] + WAITS * mt.threads,
                 "%s: %ld switches in %d waits, but %ld with MPI_Wait", names[kind], least[kind],
                 WAITS * mt.threads, least[WAIT]);
    return mt_finish();
}

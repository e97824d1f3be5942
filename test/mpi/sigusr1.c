/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* SIGUSR1, which mpirun sends if a process has failed, is the program's, too. Rank 0 has a handler of
 * its own, which MPI_Init leaves as it is: it gets what sigqueue sends with the signal. The others have
 * none, and live on. Then each thread raises the signal before each message. MPICH had two threads ask
 * mpirun at once which processes have failed; each might take the other's answer. */
#include "mt.h"

#include <signal.h>

#define VALUE 4711

static volatile sig_atomic_t value;

static void take_value(int sig, siginfo_t * info, void *context)
{
    if (info->si_code == SI_QUEUE)
        value = info->si_value.sival_int;
}

static void set_handler(void)
{
    struct sigaction action = {.sa_sigaction = take_value,.sa_flags = SA_SIGINFO };
    MT_CHECK(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
}

static void check_handler(void)
{
    struct sigaction now;
    union sigval sent = {.sival_int = VALUE };
    MT_CHECK(sigaction(SIGUSR1, NULL, &now) == 0, "sigaction");
    MT_CHECK((now.sa_flags & (SA_SIGINFO | SA_RESTART)) == SA_SIGINFO, "flags %x", now.sa_flags);
    MT_CHECK(sigqueue(getpid(), SIGUSR1, sent) == 0, "sigqueue");
    MT_CHECK(value == VALUE, "the handler got %d", (int) value);
}

static void *exchange(void *arg)
{
    int tag = ((mt_thread_t *) arg)->id, in;
    for (int i = 0; i < mt.iters; i++) {
        MT_CHECK(raise(SIGUSR1) == 0, "raise");
        MT_OK(MPI_Sendrecv(&i, 1, MPI_INT, mt.peer, tag, &in, 1, MPI_INT, mt.peer, tag, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
        MT_CHECK(in == i, "message %d of thread %d is %d", i, tag, in);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    /* a process does not know its rank before MPI_Init; PMI_RANK is of mpirun */
    int has_handler = getenv("PMI_RANK") && strcmp(getenv("PMI_RANK"), "0") == 0;
    if (has_handler)
        set_handler();
    mt_init(argc, argv, 4, 500);
    if (has_handler)
        check_handler();
    mt_run(mt.threads, exchange);
    return mt_finish();
}

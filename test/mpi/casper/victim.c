/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A program that goes wrong as its argument says; see the script faults. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int in_accumulate;      /* 1: a thread begins one; 2: it holds the mutex of the node */

/* Of glibc: whether the mutex is one of several processes. */
static int is_shared(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind & 128;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*next) (pthread_mutex_t *);
    if (!next)
        next = (int (*)(pthread_mutex_t *)) dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    if (in_accumulate == 1 && is_shared(mutex)) {
        in_accumulate = 2;
        for (;;)
            pause();
    }
    return next(mutex);
}

static pid_t users[64];
static int n_users;

/* The one child of our parent that is not a user is the ghost. */
static void signal_ghost(int signal)
{
    char command[64], line[64];
    snprintf(command, sizeof(command), "pgrep -P %d", (int) getppid());
    FILE *list = popen(command, "r");
    while (list && fgets(line, sizeof(line), list)) {
        pid_t pid = (pid_t) atoi(line);
        int is_user = 0;
        for (int i = 0; i < n_users; i++)
            is_user |= users[i] == pid;
        if (!is_user)
            kill(pid, signal);
    }
    if (list)
        pclose(list);
}

static void *accumulate(void *arg)
{
    const int one = 1, target = 2;
    const MPI_Win win = *(MPI_Win *) arg;
    do {
        MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(target, win);
    } while (1);
    return NULL;
}

/* Process 0 ends while another thread has the mutex that accumulates take in its node, of which
 * process 2 is, too; the ghost of that wants it, for process 1. */
static void leave_in_accumulate(int rank)
{
    MPI_Win win;
    int *base;
    pthread_t thread;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        accumulate(&win);
    if (rank > 0)
        return;
    in_accumulate = 1;
    pthread_create(&thread, NULL, accumulate, &win);
    while (in_accumulate != 2)
        usleep(1000);
    sleep(1);
    exit(0);
}

int main(int argc, char **argv)
{
    const char *fault = argc == 2 ? argv[1] : "";
    int rank, size, x = 0;
    if (strcmp(fault, "session") == 0) {
        MPI_Session session;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    }
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &x);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pid_t me = getpid();
    n_users = size;
    MPI_Allgather(&me, sizeof(me), MPI_BYTE, users, sizeof(me), MPI_BYTE, MPI_COMM_WORLD);
    if (rank == 0 && strcmp(fault, "leave") == 0)
        _exit(0);
    if (strcmp(fault, "leave-in-accumulate") == 0)
        leave_in_accumulate(rank);
    if (rank == 0 && strcmp(fault, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0 && strcmp(fault, "kill-ghost") == 0)
        signal_ghost(SIGKILL);
    if (rank == 1 && strcmp(fault, "none") != 0)
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

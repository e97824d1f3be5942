/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A program that goes wrong as its argument says; see the script faults. With the arguments lives and
 * stop-at-desk nothing may go wrong. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <mpi.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
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

static volatile int leaves_at_ring;     /* this process ends when it next wakes another one */

long syscall(long number, ...)
{
    static long (*next) (long, ...);
    long arg[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(args, long);
    va_end(args);
    if (leaves_at_ring && number == SYS_futex && (arg[1] & FUTEX_CMD_MASK) == FUTEX_WAKE)
        _exit(0);
    if (!next)
        next = (long (*)(long, ...)) dlsym(RTLD_NEXT, "syscall");
    return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

static pid_t users[64];
static int n_users;

static int is_user(pid_t pid)
{
    int is = 0;
    for (int i = 0; i < n_users; i++)
        is |= users[i] == pid;
    return is;
}

/* The number that the process manager gave a process; -1: none. */
static int number_of(pid_t pid)
{
    char name[64], *variable = NULL;
    size_t room = 0;
    int number = -1;
    snprintf(name, sizeof(name), "/proc/%d/environ", (int) pid);
    FILE *file = fopen(name, "r");
    while (file && getdelim(&variable, &room, '\0', file) > 0)
        sscanf(variable, "PMI_RANK=%d", &number);
    if (file)
        fclose(file);
    free(variable);
    return number;
}

static int is_our_program(pid_t pid)
{
    char name[64], ours[4096], other[4096];
    snprintf(name, sizeof(name), "/proc/%d/exe", (int) pid);
    ssize_t n = readlink("/proc/self/exe", ours, sizeof(ours));
    return n > 0 && readlink(name, other, sizeof(other)) == n && memcmp(ours, other, (size_t) n) == 0;
}

/* The processes of our program that are not users are ghosts. With two cliques, `clique` is 0 or 1, for
 * that of even or odd numbers; -1: all. */
static void signal_ghosts(int signal, int clique)
{
    DIR *all = opendir("/proc");
    struct dirent *entry;
    while (all && (entry = readdir(all))) {
        pid_t pid = (pid_t) atoi(entry->d_name);
        if (pid > 0 && !is_user(pid) && is_our_program(pid) &&
            (clique < 0 || number_of(pid) % 2 == clique))
            kill(pid, signal);
    }
    if (all)
        closedir(all);
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

/* ---- with nothing posted ---- */

static char state_of(pid_t pid)
{
    char name[64], state = 0;
    snprintf(name, sizeof(name), "/proc/%d/stat", (int) pid);
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (file)
        fclose(file);
    return state;
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

/* Process 0, alone in MPI, waits for the ghost of the other clique, which is stopped; its own one is
 * dead. */
static void kill_ghost_in_flush(int rank)
{
    MPI_Win win;
    int *base, one = 1;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0)
        wait_for_ever();
    for (int i = 1; i < n_users; i++)
        while (state_of(users[i]) != 'S')
            usleep(1000);
    usleep(100000);     /* the process manager fails if it answers a process that is dead */
    signal_ghosts(SIGSTOP, 1);
    signal_ghosts(SIGKILL, 0);
    MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
}

static int kill_ghost_now(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value;
    if (*(int *) extra > 0)
        wait_for_ever();
    signal_ghosts(SIGKILL, -1);
    return MPI_SUCCESS;
}

static int leave_now(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value;
    if (*(int *) extra == 0)
        _exit(0);
    return MPI_SUCCESS;
}

/* Process 0 ends when it wakes its ghost, which sleeps by then, for its last post, by which it
 * leaves. */
static int leave_at_ring(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value;
    if (*(int *) extra == 0) {
        sleep(1);
        leaves_at_ring = 1;
    }
    return MPI_SUCCESS;
}

/* The same, and the others do not leave the ghost. */
static int leave_alone(MPI_Comm comm, int key, void *value, void *extra)
{
    if (*(int *) extra > 0)
        wait_for_ever();
    return leave_at_ring(comm, key, value, extra);
}

/* MPI_Finalize does this when all users are in it, before they leave their ghosts. */
static void do_in_finalize(MPI_Comm_delete_attr_function *what, int *rank)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, what, &key, rank);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    MPI_Finalize();
}

/* ---- at the desk of the ghost ---- */

/* Functions that the library does not show to programs: the arguments say how far from MPI_Init. */
static void (*desk_lock) (void), (*desk_unlock) (void);
static int (*lives) (int pid);

static void find_functions(int argc, char **argv)
{
    char *init = dlsym(RTLD_DEFAULT, "MPI_Init");
    if (argc != 5 || !init)
        exit(2);
    desk_lock = (void (*)(void)) (init + atol(argv[2]));
    desk_unlock = (void (*)(void)) (init + atol(argv[3]));
    lives = (int (*)(int)) (init + atol(argv[4]));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Its post stays in the ring, because nobody else can be at the desk. */
static void leave_at_desk(void)
{
    static int x;
    MPI_Request req;
    desk_lock();
    MPI_Isend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &req);
    _exit(0);
}

/* Process 0 is stopped at the desk. Meanwhile process 1 posts and tests, and nobody takes process 0 for
 * one that has ended. Later all messages arrive. */
static void stop_at_desk(int rank)
{
    enum { MANY = 1000 };
    static int out[MANY], in[MANY];
    static MPI_Request req[2 * MANY];
    int flag, n = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        desk_lock();
        raise(SIGSTOP);
        desk_unlock();
    }
    if (rank != 1)
        return;
    while (state_of(users[0]) != 'T')
        usleep(1000);
    for (double end = seconds() + 1; seconds() < end || n < MANY;) {
        if (n < MANY) {
            out[n] = n;
            MPI_Irecv(&in[n], 1, MPI_INT, 1, n, MPI_COMM_WORLD, &req[2 * n]);
            MPI_Issend(&out[n], 1, MPI_INT, 1, n, MPI_COMM_WORLD, &req[2 * n + 1]);
            n++;
        }
        MPI_Testall(2 * n, req, &flag, MPI_STATUSES_IGNORE);
        check(!flag, "a message has arrived, so process 0 is not at the desk");
    }
    kill(users[0], SIGCONT);
    MPI_Waitall(2 * n, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        check(in[i] == i, "a message");
}

/* Of a process that has ended, and was not waited for yet, too. */
static void check_lives(void)
{
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    check(lives(getpid()) && lives(child), "a process lives");
    kill(child, SIGSTOP);
    usleep(10000);
    check(lives(child), "a process that is stopped lives");
    kill(child, SIGKILL);
#ifdef SYS_pidfd_open
    if (syscall(SYS_pidfd_open, getpid(), 0) >= 0) {
        siginfo_t info;
        waitid(P_PID, (id_t) child, &info, WEXITED | WNOWAIT);
        check(!lives(child), "a process has ended");
    }
#endif
    waitpid(child, NULL, 0);
    check(!lives(child), "a process is gone");
}

int main(int argc, char **argv)
{
    const char *fault = argc >= 2 ? argv[1] : "";
    int is_right = 0;
    int rank, size, x = 0;
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
    if (strcmp(fault, "kill-ghost-in-flush") == 0)
        kill_ghost_in_flush(rank);
    if (strcmp(fault, "kill-ghost-in-finalize") == 0)
        do_in_finalize(kill_ghost_now, &rank);
    if (strcmp(fault, "leave-in-finalize") == 0)
        do_in_finalize(leave_now, &rank);
    if (strcmp(fault, "leave-after-post") == 0)
        do_in_finalize(leave_alone, &rank);
    if (strcmp(fault, "leave-after-last-post") == 0)
        do_in_finalize(leave_at_ring, &rank);
    if (argc > 2)
        find_functions(argc, argv);
    if (rank == 0 && strcmp(fault, "leave-at-desk") == 0)
        leave_at_desk();
    if (strcmp(fault, "stop-at-desk") == 0) {
        stop_at_desk(rank);
        is_right = 1;
    }
    if (strcmp(fault, "lives") == 0) {
        check_lives();
        is_right = 1;
    }
    if (rank == 0 && strcmp(fault, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0 && strcmp(fault, "kill-ghost") == 0)
        signal_ghosts(SIGKILL, -1);
    if (rank == 1 && !is_right && strcmp(fault, "none") != 0)
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    if (is_right && rank == 0)
        printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Finalize while another thread waits in MPI, which is erroneous: one line says so and the program
 * ends, neither by a signal nor with status 0. Starts itself, as programs of one process. */
#define _GNU_SOURCE
#include "alone.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE "Abort(1) on node 0 (rank 0 in comm 0): MPI_Finalize was called while 1 other thread of"

#define REQUESTS 3

#define WAY_THERE_NS 20000000   /* more processor time than a thread needs to get into its call */

static const char *const calls[] = { "recv", "probe", "mprobe", "waitall", "waitany" };
static atomic_int waiter;       /* its number in the system, once it is about to call */

/* No message ever comes. */
static void *waits(void *arg)
{
    const char *call = arg;
    MPI_Request reqs[REQUESTS];
    MPI_Message message;
    int i;

    atomic_store(&waiter, (int) syscall(SYS_gettid));
    if (!strcmp(call, "recv"))
        MPI_Recv(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(call, "probe"))
        MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(call, "mprobe"))
        MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    for (i = 0; i < REQUESTS && !strncmp(call, "wait", 4); i++)
        MPI_Irecv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &reqs[i]);
    if (!strcmp(call, "waitall"))
        MPI_Waitall(REQUESTS, reqs, MPI_STATUSES_IGNORE);
    if (!strcmp(call, "waitany"))
        MPI_Waitany(REQUESTS, reqs, &i, MPI_STATUS_IGNORE);
    return NULL;
}

static int sleeps(int task)
{
    char name[64], state = 0;
    snprintf(name, sizeof(name), "/proc/self/task/%d/stat", task);
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (file)
        fclose(file);
    return state == 'S';
}

/* The thread is in its call when it sleeps, or has used the processor for long: it does neither on the
 * way there. */
static void await_call(pthread_t thread)
{
    struct timespec used = { 0, 0 };
    clockid_t clock;

    while (!atomic_load(&waiter) || pthread_getcpuclockid(thread, &clock))
        usleep(1000);
    while (!sleeps(atomic_load(&waiter)) && used.tv_sec == 0 && used.tv_nsec < WAY_THERE_NS) {
        usleep(1000);
        clock_gettime(clock, &used);
    }
}

static int finalize_early(void)
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    pthread_create(&thread, NULL, waits, (void *) alone_as);
    await_call(thread);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    if (is_alone(argc, argv))
        return finalize_early();
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        int lines, status;
        alone_as = calls[i];
        status = start_alone(argv[0], "timeout 20", LINE, strlen(LINE), &lines);
        if (lines != 1 || !WIFEXITED(status) || WEXITSTATUS(status) != 1) {
            printf("%s: status %x, %d lines\n", calls[i], (unsigned) status, lines);
            return 1;
        }
    }
    printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What a process prints just before MPI_Abort, and what MPI_Abort prints, comes out of mpirun. Starts
 * itself: this process alone starts jobs of 8 processes by the mpirun of its own job; all of them print
 * a line to both streams and abort. The lines of the process whose abort came first must be there: it had
 * printed them. Which one it was nobody can see, so one complete set of lines is asked for. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun.h"

#define PROCESSES 8
#define JOBS      12
#define ENV "env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID"

static int in_job(void)
{
    int rank;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("out %d\n", rank);
    fflush(stdout);
    fprintf(stderr, "err %d\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 3);
    return 0;
}

/* Notes which lines of a process these are; lines of several processes may follow each other on one. */
static void note(const char *line, int *seen)
{
    char word[64];

    for (int rank = 0; rank < PROCESSES; rank++) {
        snprintf(word, sizeof(word), "out %d\n", rank);
        seen[rank] |= strstr(line, word) ? 1 : 0;
        snprintf(word, sizeof(word), "err %d\n", rank);
        seen[rank] |= strstr(line, word) ? 2 : 0;
        snprintf(word, sizeof(word), "Abort(3) on node %d ", rank);
        seen[rank] |= strstr(line, word) ? 4 : 0;
    }
}

/* Whether one of the job's processes has printed all its lines. */
static int complete(const char *program)
{
    char command[PATH_MAX + 256], line[1024];
    int seen[PROCESSES] = { 0 }, found = 0;
    FILE *out;

    snprintf(command, sizeof(command), ENV " timeout -k 5 20 %s -n %d %s in-job 2>&1 </dev/null",
             mpirun(), PROCESSES, program);
    out = popen(command, "r");
    if (!out) {
        perror(command);
        exit(1);
    }
    while (fgets(line, sizeof(line), out))
        note(line, seen);
    if (pclose(out) != 3 << 8) {
        printf("exit status of the job is not that of MPI_Abort\n");
        return 0;
    }
    for (int rank = 0; rank < PROCESSES; rank++)
        found |= seen[rank] == 7;
    return found;
}

int main(int argc, char **argv)
{
    int lost = 0;

    if (argc == 2)
        return in_job();
    for (int i = 0; i < JOBS; i++)
        lost += !complete(argv[0]);
    if (lost) {
        printf("%d of %d jobs lost lines\n", lost, JOBS);
        return 1;
    }
    printf(" No Errors\n");
    return 0;
}

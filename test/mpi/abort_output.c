/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What a process prints just before MPI_Abort, and what MPI_Abort prints, comes out of mpirun. Starts
 * itself: this process alone starts jobs of 8 processes by the mpirun of its own job; the last process of
 * each prints a line to both streams and aborts. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun.h"

#define JOBS 12
#define ENV  "env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID"

static int in_job(void)
{
    int rank, size;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) {
        printf("to stdout\n");
        fflush(stdout);
        fprintf(stderr, "to stderr\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

/* The line's bit, if it is one of those that must come out. */
static int bit_of(const char *line)
{
    static const char *const lines[] = { "to stdout", "to stderr", "Abort(3)" };

    for (int i = 0; i < 3; i++) {
        if (strstr(line, lines[i]))
            return 1 << i;
    }
    return 0;
}

/* Whether all lines of a job come out, and the status that it gave. */
static int complete(const char *program)
{
    char command[PATH_MAX + 256], line[1024];
    int seen = 0, status;
    FILE *out;

    snprintf(command, sizeof(command), ENV " timeout -k 5 20 %s -n 8 %s in-job 2>&1 </dev/null",
             mpirun(), program);
    out = popen(command, "r");
    if (!out) {
        perror(command);
        exit(1);
    }
    while (fgets(line, sizeof(line), out))
        seen |= bit_of(line);
    status = pclose(out);
    if (seen != 7 || status != 3 << 8)
        printf("lines %d of 7, status %d of %d\n", seen, status, 3 << 8);
    return seen == 7 && status == 3 << 8;
}

int main(int argc, char **argv)
{
    int failed = 0;

    if (argc == 2)
        return in_job();
    for (int i = 0; i < JOBS; i++)
        failed += !complete(argv[0]);
    if (!failed)
        printf(" No Errors\n");
    return failed != 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A window of shared memory for which /dev/shm is too small: its processes use all of it, and there is
 * no signal. Starts itself: this process alone starts a job by the mpirun of its own job where /dev/shm
 * is small. Says so where a user may not mount that. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun.h"

#define MB    64                /* room for the queues of two processes */
#define BYTES ((MPI_Aint) MB << 20)     /* for each */
#define SMALL "unshare -rm sh -c 'mount -t tmpfs -o size=%dm none /dev/shm && "
#define ENV   "exec env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID MPIR_CVAR_NOLOCAL=0 " \
    "MPIR_CVAR_CH4_NUM_VCIS=1 "

static int in_job(void)
{
    MPI_Win win;
    char *mine;
    int rank;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    memset(mine, rank + 1, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    for (MPI_Aint i = 0; i < BYTES; i += 1024) {
        if (mine[i] != rank + 1) {
            printf("process %d: byte %ld is %d\n", rank, (long) i, mine[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    char command[PATH_MAX + 1024];
    int status = 0;

    if (argc == 2)
        return in_job();
    snprintf(command, sizeof(command), SMALL "true' </dev/null 2>/dev/null", MB);
    if (system(command) == 0) {
        snprintf(command, sizeof(command),
                 SMALL ENV "timeout -k 5 25 %s -n 2 %s in-job' </dev/null 2>&1", MB, mpirun(), argv[0]);
        status = system(command);
        if (status)
            printf("status %x\n", (unsigned) status);
    } else {
        printf("left out: a small /dev/shm cannot be mounted here\n");
    }
    if (!status)
        printf(" No Errors\n");
    return status != 0;
}

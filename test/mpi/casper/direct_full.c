/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Direct memory leaves room for the shared memory that the processes have not used yet: with little of
 * it, users take as much by MPI_Alloc_mem as they get, and then exchange messages in all ways, for the
 * first time. Starts itself: this process alone starts two jobs by the mpirun of its own job, without
 * ghosts and with one, where /dev/shm is small. Says so where a user may not mount that. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpirun.h"

#define USERS  4
#define MB     100              /* room for the queues of five processes, and for some direct memory */
#define SMALL  "unshare -rm sh -c 'mount -t tmpfs -o size=%dm none /dev/shm && "
#define ENV    "exec env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID MPIR_CVAR_NOLOCAL=0 " \
    "MPIR_CVAR_CH4_NUM_VCIS=1 "
#define PIECES 40               /* of each size: more than there is */
#define BLOCK  65536
#define MANY   64               /* sends to each process */
#define SHORT  1024

static int rank;

static char byte_of(int from, int to, int i)
{
    return (char) (from * 31 + to * 7 + i);
}

static void check(const char *in, int from, int bytes, const char *what)
{
    for (int i = 0; i < bytes; i++) {
        if (in[i] != byte_of(from, rank, i)) {
            printf("process %d: %s from %d: byte %d is wrong\n", rank, what, from, i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

/* 1 if this process has mapped shared memory that has no name, as direct memory is. */
static int has_direct(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int found = 0;

    while (maps && !found && fgets(line, sizeof(line), maps))
        found = strstr(line, "/dev/shm/#") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* Down to the last page. Some of it must be direct if there is a ghost. */
static void take_memory(void)
{
    static const MPI_Aint sizes[] = { 1 << 20, 65536, 4096 };
    const char *ghosts = getenv("CSP_NG");
    int is_mapped, are_mapped;
    char *piece;

    for (int i = 0; i < 3 * PIECES; i++) {
        MPI_Alloc_mem(sizes[i / PIECES], MPI_INFO_NULL, &piece);
        *piece = 1;
    }
    is_mapped = has_direct();
    MPI_Allreduce(&is_mapped, &are_mapped, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (ghosts && atoi(ghosts) > 0 && !are_mapped) {
        printf("no memory of MPI_Alloc_mem is direct\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void exchange_all(void)
{
    char *out = malloc(USERS * BLOCK), *in = calloc(USERS, BLOCK);

    for (int i = 0; i < USERS * BLOCK; i++)
        out[i] = byte_of(rank, i / BLOCK, i % BLOCK);
    MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < USERS; i++)
        check(in + i * BLOCK, i, BLOCK, "the block");
    free(out);
    free(in);
}

static void send_many(void)
{
    static char out[USERS][SHORT], in[USERS * MANY][SHORT];
    MPI_Request req[2 * USERS * MANY];

    for (int i = 0; i < USERS * SHORT; i++)
        out[i / SHORT][i % SHORT] = byte_of(rank, i / SHORT, i % SHORT);
    for (int i = 0; i < USERS * MANY; i++)
        MPI_Isend(out[i % USERS], SHORT, MPI_BYTE, i % USERS, 1, MPI_COMM_WORLD, &req[i]);
    for (int i = 0; i < USERS * MANY; i++)
        MPI_Irecv(in[i], SHORT, MPI_BYTE, i % USERS, 1, MPI_COMM_WORLD, &req[USERS * MANY + i]);
    MPI_Waitall(2 * USERS * MANY, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < USERS * MANY; i++)
        check(in[i], i % USERS, SHORT, "a message");
}

static int in_job(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    take_memory();
    exchange_all();
    send_many();
    MPI_Finalize();
    return 0;
}

/* Returns 0, or the status of a job that failed, or that a signal ended. */
static int start(const char *program, int ghosts)
{
    char command[PATH_MAX + 1024];

    snprintf(command, sizeof(command),
             SMALL ENV "CSP_NG=%d timeout -k 5 25 %s -n %d %s in-job' </dev/null 2>&1", MB, ghosts,
             mpirun(), USERS + ghosts, program);
    return system(command);
}

/* Its line, that memory is short, is not an error of the test. */
int main(int argc, char **argv)
{
    char command[256];
    int status = 0;

    if (argc == 2)
        return in_job();
    snprintf(command, sizeof(command), SMALL "true' </dev/null 2>/dev/null", MB);
    if (system(command) == 0) {
        for (int ghosts = 0; ghosts < 2 && !status; ghosts++) {
            status = start(argv[0], ghosts);
            if (status)
                printf("with %d ghosts: status %x\n", ghosts, (unsigned) status);
        }
    } else {
        printf("left out: a small /dev/shm cannot be mounted here\n");
    }
    if (!status)
        printf(" No Errors\n");
    return status != 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* N times one small MPI_Isend + MPI_Wait on rank 0 and MPI_Irecv + MPI_Wait on rank 1, for an
 * instruction counter. Count inside isend_wait_once and irecv_wait_once only, or run with two
 * values of N and subtract. Rank 1 acknowledges every BATCH messages, outside these functions;
 * that bounds the unexpected queue. */
#include "bench_common.h"

#define USAGE "isend_instr [-n messages] [-s bytes]"

#define BATCH 64

__attribute__ ((noinline))
void isend_wait_once(const void *buf, int bytes)
{
    MPI_Request r;
    MPI_Isend(buf, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

__attribute__ ((noinline))
void irecv_wait_once(void *buf, int bytes)
{
    MPI_Request r;
    MPI_Irecv(buf, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void acknowledge(int rank)
{
    char c = 0;
    if (rank == 0)
        MPI_Recv(&c, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&c, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    long n = 10000;
    int c, bytes = 8, rank = bench_init(&argc, &argv);

    while ((c = bench_getopt(argc, argv, "n:s:", USAGE)) != -1) {
        if (c == 'n')
            n = bench_int("-n", optarg, 1, 1L << 40);
        else
            bytes = (int) bench_int("-s", optarg, 1, 1 << 26);
    }

    char *buf = calloc(1, (size_t) bytes);
    if (!buf)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 1; i <= n; i++) {
        if (rank == 0)
            isend_wait_once(buf, bytes);
        else
            irecv_wait_once(buf, bytes);
        if (i % BATCH == 0)
            acknowledge(rank);
    }
    if (rank == 0)
        printf("%ld messages of %d bytes\n", n, bytes);
    free(buf);
    MPI_Finalize();
    return 0;
}

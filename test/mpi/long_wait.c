/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A thread that waits long leaves its processor to others, while threads outnumber processors (the row
 * says that they do), though no other thread of its process polls: it sleeps now and then. Process 0
 * computes and then sends; what counts is how often process 1 leaves its processor of itself
 * (getrusage). */
#include "mt.h"
#include <sys/resource.h>

#define SECONDS 1
/* 50 us each, and some work between: many more are possible */
#define LEAST_SWITCHES 100

static long switches(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return u.ru_nvcsw;
}

static void compute(void)
{
    const double end = MPI_Wtime() + SECONDS;

    while (MPI_Wtime() < end)
        continue;
}

int main(int argc, char **argv)
{
    long before;
    int x = 1;

    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    before = switches();
    if (mt.rank == 0) {
        compute();
        MT_OK(MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        return mt_finish();
    }
    MT_OK(MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_CHECK(switches() - before >= LEAST_SWITCHES, "%ld times off its processor in %d s",
             switches() - before, SECONDS);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Rank 1 sends windows of messages that come before their receives, and rank 0 takes them in. The
 * memory that keeps them is used again: after some windows rank 0 has few page faults, though the
 * system may cause some of its own. When the buffers were unmapped after each window, it had one and
 * more for each message. */
#include "mt.h"

#include <sys/resource.h>

enum { WINDOW = 256, WARM_UP = 20, WINDOWS = 200, MOST = WINDOWS * WINDOW / 16 };

static long faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static void window(void)
{
    char data[64] = { 0 };

    for (int i = 0; i < WINDOW && mt.rank == 1; i++)
        MT_OK(MPI_Send(data, sizeof(data), MPI_CHAR, 0, i, MPI_COMM_WORLD));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD)); /* its messages come behind: all are there */
    for (int i = 0; i < WINDOW && mt.rank == 0; i++)
        MT_OK(MPI_Recv(data, sizeof(data), MPI_CHAR, 1, WINDOW - 1 - i, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    long before = 0, after;

    mt_init(argc, argv, 1, 1);
    for (int i = 0; i < WARM_UP + WINDOWS; i++) {
        if (i == WARM_UP)
            before = faults();
        window();
    }
    after = faults();
    MT_CHECK(after - before < MOST, "%ld page faults in %d windows", after - before, WINDOWS);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Signals that somebody sends to all processes of a program, or that a timer sends which the program
 * has set before MPI_Init, do not end the ghost: it goes on to map the memory of MPI_Alloc_mem. */
#include "ghost.h"

static const int signals[] = {
    SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF
};

enum { N = 100000 };

static void use_ghost(void)
{
    int *out, in[4];
    MT_OK(MPI_Alloc_mem(N * sizeof(int), MPI_INFO_NULL, &out));
    for (int i = 0; i < 4; i++)
        out[i] = mt.rank + i;
    MT_OK(MPI_Sendrecv(out, 4, MPI_INT, mt.peer, 1, in, 4, MPI_INT, mt.peer, 1, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    MT_CHECK(in[3] == mt.peer + 3, "data");
    MT_OK(MPI_Free_mem(out));
}

int main(int argc, char **argv)
{
    char state = 0;
    mt_init(argc, argv, 1, 1);
    find_ghost();
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt.rank == 0)
            MT_CHECK(kill(ghost, signals[i]) == 0, "cannot send signal %d", signals[i]);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        use_ghost();
        MT_CHECK(parent_of(ghost, &state) == getppid() && state != 'Z', "signal %d ends the ghost",
                 signals[i]);
    }
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Test that finds its request complete takes no further message from shared memory. Else a program
 * that tests its send, and looks at its receive only while that is incomplete, would see both complete
 * in one call and leave the receive alone. */
#include "mt.h"

static void sender(void)
{
    int pid, n = 41;

    MT_OK(MPI_Recv(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Send(&n, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    MT_OK(MPI_Send(&n, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
    mt_call_back(pid);
}

/* Both messages have arrived before the process calls MPI again. */
static void receiver(void)
{
    volatile int got[2] = { -1, -1 };
    MPI_Request req[2];
    int flag = 0, pid = (int) getpid();

    signal(SIGUSR2, mt_call_back_handler);
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Irecv((void *) &got[i], 1, MPI_INT, 1, i + 1, MPI_COMM_WORLD, &req[i]));
    MT_OK(MPI_Send(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    while (!atomic_load(&mt_called_back))
        usleep(1000);
    MT_CHECK(got[0] == -1 && got[1] == -1, "a message came without a call that takes it");
    while (!flag)
        MT_OK(MPI_Test(&req[0], &flag, MPI_STATUS_IGNORE));
    MT_CHECK(got[0] == 41 && got[1] == -1, "got %d, %d", got[0], got[1]);
    MT_OK(MPI_Wait(&req[1], MPI_STATUS_IGNORE));
    MT_CHECK(got[1] == 41, "got %d", got[1]);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    if (mt.rank == 0)
        receiver();
    else if (mt.rank == 1)
        sender();
    return mt_finish();
}

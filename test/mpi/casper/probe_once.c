/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A message that was sent before a barrier is found by the first probe after it, although other users
 * post and probe at the same time. All have one ghost. -n: rounds. */
#include "../mt.h"

/* Returns whether the first probe has found it. */
static int receive_probed(int from, int tag, int is_matched, int *got)
{
    MPI_Message message;
    int flag;
    if (is_matched)
        MT_OK(MPI_Improbe(from, tag, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    else
        MT_OK(MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    if (is_matched && flag)
        MT_OK(MPI_Mrecv(got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    else
        MT_OK(MPI_Recv(got, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return flag;
}

int main(int argc, char **argv)
{
    long missed = 0;
    mt_init(argc, argv, 1, 300);
    for (int round = 0; round < mt.iters; round++) {
        int tag = round % 100;
        for (int to = 0; to < mt.size; to++) {
            if (to != mt.rank)
                MT_OK(MPI_Send(&round, 1, MPI_INT, to, tag, MPI_COMM_WORLD));
        }
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int k = 1; k < mt.size; k++) {
            int got;
            missed += !receive_probed((mt.rank + k) % mt.size, tag, round % 2, &got);
            MT_CHECK(got == round, "received %d, not %d", got, round);
        }
    }
    MT_CHECK(missed == 0, "%ld probes have missed a message", missed);
    return mt_finish();
}

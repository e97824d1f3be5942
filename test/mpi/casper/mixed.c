/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Small messages, for which the users wait, do not keep a user from waking its ghost for a large one
 * that it leaves behind. A ghost that is not woken finds the posts after 0.1 s by itself, so a message
 * that takes nearly as long to arrive has not woken it. */
#include "../mt.h"

#define BYTES  (1 << 20)
#define SMALL  10
#define LATE   0.08             /* seconds */

static void exchange_small(void)
{
    int in, out = mt.rank;

    for (int i = 0; i < SMALL; i++) {
        MT_OK(MPI_Sendrecv(&out, 1, MPI_INT, mt.peer, 1, &in, 1, MPI_INT, mt.peer, 1, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
        MT_CHECK(in == mt.peer, "got %d", in);
    }
}

/* 1 if the ghosts were late with a large message, during which this process does not call MPI. */
static int is_late(char *in, char *out, char value)
{
    volatile char *last = in + BYTES - 1;
    MPI_Request r[2];
    double begin;

    memset(out, value, BYTES);
    MT_OK(MPI_Irecv(in, BYTES, MPI_BYTE, mt.peer, 2, MPI_COMM_WORLD, &r[0]));
    MT_OK(MPI_Isend(out, BYTES, MPI_BYTE, mt.peer, 2, MPI_COMM_WORLD, &r[1]));
    begin = MPI_Wtime();
    while (*last != value && MPI_Wtime() < begin + 2)
        usleep(200);
    begin = MPI_Wtime() - begin;
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    return begin > LATE;
}

int main(int argc, char **argv)
{
    char *in, *out;
    int late = 0;

    mt_init(argc, argv, 1, 40);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &in));
    MT_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &out));
    in[BYTES - 1] = 0;
    for (int i = 0; i < mt.iters; i++) {
        exchange_small();
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        late += is_late(in, out, (char) (i + 1));
    }
    MT_CHECK(late <= mt.iters / 5, "%d of %ld large messages found the ghost asleep", late, mt.iters);
    MT_OK(MPI_Free_mem(in));
    MT_OK(MPI_Free_mem(out));
    return mt_finish();
}

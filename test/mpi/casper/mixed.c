/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Small messages, for which the users wait, do not keep a user from waking its ghost for a large one
 * that it leaves behind. A ghost that is not woken finds the posts after 0.1 s by itself, so a message
 * that takes nearly as long to arrive has not woken it. It also takes in messages while it copies a
 * large one in pieces. */
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

/* Process 0 sends, and neither process calls MPI more than it must. */
static void one_after_another(void)
{
    enum { LARGEST = 1 << 25, NEXT = 100000, MESSAGES = 20 };
    char *large = mt_alloc(LARGEST), *next = mt_alloc(MESSAGES * NEXT);
    MPI_Request r[1 + MESSAGES];

    for (int i = 0; i <= MESSAGES; i++) {
        char *data = i ? next + (i - 1) * NEXT : large;
        const int bytes = i ? NEXT : LARGEST;

        if (mt.rank == 0) {
            data[bytes - 1] = (char) (i + 1);
            MT_OK(MPI_Isend(data, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &r[i]));
        } else {
            MT_OK(MPI_Irecv(data, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &r[i]));
        }
        usleep(300);
    }
    MT_OK(MPI_Waitall(1 + MESSAGES, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MESSAGES; i++)
        MT_CHECK(next[(i + 1) * NEXT - 1] == i + 2, "message %d: %d", i, next[(i + 1) * NEXT - 1]);
    MT_CHECK(large[LARGEST - 1] == 1, "the large message: %d", large[LARGEST - 1]);
    free(next);
    free(large);
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
    one_after_another();
    MT_OK(MPI_Free_mem(in));
    MT_OK(MPI_Free_mem(out));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages move while both processes are outside MPI: the receiver looks at its buffer only. Without
 * ghosts the library cannot do that, and the test waits without end. -s: bytes, -n: rounds. */
#include "../mt.h"
#include <time.h>

static long bytes;

static void pause_a_little(void)
{
    const struct timespec t = { 0, 100000 };
    nanosleep(&t, NULL);
}

/* A way to meet that does not enter MPI: two words of shared memory. */
static volatile int *words;

static void meet(int step)
{
    words[mt.rank] = step;
    while (words[0] < step || words[1] < step)
        pause_a_little();
}

static void round_trip(int step, volatile char *buf)
{
    MPI_Request req;
    if (mt.rank == 0) {
        memset((void *) buf, step, bytes);
        MT_OK(MPI_Isend((void *) buf, (int) bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &req));
        meet(2 * step - 1);
    } else {
        memset((void *) buf, 0, bytes);
        MT_OK(MPI_Irecv((void *) buf, (int) bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &req));
        meet(2 * step - 1);
        while (buf[0] != (char) step || buf[bytes - 1] != (char) step)
            pause_a_little();
    }
    meet(2 * step);
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint size;
    int unit;
    void *base;
    mt_init(argc, argv, 1, 5);
    MT_CHECK(mt.size == 2, "two users are needed");
    bytes = mt.bytes ? mt.bytes : 3000000;
    MT_OK(MPI_Win_allocate_shared(mt.rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                                  &win));
    MT_OK(MPI_Win_shared_query(win, 0, &size, &unit, &base));
    words = base;
    words[mt.rank] = 0;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    char *buf = mt_alloc(bytes);
    for (int i = 1; i <= mt.iters; i++)
        round_trip(i, buf);
    free(buf);
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

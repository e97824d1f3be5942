/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* More messages and receives wait than a desk has places for at first. A user that waits handles them
 * as others, also without its ghost. CSP_NG=1, two users on one node. -n: messages. -s 1: the ghost
 * gets no shared memory for more places, so it handles them alone; then it is not stopped. */
#define _GNU_SOURCE
#include "ghost.h"

#include <sys/resource.h>

#define SIZE   1000             /* more than fits into a post, and there are few slots for it */
#define TAGS   3                /* and one more */

static int is_short;

/* The memory of the ghost's places is a file. */
static void take_memory_from_ghost(void)
{
    const struct rlimit none = { 4096, 4096 };
    if (mt.rank == 0)
        MT_CHECK(prlimit(ghost, RLIMIT_FSIZE, &none, NULL) == 0, "cannot limit the ghost");
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* All that was posted before has been taken. */
static void await_ghost(void)
{
    int x = 0;
    if (mt.rank == 0)
        MT_OK(MPI_Ssend(&x, 1, MPI_INT, 1, TAGS, MPI_COMM_WORLD));
    else
        MT_OK(MPI_Recv(&x, 1, MPI_INT, 0, TAGS, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (!is_short)
        stop_ghost();
}

static void go_on(void)
{
    if (!is_short)
        continue_ghost();
}

static int *part(int *data, int i)
{
    return data + (size_t) i * SIZE / sizeof(int);
}

static void late_receiver(int *data, int bytes, MPI_Request *req)
{
    int got[SIZE / sizeof(int)];
    for (int i = 0; i < mt.iters && mt.rank == 0; i++) {
        *part(data, i) = i;
        MT_OK(MPI_Isend(part(data, i), bytes, MPI_BYTE, 1, i % TAGS, MPI_COMM_WORLD, &req[i]));
    }
    if (mt.rank == 0)
        MT_OK(MPI_Waitall((int) mt.iters, req, MPI_STATUSES_IGNORE));
    await_ghost();
    for (int i = 0; i < mt.iters && mt.rank == 1; i++) {
        MT_OK(MPI_Recv(got, SIZE, MPI_BYTE, 0, i % TAGS, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_CHECK(got[0] == i, "message %d of %d bytes comes as number %d", got[0], bytes, i);
    }
    go_on();
}

/* Answers that find no room in the ring would be left to the ghost. */
static void not_too_fast(int i)
{
    if (i % 100 != 99)
        return;
    if (mt.rank == 0)
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 1, TAGS, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, TAGS, MPI_COMM_WORLD));
}

static void late_sender(int *data, int bytes, MPI_Request *req)
{
    for (int i = 0; i < mt.iters && mt.rank == 1; i++)
        MT_OK(MPI_Irecv(part(data, i), SIZE, MPI_BYTE, 0, i % TAGS, MPI_COMM_WORLD, &req[i]));
    await_ghost();
    for (int i = 0; i < mt.iters; i++) {
        if (mt.rank == 0) {
            *part(data, i) = i;
            MT_OK(MPI_Isend(part(data, i), bytes, MPI_BYTE, 1, i % TAGS, MPI_COMM_WORLD, &req[i]));
        } else {
            MT_OK(MPI_Wait(&req[i], MPI_STATUS_IGNORE));
        }
        MT_CHECK(*part(data, i) == i, "receive %d has message %d of %d bytes", i, *part(data, i),
                 bytes);
        not_too_fast(i);
    }
    if (mt.rank == 0)
        MT_OK(MPI_Waitall((int) mt.iters, req, MPI_STATUSES_IGNORE));
    go_on();
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 3000);
    MT_CHECK(mt.size == 2, "run with two users");
    is_short = mt.bytes == 1;
    int *data = mt_alloc((size_t) mt.iters * SIZE);
    MPI_Request *req = mt_alloc(mt.iters * sizeof(*req));
    find_ghost();
    if (is_short)
        take_memory_from_ghost();
    late_receiver(data, sizeof(int), req);
    late_receiver(data, SIZE, req);
    late_sender(data, sizeof(int), req);
    late_sender(data, SIZE, req);
    free(req);
    free(data);
    return mt_finish();
}

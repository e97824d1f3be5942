/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Many pieces of direct memory that come and go in any order: each message is found in its piece, from
 * whatever place in it, and never in one that is gone. -n: pieces that come and go. -r: seed. */
#include "../mt.h"

#define HELD 500                /* at a time */
#define MOST 20000              /* bytes of one */
#define SIZE 3000               /* of a message; with no user waiting the ghost copies it */

static char *piece[HELD];
static size_t bytes_of[HELD];

static void renew(int i, uint64_t *random)
{
    if (piece[i])
        MT_OK(MPI_Free_mem(piece[i]));
    bytes_of[i] = SIZE + mt_rand(random) % MOST;
    MT_OK(MPI_Alloc_mem((MPI_Aint) bytes_of[i], MPI_INFO_NULL, &piece[i]));
    memset(piece[i], 0, bytes_of[i]);
}

static char *place(int i, uint64_t *random)
{
    return piece[i] + mt_rand(random) % (bytes_of[i] - SIZE + 1);
}

static void exchange(int n, uint64_t *random)
{
    const int a = (int) (mt_rand(random) % HELD);
    const int b = (a + 1 + (int) (mt_rand(random) % (HELD - 1))) % HELD;
    char *out = place(a, random), *in = place(b, random);
    MPI_Request req[2];
    memset(out, n * 2 + mt.rank, SIZE);
    memset(in, -1, SIZE);
    MT_OK(MPI_Irecv(in, SIZE, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, &req[0]));
    MT_OK(MPI_Isend(out, SIZE, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, &req[1]));
    if (n % 8 == 0)
        usleep(300);            /* the ghost moves it */
    MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
    for (int k = 0; k < SIZE; k++)
        MT_CHECK(in[k] == (char) (n * 2 + mt.peer), "exchange %d: byte %d is %d", n, k, in[k]);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 3000);
    MT_CHECK(mt.peer != mt.rank, "an even number of users is needed");
    uint64_t random = mt_rng(mt.rank, 0);
    for (int i = 0; i < HELD; i++)
        renew(i, &random);
    for (int n = 0; n < mt.iters; n++) {
        renew((int) (mt_rand(&random) % HELD), &random);
        if (n % 4 == 0)
            exchange(n / 4, &random);
    }
    for (int i = 0; i < HELD; i++)
        MT_OK(MPI_Free_mem(piece[i]));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Users spawn processes, which have no ghosts. Requests with them and among users complete in one
 * array; so do those of a communicator of all, whatever is received first. */
#include "../mt.h"

#define CHILDREN 2
#define BYTES 70000

static char out[BYTES], in[4][BYTES];

/* Sends to all of comm, or to all of its other side, and receives from all. */
static void all(MPI_Comm comm, int rank, int peers, MPI_Request r[])
{
    for (int i = 0; i < peers; i++)
        MT_OK(MPI_Irecv(in[i], BYTES, MPI_CHAR, i, 5, comm, &r[i]));
    memset(out, rank + 1, BYTES);
    for (int i = 0; i < peers; i++)
        MT_OK(MPI_Isend(out, BYTES, MPI_CHAR, i, 5, comm, &r[peers + i]));
}

static void check(int peers)
{
    for (int i = 0; i < peers; i++)
        MT_CHECK(in[i][0] == i + 1 && in[i][BYTES - 1] == i + 1, "data of %d is of %d", i,
                 in[i][0] - 1);
}

static void talk(MPI_Comm inter, int is_child)
{
    int rank, size, peers, n = 0;
    MPI_Request r[9];
    MPI_Comm merged;
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MT_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    MT_OK(MPI_Comm_remote_size(inter, &peers));
    MT_CHECK(peers == (is_child ? (int) mt.iters : CHILDREN), "%d on the other side", peers);
    MT_CHECK(size == (is_child ? CHILDREN : (int) mt.iters), "%d processes", size);
    MT_OK(MPI_Irecv(&n, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &r[2 * peers]));
    all(inter, rank, peers, r);
    MT_OK(MPI_Send(&size, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD));
    MT_OK(MPI_Waitall(2 * peers + 1, r, MPI_STATUSES_IGNORE));
    MT_CHECK(n == size, "received %d", n);
    check(peers);
    MT_OK(MPI_Intercomm_merge(inter, is_child, &merged));
    MT_OK(MPI_Comm_rank(merged, &rank));
    MT_OK(MPI_Comm_size(merged, &size));
    MT_CHECK(size == CHILDREN + (int) mt.iters, "%d processes after the merge", size);
    all(merged, rank, size, r);
    MT_OK(MPI_Waitall(2 * size, r, MPI_STATUSES_IGNORE));
    check(size);
    MT_OK(MPI_Comm_free(&merged));
    MT_OK(MPI_Comm_disconnect(&inter));
}

/* -n: the number of users. */
int main(int argc, char **argv)
{
    char users[16], *arguments[] = { "-n", users, NULL };
    MPI_Comm inter, parent = mt_init_spawned(argc, argv, 1, 2);
    if (parent != MPI_COMM_NULL) {
        talk(parent, 1);
        return mt_finish();
    }
    snprintf(users, sizeof(users), "%ld", mt.iters);
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                             MPI_ERRCODES_IGNORE));
        talk(inter, 0);
    }
    return mt_finish();
}

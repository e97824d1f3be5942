/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Communicators are duplicated until there are no context ids left: all processes get the same error,
 * messages go on, on the world and on the first and the last duplicate, and freed ids come back. Ghosts
 * take no ids, so there are as many as without them. Duplicates of MPI_COMM_SELF, which need no
 * messages, use up most of the ids: those of the world alone take a minute on a busy machine. */
#include "../mt.h"

#define LEAST 2000              /* MPICH has 2048 ids, and needs some itself */
#define MOST  4096
#define ROOM  40                /* ids that are left to duplicates of the world */
#define LARGE 100000

static char out[LARGE], in[LARGE];

static int class_of(int code)
{
    int class;
    MT_OK(MPI_Error_class(code, &class));
    return class;
}

/* Returns how many were made before it failed, and the error class. */
static int dup_all(MPI_Comm from, MPI_Comm * comm, int *class)
{
    int n = 0, rc;
    while ((rc = MPI_Comm_dup(from, &comm[n])) == MPI_SUCCESS)
        MT_CHECK(++n < MOST, "%d duplicates", n);
    *class = class_of(rc);
    return n;
}

static void must_be_same(int value, const char *what)
{
    int mine[2] = { value, -value }, most[2];
    MT_OK(MPI_Allreduce(mine, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    MT_CHECK(most[0] == -most[1], "%s: %d and %d", what, -most[1], most[0]);
}

static int dup_world(MPI_Comm * comm)
{
    int class, n = dup_all(MPI_COMM_WORLD, comm, &class);
    must_be_same(n, "number of duplicates");
    must_be_same(class, "error class");
    return n;
}

static void free_all(MPI_Comm * comm, int n)
{
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
}

/* Round the ring; the tag is the same on all communicators. */
static void exchange(MPI_Comm comm, int bytes, int what)
{
    int to = (mt.rank + 1) % mt.size, from = (mt.rank + mt.size - 1) % mt.size, count;
    MPI_Status status;
    memset(out, what + mt.rank, (size_t) bytes);
    memset(in, 0, (size_t) bytes);
    MT_OK(MPI_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, comm, &status));
    MT_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    MT_CHECK(count == bytes && status.MPI_SOURCE == from, "%d bytes of %d", count, status.MPI_SOURCE);
    for (int i = 0; i < bytes; i++)
        MT_CHECK(in[i] == what + from, "byte %d of %d is %d", i, bytes, in[i]);
}

static void exchange_both(MPI_Comm comm, int what)
{
    exchange(comm, 4, what);
    exchange(comm, LARGE, what + 10);
}

/* Takes all ids but ROOM; returns how many it has taken. */
static int fill_up(MPI_Comm * alone)
{
    int class, n = dup_all(MPI_COMM_SELF, alone, &class);
    MT_CHECK(n >= LEAST, "%d duplicates", n);
    must_be_same(n, "number of duplicates of MPI_COMM_SELF");
    free_all(alone + n - ROOM, ROOM);
    return n - ROOM;
}

int main(int argc, char **argv)
{
    static MPI_Comm alone[MOST], comm[MOST];
    int taken, n, again;
    mt_init(argc, argv, 1, 1);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    taken = fill_up(alone);
    n = dup_world(comm);
    MT_CHECK(n >= ROOM - 1 && n <= ROOM, "room for %d, %d duplicates", ROOM, n);
    exchange_both(MPI_COMM_WORLD, 1);
    exchange_both(comm[0], 30);
    exchange_both(comm[n - 1], 60);
    free_all(comm, n);
    again = dup_world(comm);
    MT_CHECK(again >= n - 1 && again <= n + 1, "%d duplicates, then %d", n, again);
    exchange_both(comm[again - 1], 90);
    free_all(comm, again);
    free_all(alone, taken);
    return mt_finish();
}

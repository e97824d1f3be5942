/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* User 0 has sent so much to user 1, which does not receive it, that the data of further sends stays
 * with it. Messages of all sizes, of two kinds of sends, to wildcards, to receives that are there
 * before and after, and to probes arrive in order, with their data. Then user 1 receives the rest, and
 * the same works once more. -n: rounds. */
#include "../mt.h"

enum {
    SIZES = 9, WAYS = 4, TAG = 5, MOST = 100000,
    SMALL = 140000, LARGE = 4200, LARGE_BYTES = 65536   /* more than ghosts keep */
};

static const int sizes[SIZES] = { 0, 8, 64, 65, 1000, 1025, 40000, LARGE_BYTES, MOST };
static char out[SIZES][MOST], in[SIZES][MOST];

/* ---- what waits ---- */

static MPI_Comm aside;
static char bulk[LARGE_BYTES];

static void send_bulk(MPI_Request * req)
{
    memset(bulk, 7, sizeof(bulk));
    for (int i = 0; i < SMALL + LARGE; i++)
        MT_OK(MPI_Isend(bulk, i < SMALL ? 8 : LARGE_BYTES, MPI_CHAR, 1, 0, aside, &req[i]));
}

static void receive_bulk(void)
{
    for (int i = 0; i < SMALL + LARGE; i++) {
        int bytes = i < SMALL ? 8 : LARGE_BYTES, n;
        MPI_Status status;
        memset(bulk, 0, (size_t) bytes);
        MT_OK(MPI_Recv(bulk, LARGE_BYTES, MPI_CHAR, 0, 0, aside, &status));
        MT_OK(MPI_Get_count(&status, MPI_CHAR, &n));
        MT_CHECK(n == bytes && bulk[0] == 7 && bulk[bytes - 1] == 7, "message %d: %d bytes", i, n);
    }
}

/* ---- messages beside it ---- */

static int fill_of(int round, int i)
{
    return 1 + (round * SIZES + i) % 100;
}

/* The largest or the smallest first. */
static int nth_of(int round, int i)
{
    return round % 2 ? SIZES - 1 - i : i;
}

static void send_all(int round)
{
    MPI_Request req[SIZES];
    for (int i = 0; i < SIZES; i++) {
        int bytes = sizes[nth_of(round, i)];
        memset(out[i], fill_of(round, i), (size_t) bytes);
        if ((round + i) % 3 == 2)
            MT_OK(MPI_Issend(out[i], bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &req[i]));
        else
            MT_OK(MPI_Isend(out[i], bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &req[i]));
    }
    MT_OK(MPI_Waitall(SIZES, req, MPI_STATUSES_IGNORE));
    MT_OK(MPI_Recv(NULL, 0, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void check(int round, int i, const MPI_Status * status)
{
    int bytes = sizes[nth_of(round, i)], n, fill = fill_of(round, i);
    MT_OK(MPI_Get_count(status, MPI_CHAR, &n));
    MT_CHECK(n == bytes && status->MPI_SOURCE == 0 && status->MPI_TAG == TAG,
             "round %d, message %d: %d bytes in place of %d", round, i, n, bytes);
    for (int k = 0; k < n; k++)
        MT_CHECK(in[i][k] == fill, "round %d, message %d: wrong data at %d", round, i, k);
}

static void receive_later(int round, int is_any)
{
    usleep(round % 5 == 0 ? 2000 : 0);
    for (int i = 0; i < SIZES; i++) {
        MPI_Status status;
        MT_OK(MPI_Recv(in[i], MOST, MPI_CHAR, is_any ? MPI_ANY_SOURCE : 0, is_any ? MPI_ANY_TAG : TAG,
                       MPI_COMM_WORLD, &status));
        check(round, i, &status);
    }
}

static void receive_before(int round)
{
    MPI_Request req[SIZES];
    MPI_Status status[SIZES];
    for (int i = 0; i < SIZES; i++)
        MT_OK(MPI_Irecv(in[i], MOST, MPI_CHAR, i % 2 ? MPI_ANY_SOURCE : 0, TAG, MPI_COMM_WORLD,
                        &req[i]));
    MT_OK(MPI_Waitall(SIZES, req, status));
    for (int i = 0; i < SIZES; i++)
        check(round, i, &status[i]);
}

static void receive_probed(int round)
{
    for (int i = 0; i < SIZES; i++) {
        MPI_Message message;
        MPI_Status status;
        MT_OK(MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status));
        if (i % 2) {
            MT_OK(MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
            MT_OK(MPI_Mrecv(in[i], MOST, MPI_CHAR, &message, &status));
        } else {
            MT_OK(MPI_Recv(in[i], MOST, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &status));
        }
        check(round, i, &status);
    }
}

static void receive_all(int round)
{
    switch (round / 2 % WAYS) {
        case 0: receive_later(round, 0); break;
        case 1: receive_later(round, 1); break;
        case 2: receive_before(round); break;
        default: receive_probed(round);
    }
    MT_OK(MPI_Send(NULL, 0, MPI_CHAR, 0, TAG, MPI_COMM_WORLD));
}

static void rounds(void)
{
    for (int round = 0; round < mt.iters; round++)
        (mt.rank == 0 ? send_all : receive_all) (round);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 40);
    MT_CHECK(mt.size == 2, "two users are needed");
    MPI_Request *req = mt_alloc((SMALL + LARGE) * sizeof(*req));
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &aside));
    rounds();
    if (mt.rank == 0)
        send_bulk(req);
    rounds();
    if (mt.rank == 0)
        MT_OK(MPI_Waitall(SMALL + LARGE, req, MPI_STATUSES_IGNORE));
    else
        receive_bulk();
    rounds();
    MT_OK(MPI_Comm_free(&aside));
    free(req);
    return mt_finish();
}

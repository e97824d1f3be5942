/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads of one process that wait for their servers at the same time, while one more may accept: each
 * gets the server that it has asked for. Process 0 is the client. Thread i and process i + 1 are a
 * pair; in odd rounds the last pair changes its roles. All pairs but the last wait for the next one to
 * be through, so the first that asks is the last that is answered. */
#include "mt.h"

#define GO 1000

static MPI_Comm self[MT_MAX_THREADS];
static pthread_barrier_t round_begins;

static void exchange(MPI_Comm c, int mine, int expected, long round)
{
    int out[2] = { mine, (int) round }, in[2] = { -1, -1 };

    MT_OK(MPI_Sendrecv(out, 2, MPI_INT, 0, 3, in, 2, MPI_INT, 0, 3, c, MPI_STATUS_IGNORE));
    MT_CHECK(in[0] == expected && in[1] == round, "in round %ld: %d of round %d instead of %d",
             round, in[0], in[1], expected);
    MT_OK(MPI_Comm_disconnect(&c));
}

static void accept_from(int other, int tag, MPI_Comm comm, int mine, int expected, long round)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm c;

    MT_OK(MPI_Open_port(MPI_INFO_NULL, port));
    MT_OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, other, tag, MPI_COMM_WORLD));
    if (mt.rank > 0 && mt.rank < mt.size - 1)
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &c));
    exchange(c, mine, expected, round);
    MT_OK(MPI_Close_port(port));
}

static void connect_to(int other, int tag, MPI_Comm comm, int mine, int expected, long round)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm c;

    MT_OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, other, tag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &c));
    exchange(c, mine, expected, round);
}

static int is_turned(int pair, long round)
{
    return pair == mt.size - 2 && round % 2;
}

static void *client(void *arg)
{
    int i = ((mt_thread_t *) arg)->id;

    for (long r = 0; r < mt.iters; r++) {
        pthread_barrier_wait(&round_begins);
        usleep((useconds_t) (2000 * i));        /* those before are likely to wait by now */
        if (is_turned(i, r))
            accept_from(i + 1, i, self[i], 100 + i, i + 1, r);
        else
            connect_to(i + 1, i, self[i], 100 + i, i + 1, r);
        if (i > 0)
            MT_OK(MPI_Send(NULL, 0, MPI_INT, i, GO, MPI_COMM_WORLD));
    }
    return NULL;
}

static void server(void)
{
    int i = mt.rank - 1;

    for (long r = 0; r < mt.iters; r++) {
        if (is_turned(i, r))
            connect_to(0, i, MPI_COMM_SELF, mt.rank, 100 + i, r);
        else
            accept_from(0, i, MPI_COMM_SELF, mt.rank, 100 + i, r);
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    if (mt.rank == 0) {
        pthread_barrier_init(&round_begins, NULL, (unsigned) mt.size - 1);
        for (int i = 0; i < mt.size - 1; i++)
            MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &self[i]));
        mt_run(mt.size - 1, client);
        for (int i = 0; i < mt.size - 1; i++)
            MT_OK(MPI_Comm_free(&self[i]));
        pthread_barrier_destroy(&round_begins);
    } else {
        server();
    }
    return mt_finish();
}

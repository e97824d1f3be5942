/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A token goes from thread to thread and from process to process, while all other threads wait for
 * it, each in another kind of waiting call. The token stops if a wake-up is lost, or if no thread
 * that makes progress is left. Threads end at different times, so that one server follows another
 * again and again. */
#include "mt.h"

#define TOKEN 0
#define ACK 1

static MPI_Comm comm[MT_MAX_THREADS];

/* Rounds of thread id: the last threads stay longest. */
static long rounds_of(int id)
{
    return mt.iters * (id + 1) / mt.threads + 1;
}

static void wait_for(MPI_Request r[2], long way)
{
    int i, n, at[2];

    switch (way % 6) {
        case 0:
            MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
            MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
            break;
        case 1:
            MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
            break;
        case 2:
            for (i = 0; i < 2; i++)
                MT_OK(MPI_Waitany(2, r, &n, MPI_STATUS_IGNORE));
            break;
        case 3:
            for (i = 0; i < 2; i += n)
                MT_OK(MPI_Waitsome(2, r, &n, at, MPI_STATUSES_IGNORE));
            break;
        case 4:
            for (n = 0; !n;)
                MT_OK(MPI_Testall(2, r, &n, MPI_STATUSES_IGNORE));
            break;
        default:
            for (i = 0; i < 2; i += n)
                MT_OK(MPI_Testany(2, r, &at[0], &n, MPI_STATUS_IGNORE));
    }
}

/* Get the token that the peer's thread sends, and confirm it; the other way round for rank 0. */
static void pass(mt_thread_t * t, long round, MPI_Request * persistent, const long *cell)
{
    MPI_Comm c = comm[t->id];
    MPI_Request r[2];
    long out = round * MT_MAX_THREADS + t->id, in = -1;
    int source = round % 3 ? mt.peer : MPI_ANY_SOURCE;

    if (mt.rank == 0) {
        MT_OK(MPI_Irecv(&in, 1, MPI_LONG, source, ACK, c, &r[0]));
        if (round % 2)
            MT_OK(MPI_Issend(&out, 1, MPI_LONG, mt.peer, TOKEN, c, &r[1]));
        else
            MT_OK(MPI_Isend(&out, 1, MPI_LONG, mt.peer, TOKEN, c, &r[1]));
        wait_for(r, round + t->id);
        MT_CHECK(in == -out, "round %ld: %ld instead of %ld", round, in, -out);
        return;
    }
    if (round % 4 == 0) {
        long *buf = mt_alloc(sizeof(long));
        MT_OK(MPI_Recv(buf, 1, MPI_LONG, source, TOKEN, c, MPI_STATUS_IGNORE));
        in = *buf;
        free(buf);
    } else {
        MT_OK(MPI_Start(persistent));
        MT_OK(MPI_Wait(persistent, MPI_STATUS_IGNORE));
        in = *cell;
    }
    MT_CHECK(in == out, "round %ld: %ld instead of %ld", round, in, out);
    in = -in;
    MT_OK(MPI_Sendrecv(&in, 1, MPI_LONG, mt.peer, ACK, NULL, 0, MPI_LONG, MPI_PROC_NULL, 0, c,
                       MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    long cell = 0;
    MPI_Request persistent;

    MT_OK(MPI_Recv_init(&cell, 1, MPI_LONG, mt.peer, TOKEN, comm[t->id], &persistent));
    for (long i = 0; i < rounds_of(t->id); i++)
        pass(t, i, &persistent, &cell);
    MT_OK(MPI_Request_free(&persistent));
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 16, 200);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_free(&comm[i]);
    return mt_finish();
}

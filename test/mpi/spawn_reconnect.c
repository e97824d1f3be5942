/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads of two programs connect, exchange a message and disconnect, again and again, each through a
 * port of its own. The last communicator that knows the other program's addresses may be freed at any
 * time, also while another thread connects. */
#include "mt.h"

static MPI_Comm self[MT_MAX_THREADS];
static char port[MT_MAX_THREADS][MPI_MAX_PORT_NAME];
static int is_child;

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Comm c;

    for (int i = 0; i < (int) mt.iters; i++) {
        int out[3] = { is_child, t->id, i }, in[3] = { -1, -1, -1 };
        if (is_child)
            MT_OK(MPI_Comm_connect(port[t->id], MPI_INFO_NULL, 0, self[t->id], &c));
        else
            MT_OK(MPI_Comm_accept(port[t->id], MPI_INFO_NULL, 0, self[t->id], &c));
        MT_OK(MPI_Sendrecv(out, 3, MPI_INT, 0, 7, in, 3, MPI_INT, 0, 7, c, MPI_STATUS_IGNORE));
        MT_CHECK(in[0] == !is_child && in[1] == t->id && in[2] == i,
                 "thread %d in round %d got %d, %d, %d", t->id, i, in[0], in[1], in[2]);
        MT_OK(MPI_Comm_disconnect(&c));
        mt_delay((unsigned) (mt_rand(&t->rng) % 20000));
    }
    return NULL;
}

/* The child gets its number of threads, of rounds, and the ports. */
static void meet(MPI_Comm c)
{
    long of[3] = { mt.threads, mt.iters, (long) mt.seed };
    int root = is_child ? 0 : MPI_ROOT;

    MT_OK(MPI_Bcast(of, 3, MPI_LONG, root, c));
    mt.threads = (int) of[0];
    mt.iters = of[1];
    mt.seed = (uint64_t) of[2];
    MT_OK(MPI_Bcast(port, sizeof(port), MPI_CHAR, root, c));
    MT_OK(MPI_Comm_disconnect(&c));
}

int main(int argc, char **argv)
{
    MPI_Comm c = mt_init_spawned(argc, argv, 2, 60);

    is_child = c != MPI_COMM_NULL;
    if (!is_child) {
        for (int i = 0; i < mt.threads; i++)
            MT_OK(MPI_Open_port(MPI_INFO_NULL, port[i]));
        MT_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c,
                             MPI_ERRCODES_IGNORE));
    }
    meet(c);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &self[i]));
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MT_OK(MPI_Comm_free(&self[i]));
        if (!is_child)
            MT_OK(MPI_Close_port(port[i]));
    }
    return mt_finish();
}

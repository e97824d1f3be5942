/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* On a communicator of one process the messages of collectives and of the program do not meet (MPI-4.0
 * section 6.1): a receive with MPI_ANY_TAG gets none of a collective, and a collective none of the
 * program, whatever its tag. Each thread has a ring of one process, of whose neighborhood collectives
 * every message goes to itself. */
#include "mt.h"

#define TAGS 300                /* collectives have tags, too: so many that some are the same */
#define COLLECTIVES 20

static MPI_Comm ring[MT_MAX_THREADS];

static void alltoall(MPI_Comm comm, int value, MPI_Request * receive)
{
    int out[2] = { value, value + 1 }, in[2] = { -1, -1 }, flag = 0;
    MPI_Request r;

    if (receive) {
        MT_OK(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &r));
        MT_OK(MPI_Test(receive, &flag, MPI_STATUS_IGNORE));
        MT_CHECK(!flag, "a receive has taken the message of a collective");
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else {
        MT_OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
    }
    MT_CHECK(in[0] + in[1] == out[0] + out[1] && (in[0] == out[0] || in[0] == out[1]),
             "a collective gives %d and %d instead of %d and %d", in[0], in[1], out[0], out[1]);
}

/* The receive is older than the collectives. */
static void receive_first(MPI_Comm comm, int round)
{
    int flag, in = -1;
    MPI_Request r;
    MPI_Status st;

    MT_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r));
    alltoall(comm, 10 * round, &r);
    alltoall(comm, 20 * round, NULL);
    MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    MT_CHECK(!flag, "a probe finds a message that the program has not sent");
    MT_OK(MPI_Send(&round, 1, MPI_INT, 0, round % TAGS, comm));
    MT_OK(MPI_Wait(&r, &st));
    MT_CHECK(in == round && st.MPI_TAG == round % TAGS, "round %d: %d with tag %d", round, in,
             st.MPI_TAG);
}

/* The messages are older than the collectives. */
static void send_first(MPI_Comm comm)
{
    int out[TAGS], in;
    MPI_Request r[TAGS];

    for (int tag = 0; tag < TAGS; tag++) {
        out[tag] = -1000 - tag;
        MT_OK(MPI_Isend(&out[tag], 1, MPI_INT, 0, tag, comm, &r[tag]));
    }
    for (int i = 0; i < COLLECTIVES; i++)
        alltoall(comm, i, NULL);
    for (int tag = TAGS - 1; tag >= 0; tag--) {
        MT_OK(MPI_Recv(&in, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE));
        MT_CHECK(in == out[tag], "the message with tag %d is %d", tag, in);
    }
    MT_OK(MPI_Waitall(TAGS, r, MPI_STATUSES_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    receive_first(ring[t->id], 0);
    send_first(ring[t->id]);
    for (int i = 1; i < (int) mt.iters; i++)
        receive_first(ring[t->id], i);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, one = 1;

    mt_options(argc, argv, 3, 1000);
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    MT_CHECK(provided == MPI_THREAD_MULTIPLE, "no MPI_THREAD_MULTIPLE");
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &ring[i]));
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&ring[i]));
    return mt_finish();
}

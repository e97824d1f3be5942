/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Irecv returns although the network has no room for the receive and the peer sends nothing yet.
 * Rank 0 starts more receives than libfabric takes; only then rank 1 begins to send. The receives, of
 * several kinds but with one tag, match in their order; those that were started last are cancelled and
 * started again; a message with another tag is found meanwhile. Receiving it needs room, too. None
 * keeps its datatype. -n receives. */
#include "mt.h"
#include "steps.h"

#define TAG 7
#define OTHER_TAG 9
#define CANCELLED 10
#define WORDS 4                 /* of a message */
#define KINDS 4

enum { POSTED, FOUND_OTHER, STEPS };

static MPI_Datatype every_other;        /* WORDS words, each followed by a gap */

static MPI_Request post(int i, int *in)
{
    MPI_Request r;

    switch (i % KINDS) {
        case 0:
            MT_OK(MPI_Irecv(in, 1, every_other, 1, TAG, MPI_COMM_WORLD, &r));
            break;
        case 1:
            MT_OK(MPI_Irecv(in, WORDS, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &r));
            break;
        default:
            MT_OK(MPI_Irecv(in, WORDS, MPI_INT, 1, TAG, MPI_COMM_WORLD, &r));
    }
    return r;
}

static void check(int i, const int *in)
{
    const int gap = i % KINDS == 0 ? 2 : 1;

    for (int w = 0; w < WORDS; w++)
        MT_CHECK(in[w * gap] == i + w, "receive %d: word %d is %d", i, w, in[w * gap]);
}

static void cancel(MPI_Request * r)
{
    MPI_Status status;
    int cancelled;

    MT_OK(MPI_Cancel(r));
    MT_OK(MPI_Wait(r, &status));
    MT_OK(MPI_Test_cancelled(&status, &cancelled));
    MT_CHECK(cancelled, "a receive without a message was not cancelled");
}

static MPI_Message find_other(void)
{
    MPI_Message message;

    MT_OK(MPI_Mprobe(1, OTHER_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    return message;
}

static void receive_other(MPI_Message message)
{
    int value = 0;

    MT_OK(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    MT_CHECK(value == OTHER_TAG, "the other message is %d", value);
}

static void receive_all(int n)
{
    MPI_Request *r = mt_alloc((size_t) n * sizeof(*r));
    int *in = mt_alloc((size_t) n * 2 * WORDS * sizeof(*in));
    MPI_Message other;

    for (int i = 0; i < n; i++)
        r[i] = post(i, in + (size_t) i * 2 * WORDS);
    for (int i = n - CANCELLED; i < n; i++)
        cancel(&r[i]);
    for (int i = n - CANCELLED; i < n; i++)
        r[i] = post(i, in + (size_t) i * 2 * WORDS);
    step_done(POSTED, 1);
    other = find_other();
    step_done(FOUND_OTHER, 1);
    receive_other(other);
    MT_OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < n; i++)
        check(i, in + (size_t) i * 2 * WORDS);
    free(in);
    free(r);
}

/* Within MPI: libfabric's sockets send a small message only when the process makes progress. */
static void wait_until_found(void)
{
    int flag;

    while (atomic_load(&step_of[FOUND_OTHER]) == 0)
        MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}

static void send_all(int n)
{
    int out[WORDS], other = OTHER_TAG;

    step_wait(POSTED, 1);
    MT_OK(MPI_Send(&other, 1, MPI_INT, 0, OTHER_TAG, MPI_COMM_WORLD));
    wait_until_found();
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < WORDS; w++)
            out[w] = i + w;
        MT_OK(MPI_Send(out, WORDS, MPI_INT, 0, TAG, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 6000);
    MT_CHECK(mt.size == 2 && mt.iters > CANCELLED, "run with 2 processes, -n %d or more",
             CANCELLED + 1);
    MT_OK(MPI_Type_vector(WORDS, 1, 2, MPI_INT, &every_other));
    MT_OK(MPI_Type_commit(&every_other));
    steps_share(STEPS);
    if (mt.rank == 0)
        receive_all((int) mt.iters);
    else
        send_all((int) mt.iters);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    mt_type_free(&every_other);
    return mt_finish();
}

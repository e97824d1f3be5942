/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Isendrecv and MPI_Isendrecv_replace with a derived type that has holes: the data arrives, the
 * holes are left alone, the status is that of the receive, the type stays the user's, a message
 * that is too long is an error, and a request may be freed. MPI_Sendrecv_replace does the same, and
 * leaves the field MPI_ERROR alone. Each thread has its own tag. */
#include "mt.h"

#define BLOCKS 5
#define STRIDE 3                /* one number, two of a hole */
#define NUMBERS (BLOCKS * STRIDE)
#define HOLE (-7)

static void fill(int *buf, int value)
{
    for (int k = 0; k < NUMBERS; k++)
        buf[k] = k % STRIDE ? HOLE : value + k;
}

static void check(const int *buf, int value, const MPI_Status * status, int tag, MPI_Datatype type)
{
    int count = -1;

    MT_OK(MPI_Get_count(status, type, &count));
    MT_CHECK(status->MPI_SOURCE == mt.peer && status->MPI_TAG == tag && count == 1,
             "the status has source %d, tag %d, count %d", status->MPI_SOURCE, status->MPI_TAG, count);
    for (int k = 0; k < NUMBERS; k++)
        MT_CHECK(buf[k] == (k % STRIDE ? HOLE : value + k), "number %d is %d", k, buf[k]);
}

static void exchange(int tag, int round, MPI_Datatype type)
{
    int out[NUMBERS], in[NUMBERS];
    MPI_Request r;
    MPI_Status status;

    fill(out, 100 * round + mt.rank);
    fill(in, -1);
    MT_OK(MPI_Isendrecv(out, 1, type, mt.peer, tag, in, 1, type, mt.peer, tag, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Wait(&r, &status));
    check(in, 100 * round + mt.peer, &status, tag, type);
    MT_OK(MPI_Isendrecv_replace(out, 1, type, mt.peer, tag, mt.peer, tag, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Wait(&r, &status));
    check(out, 100 * round + mt.peer, &status, tag, type);
    status.MPI_ERROR = 77;
    MT_OK(MPI_Sendrecv_replace(out, 1, type, mt.peer, tag, mt.peer, tag, MPI_COMM_WORLD, &status));
    check(out, 100 * round + mt.rank, &status, tag, type);
    MT_CHECK(status.MPI_ERROR == 77, "MPI_Sendrecv_replace sets MPI_ERROR to %d", status.MPI_ERROR);
}

/* Without both processes: the request is complete, the status that of no process. */
static void with_nobody(int tag)
{
    int value = tag, count = -1;
    MPI_Request r[3];
    MPI_Status status[3];

    MT_OK(MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, tag, &value, 1, MPI_INT, MPI_PROC_NULL, tag,
                        MPI_COMM_WORLD, &r[0]));
    MT_OK(MPI_Isendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_PROC_NULL, tag,
                                MPI_COMM_WORLD, &r[1]));
    MT_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &r[2]));
    MT_OK(MPI_Waitall(3, r, status));
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Get_count(&status[i], MPI_INT, &count));
        MT_CHECK(status[i].MPI_SOURCE == MPI_PROC_NULL && status[i].MPI_TAG == MPI_ANY_TAG &&
                 count == 0 && value == tag,
                 "nobody has sent %d numbers as process %d", count, status[i].MPI_SOURCE);
    }
}

/* At the end of a row of processes: the message goes, and the status is that of no process. */
static void from_nobody(int tag)
{
    int value = tag, in = -1, got[2] = { -1, -1 };
    MPI_Request r[2];
    MPI_Status status[2];

    MT_OK(MPI_Isendrecv(&value, 1, MPI_INT, mt.peer, tag, &in, 1, MPI_INT, MPI_PROC_NULL, tag,
                        MPI_COMM_WORLD, &r[0]));
    MT_OK(MPI_Isendrecv_replace(&value, 1, MPI_INT, mt.peer, tag, MPI_PROC_NULL, tag, MPI_COMM_WORLD,
                                &r[1]));
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Recv(&got[i], 1, MPI_INT, mt.peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Waitall(2, r, status));
    for (int i = 0; i < 2; i++)
        MT_CHECK(status[i].MPI_SOURCE == MPI_PROC_NULL && got[i] == tag && value == tag && in == -1,
                 "from nobody: source %d, got %d", status[i].MPI_SOURCE, got[i]);
}

static void too_long(int tag)
{
    int out[2] = { 1, 2 }, in = 0;
    MPI_Request r;

    MT_OK(MPI_Isendrecv(out, 2, MPI_INT, mt.peer, tag, &in, 1, MPI_INT, mt.peer, tag, MPI_COMM_WORLD,
                        &r));
    mt_fails(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "a message that is too long");
}

/* ThreadSanitizer cannot see that progress, of another thread, writes the item: no call of MPI says
 * when the message of a freed request is there. */
__attribute__((noinline, no_sanitize("thread")))
static int peek(const volatile int *item)
{
    return *item;
}

/* A request may be freed: the message goes and comes. One of a collective may not. */
static void freed(int tag)
{
    int out = tag, back;
    volatile int *in = mt_alloc(2 * sizeof(int));
    int *replaced = (int *) &in[1];
    MPI_Request r[3];

    *in = -1;
    *replaced = -2 - mt.rank;
    MT_OK(MPI_Isendrecv(&out, 1, MPI_INT, mt.peer, tag, (int *) in, 1, MPI_INT, mt.peer, tag,
                        MPI_COMM_WORLD, &r[0]));
    MT_OK(MPI_Isendrecv_replace(replaced, 1, MPI_INT, mt.peer, tag, mt.peer, tag, MPI_COMM_WORLD,
                                &r[1]));
    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Request_free(&r[i]));
        MT_CHECK(r[i] == MPI_REQUEST_NULL, "a freed request has a handle");
    }
    while (peek(&in[0]) != tag || peek(&in[1]) != -2 - mt.peer)
        MT_OK(MPI_Iprobe(mt.peer, tag, MPI_COMM_WORLD, &back, MPI_STATUS_IGNORE));
    /* the peer has what was sent */
    MT_OK(MPI_Sendrecv(&tag, 1, MPI_INT, mt.peer, tag, &back, 1, MPI_INT, mt.peer, tag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    free((int *) in);
}

static void collective_not_freed(void)
{
    MPI_Request r, copy;

    MT_OK(MPI_Ibarrier(MPI_COMM_WORLD, &r));
    copy = r;
    MT_CHECK(MPI_Request_free(&r) != MPI_SUCCESS && r == copy, "a collective's request was freed");
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Datatype type;

    MT_OK(MPI_Type_vector(BLOCKS, 1, STRIDE, MPI_INT, &type));
    MT_OK(MPI_Type_commit(&type));
    for (int i = 0; i < (int) mt.iters; i++)
        exchange(t->id, i, type);
    MT_OK(MPI_Type_free(&type));
    with_nobody(t->id);
    from_nobody(t->id);
    too_long(t->id);
    freed(t->id);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 100);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    mt_run(mt.threads, worker);
    collective_not_freed();
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Cancel of a receive on MPI_COMM_SELF whose message was there already does nothing: the request
 * was complete from the start. Its fields are left over from whatever the object was before: a receive
 * from any source, a cancelled one, one of a communicator that is gone, a send, an active message.
 * No request there keeps a datatype, be it cancelled or not. */
#include "mt.h"

#define KINDS 7
#define LONG 20000

static char out[LONG], in[LONG];
static MPI_Win win;

static void cancelled_recv(MPI_Comm comm, int source)
{
    MPI_Request r;
    MPI_Status status;
    int flag;

    MT_OK(MPI_Irecv(in, LONG, MPI_CHAR, source, 9, comm, &r));
    MT_OK(MPI_Cancel(&r));
    MT_OK(MPI_Wait(&r, &status));
    MT_OK(MPI_Test_cancelled(&status, &flag));
    MT_CHECK(flag, "a receive without a message was not cancelled");
}

static void exchange(int bytes, int source)
{
    MPI_Request r[2];

    MT_OK(MPI_Irecv(in, LONG, MPI_CHAR, source, 8, MPI_COMM_WORLD, &r[0]));
    MT_OK(MPI_Isend(out, bytes, MPI_CHAR, mt.peer, 8, MPI_COMM_WORLD, &r[1]));
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
}

static void one_sided(void)
{
    MPI_Request r[2];
    int one = 1, got;

    MT_OK(MPI_Rget_accumulate(&one, 1, MPI_INT, &got, 1, MPI_INT, mt.peer, 0, 1, MPI_INT, MPI_SUM, win,
                              &r[0]));
    MT_OK(MPI_Raccumulate(&one, 1, MPI_INT, mt.peer, 0, 1, MPI_INT, MPI_SUM, win, &r[1]));
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
}

static void partitioned(void)
{
    MPI_Request r[2];

    MT_OK(MPI_Psend_init(out, 1, 1, MPI_CHAR, mt.peer, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    MT_OK(MPI_Precv_init(in, 1, 1, MPI_CHAR, mt.peer, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    MT_OK(MPI_Startall(2, r));
    MT_OK(MPI_Pready(0, r[0]));
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    MT_OK(MPI_Request_free(&r[0]));
    MT_OK(MPI_Request_free(&r[1]));
}

/* Leaves objects of many kinds for those to come. */
static void leave(int kind)
{
    MPI_Comm comm;

    switch (kind % KINDS) {
        case 0:
            cancelled_recv(MPI_COMM_WORLD, MPI_ANY_SOURCE);
            break;
        case 1:
            MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            cancelled_recv(comm, mt.peer);
            MT_OK(MPI_Comm_free(&comm));
            break;
        case 2:
            exchange(1, MPI_ANY_SOURCE);
            break;
        case 3:
            exchange(LONG, mt.peer);
            break;
        case 4:
            cancelled_recv(MPI_COMM_SELF, MPI_ANY_SOURCE);
            break;
        case 5:
            one_sided();
            break;
        default:
            partitioned();
    }
}

static void in_self(int i)
{
    int sent = i, got = -1, flag, count;        /* the receive takes the object that was freed last */
    MPI_Request s, r;
    MPI_Status status;

    MT_OK(MPI_Isend(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &s));
    leave(i / KINDS);
    leave(i);
    MT_OK(MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
    MT_OK(MPI_Cancel(&r));
    MT_OK(MPI_Wait(&r, &status));
    MT_OK(MPI_Test_cancelled(&status, &flag));
    MT_OK(MPI_Get_count(&status, MPI_INT, &count));
    MT_CHECK(!flag && got == i && count == 1, "round %d: cancelled %d, %d numbers, %d", i, flag, count,
             got);
    MT_OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
}

/* A receive that is cancelled, and one before and after its send. */
static void types_are_free(void)
{
    MPI_Datatype type;
    MPI_Request r;

    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Type_contiguous(2, MPI_CHAR, &type));
        MT_OK(MPI_Type_commit(&type));
        if (i == 2)
            MT_OK(MPI_Isend(out, 1, type, 0, 9, MPI_COMM_SELF, &r));
        else
            MT_OK(MPI_Irecv(in, 1, type, 0, 9, MPI_COMM_SELF, &r));
        if (i == 0)
            MT_OK(MPI_Cancel(&r));
        else if (i == 1)
            MT_OK(MPI_Send(out, 1, type, 0, 9, MPI_COMM_SELF));
        else
            MT_OK(MPI_Recv(in, 1, type, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        mt_type_free(&type);
    }
}

int main(int argc, char **argv)
{
    int *mem;

    mt_init(argc, argv, 1, 200);
    MT_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < (int) mt.iters; i++)
        in_self(i);
    types_are_free();
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

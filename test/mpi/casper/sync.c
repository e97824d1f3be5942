/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A synchronous send is complete only when its receive is. So after it, and a barrier, one call of
 * MPI_Request_get_status finds the receive complete: whatever the size, whether the receive or the
 * send comes first, with too little room, and with gaps in the data. User 0 sends to user 1.
 * -n: messages. */
#include "../mt.h"

enum { MOST = 300000, BEHIND = 64, TAG = 3, GO = 4, LOOKS = 200 };

typedef struct example {
    int bytes, room;            /* of the message, of the receive */
    int is_early;               /* the receive comes first */
    int is_blocking;            /* MPI_Ssend */
    MPI_Datatype type;          /* of a byte */
} example_t;

static char data[2 * MOST + BEHIND];
static MPI_Datatype gappy;      /* a byte, and one that is left out */
static int late;

static example_t example_of(long i)
{
    static const int sizes[] = { 0, 8, 64, 65, 1024, 5000, 65536, MOST };
    example_t e = { sizes[i % 8], sizes[i % 8], i / 8 % 2 == 0, i / 16 % 2 == 0, MPI_CHAR };
    if (i / 32 % 3 == 1)
        e.room /= 2;
    else if (i / 32 % 3 == 2)
        e.type = gappy;
    return e;
}

/* Bytes of `data` that the message may touch, and some behind them. */
static int span_of(const example_t * e)
{
    return (e->type == gappy ? 2 : 1) * e->bytes + BEHIND;
}

static void send_one(const example_t * e, long i)
{
    MPI_Request req;
    memset(data, (int) i % 100 + 1, (size_t) span_of(e));
    if (e->is_early)
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (e->is_blocking) {
        MT_OK(MPI_Ssend(data, e->bytes, e->type, 1, TAG, MPI_COMM_WORLD));
    } else {
        MT_OK(MPI_Issend(data, e->bytes, e->type, 1, TAG, MPI_COMM_WORLD, &req));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void expect(int code, const example_t * e)
{
    int class = MPI_SUCCESS;
    MT_OK(MPI_Error_class(code, &class));
    MT_CHECK(class == (e->room < e->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
             "%d bytes, room for %d: error of class %d", e->bytes, e->room, class);
}

static void check(const MPI_Status * status, const example_t * e, long i)
{
    int count, stride = e->type == gappy ? 2 : 1;
    MT_OK(MPI_Get_count(status, e->type, &count));
    MT_CHECK(status->MPI_SOURCE == 0 && status->MPI_TAG == TAG && count == e->room,
             "message %ld: %d of %d, tag %d", i, count, status->MPI_SOURCE, status->MPI_TAG);
    for (int k = 0; k < span_of(e); k++)
        MT_CHECK(data[k] == (k % stride == 0 && k < stride * e->room ? i % 100 + 1 : 0),
                 "message %ld: byte %d is %d", i, k, data[k]);
}

static void receive_one(const example_t * e, long i)
{
    MPI_Request req;
    MPI_Status status;
    int flag = 0, code;
    memset(data, 0, (size_t) span_of(e));
    if (!e->is_early)
        MT_OK(MPI_Probe(0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Irecv(data, e->room, e->type, 0, TAG, MPI_COMM_WORLD, &req));
    if (e->is_early)
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    code = MPI_Request_get_status(req, &flag, &status);
    if (flag)
        expect(code, e);
    late += !flag;
    expect(MPI_Wait(&req, &status), e);
    check(&status, e, i);
}

/* Before it there is no receive: however often user 0 looks, the send is not complete. */
static void not_before(int bytes)
{
    MPI_Request req;
    int flag;
    memset(data, 1, (size_t) bytes);
    if (mt.rank == 1) {
        MT_OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Recv(data, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return;
    }
    MT_OK(MPI_Issend(data, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &req));
    for (int i = 0; i < LOOKS; i++) {
        MT_OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
        MT_CHECK(!flag, "a synchronous send of %d bytes is complete before its receive", bytes);
        usleep(100);
    }
    MT_OK(MPI_Send(NULL, 0, MPI_CHAR, 1, GO, MPI_COMM_WORLD));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 300);
    MT_CHECK(mt.size == 2, "%d users, not 2", mt.size);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Type_create_resized(MPI_CHAR, 0, 2, &gappy));
    MT_OK(MPI_Type_commit(&gappy));
    for (long i = 0; i < mt.iters; i++) {
        const example_t e = example_of(i);
        if (mt.rank == 0)
            send_one(&e, i);
        else
            receive_one(&e, i);
    }
    for (long i = 0; i < 8; i++)
        not_before(example_of(i).bytes);
    MT_CHECK(late == 0, "%d of %ld receives were not complete after their sends", late, mt.iters);
    MT_OK(MPI_Type_free(&gappy));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Data with gaps that no memory is large enough to pack: sends and receives give an error, keep
 * nothing, and lose no message; then all goes on as before, and MPI_Finalize ends. -n: times that
 * they fail. */
#include "../mt.h"

#define EXCHANGES 100

static MPI_Datatype huge;       /* 2^50 bytes of data */

static void make_huge(void)
{
    MPI_Datatype part;
    MPI_Count size;
    MT_OK(MPI_Type_vector(1 << 20, 1, 2, MPI_DOUBLE, &part));
    MT_OK(MPI_Type_vector(1 << 27, 1, 2, part, &huge));
    MT_OK(MPI_Type_commit(&huge));
    MT_OK(MPI_Type_free(&part));
    MT_OK(MPI_Type_size_x(huge, &size));
    MT_CHECK(size == (MPI_Count) 1 << 50, "a size of %lld", (long long) size);
}

/* The error may come with the call or with the wait. */
static void expect_error(int rc, MPI_Request *req, const char *what)
{
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(req, MPI_STATUS_IGNORE);
    MT_CHECK(rc != MPI_SUCCESS, "%s has memory for 2^50 bytes", what);
}

/* A request that was left would keep the communicator, of which there may be some 2000. */
static void fail_all(void)
{
    MPI_Comm comm;
    MPI_Request req;
    char byte = 0;
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    expect_error(MPI_Isend(&byte, 1, huge, mt.peer, 0, comm, &req), &req, "MPI_Isend");
    expect_error(MPI_Issend(&byte, 1, huge, mt.peer, 0, comm, &req), &req, "MPI_Issend");
    expect_error(MPI_Irecv(&byte, 1, huge, mt.peer, 0, comm, &req), &req, "MPI_Irecv");
    MT_OK(MPI_Comm_free(&comm));
}

static int handled;

static void handler(MPI_Comm * comm, int *code, ...)
{
    (void) comm, (void) code;
    handled++;
}

/* A message that a matched receive has no room for is received by the next one. The error goes to the
 * handler of its communicator. */
static void fail_matched(MPI_Comm comm)
{
    MPI_Message msg;
    MPI_Request req, req2;
    int out = 100 + mt.rank, in = 0, rc;
    MT_OK(MPI_Isend(&out, 1, MPI_INT, mt.peer, 1, comm, &req));
    MT_OK(MPI_Mprobe(mt.peer, 1, comm, &msg, MPI_STATUS_IGNORE));
    rc = MPI_Mrecv(&in, 1, huge, &msg, MPI_STATUS_IGNORE);
    MT_CHECK(rc != MPI_SUCCESS, "MPI_Mrecv has memory for 2^50 bytes");
    rc = MPI_Imrecv(&in, 1, huge, &msg, &req2);
    MT_CHECK(rc != MPI_SUCCESS, "MPI_Imrecv has memory for 2^50 bytes");
    MT_CHECK(handled == 2, "the handler is called %d times", handled);
    handled = 0;
    MT_OK(MPI_Mrecv(&in, 1, MPI_INT, &msg, MPI_STATUS_IGNORE));
    MT_CHECK(in == 100 + mt.peer, "data: %d", in);
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

static void exchange(int seed)
{
    enum { N = 5000 };
    static int out[N], in[N];
    for (int i = 0; i < N; i++)
        out[i] = seed + i + mt.rank;
    MT_OK(MPI_Sendrecv(out, N, MPI_INT, mt.peer, 2, in, N, MPI_INT, mt.peer, 2, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++)
        MT_CHECK(in[i] == seed + i + mt.peer, "data");
}

int main(int argc, char **argv)
{
    MPI_Errhandler counts;
    MPI_Comm comm;

    mt_init(argc, argv, 1, 2500);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    make_huge();
    for (int n = 0; n < mt.iters; n++)
        fail_all();
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Comm_create_errhandler(handler, &counts));
    MT_OK(MPI_Comm_set_errhandler(comm, counts));
    MT_OK(MPI_Errhandler_free(&counts));
    for (int n = 0; n < EXCHANGES; n++) {
        fail_matched(comm);
        exchange(n);
    }
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Type_free(&huge));
    return mt_finish();
}

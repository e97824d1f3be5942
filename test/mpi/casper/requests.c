/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Requests: the wait and test calls with offloaded and other operations and null requests in one array,
 * MPI_Request_get_status, MPI_Request_free, MPI_Cancel. Errors: a truncated message is an error at the
 * receiver and nowhere else, and wrong arguments are errors at once. */
#include "../mt.h"

enum { N = 50000 };

static int out[N], in[N];

static void mixed_array(void)
{
    MPI_Comm plain;
    MPI_Request req[6];
    MPI_Status status[6];
    int flag, index, got[6], count, done = 0, x = 1, y = 0, sum;
    MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &plain));
    for (int way = 0; way < 5; way++) {
        req[0] = MPI_REQUEST_NULL;
        MT_OK(MPI_Irecv(in, N, MPI_INT, mt.peer, 1, MPI_COMM_WORLD, &req[1]));
        MT_OK(MPI_Irecv(&y, 1, MPI_INT, 0, 1, plain, &req[2]));
        MT_OK(MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req[3]));
        MT_OK(MPI_Isend(out, N, MPI_INT, mt.peer, 1, MPI_COMM_WORLD, &req[4]));
        MT_OK(MPI_Isend(&x, 1, MPI_INT, 0, 1, plain, &req[5]));
        done = 0;
        switch (way) {
            case 0: MT_OK(MPI_Waitall(6, req, status)); break;
            case 1:
                do
                    MT_OK(MPI_Testall(6, req, &flag, status));
                while (!flag);
                break;
            case 2:
                for (index = 0; index != MPI_UNDEFINED;)
                    MT_OK(MPI_Waitany(6, req, &index, status));
                break;
            case 3:
                while (done < 5) {
                    MT_OK(MPI_Testsome(6, req, &count, got, status));
                    done += count;
                }
                break;
            default:
                while (done < 5) {
                    MT_OK(MPI_Waitsome(6, req, &count, got, status));
                    done += count;
                }
        }
        for (int i = 0; i < 6; i++)
            MT_CHECK(req[i] == MPI_REQUEST_NULL, "way %d leaves request %d", way, i);
        MT_CHECK(in[N - 1] == mt.peer + N - 1 && y == 1 && sum == mt.size, "way %d: data", way);
        memset(in, 0, sizeof(in));
    }
    MT_OK(MPI_Comm_free(&plain));
}

static void get_status(void)
{
    MPI_Request req;
    MPI_Status status;
    int flag = 0, count;
    MT_OK(MPI_Irecv(in, N, MPI_INT, mt.peer, 2, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Request_get_status(req, &flag, &status));
    MT_OK(MPI_Send(out, 10, MPI_INT, mt.peer, 2, MPI_COMM_WORLD));
    for (int i = 0; i < 2; i++) {
        do
            MT_OK(MPI_Request_get_status(req, &flag, &status));
        while (!flag);
        MT_OK(MPI_Get_count(&status, MPI_INT, &count));
        MT_CHECK(count == 10 && status.MPI_SOURCE == mt.peer, "count %d", count);
    }
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

/* The receives are posted last, so the freed sends are complete only then. */
static void freed(void)
{
    MPI_Request req;
    for (int i = 0; i < 3; i++) {
        MT_OK(MPI_Isend(out, i * 20000, MPI_INT, mt.peer, 3, MPI_COMM_WORLD, &req));
        MT_OK(MPI_Request_free(&req));
    }
    for (int i = 0; i < 3; i++)
        MT_OK(MPI_Recv(in, N, MPI_INT, mt.peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_CHECK(in[39999] == mt.peer + 39999, "data of a freed send");
}

static void cancelled(void)
{
    MPI_Request req;
    MPI_Status status;
    int flag, count;
    MT_OK(MPI_Irecv(in, N, MPI_INT, mt.peer, 99, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Cancel(&req));
    MT_OK(MPI_Wait(&req, &status));
    MT_OK(MPI_Test_cancelled(&status, &flag));
    MT_CHECK(flag, "a receive without a message is not cancelled");
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Irecv(in, N, MPI_INT, mt.peer, 98, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Sendrecv(out, 5, MPI_INT, mt.peer, 98, NULL, 0, MPI_INT, MPI_PROC_NULL, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Cancel(&req));
    MT_OK(MPI_Wait(&req, &status));
    MT_OK(MPI_Test_cancelled(&status, &flag));
    MT_OK(MPI_Get_count(&status, MPI_INT, &count));
    MT_CHECK(flag || count == 5, "neither cancelled nor received");
    if (flag)
        MT_OK(MPI_Recv(in, N, MPI_INT, mt.peer, 98, MPI_COMM_WORLD, &status));
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void truncated(MPI_Comm comm, int n, int room)
{
    MPI_Request req[2];
    MPI_Status status[2];
    int rc;
    memset(in, 0, sizeof(in));
    MT_OK(MPI_Irecv(in, room, MPI_INT, mt.peer, 4, comm, &req[0]));
    MT_OK(MPI_Isend(out, n, MPI_INT, mt.peer, 4, comm, &req[1]));
    rc = MPI_Waitall(2, req, status);
    MT_CHECK(class_of(rc) == MPI_ERR_IN_STATUS, "waitall gave class %d", class_of(rc));
    MT_CHECK(class_of(status[0].MPI_ERROR) == MPI_ERR_TRUNCATE, "receive: class %d",
             class_of(status[0].MPI_ERROR));
    MT_CHECK(status[1].MPI_ERROR == MPI_SUCCESS || class_of(status[1].MPI_ERROR) == MPI_ERR_PENDING,
             "send: class %d", class_of(status[1].MPI_ERROR));
    MT_OK(MPI_Wait(&req[1], MPI_STATUS_IGNORE));
    for (int i = 0; i < room; i++)
        MT_CHECK(in[i] == mt.peer + i, "data at %d", i);
    MT_CHECK(in[room] == 0, "more than there is room for");
    MT_OK(MPI_Sendrecv(out, n, MPI_INT, mt.peer, 5, in, n, MPI_INT, mt.peer, 5, comm, &status[0]));
}

static void wrong_arguments(MPI_Comm comm)
{
    int *ub, flag;
    MPI_Request req;
    MT_OK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &ub, &flag));
    MT_CHECK(class_of(MPI_Isend(out, 1, MPI_INT, mt.size, 0, comm, &req)) == MPI_ERR_RANK, "rank");
    MT_CHECK(class_of(MPI_Isend(out, -1, MPI_INT, 0, 0, comm, &req)) == MPI_ERR_COUNT, "count");
    MT_CHECK(class_of(MPI_Isend(out, 1, MPI_INT, 0, -5, comm, &req)) == MPI_ERR_TAG, "tag");
    if (*ub < INT32_MAX)
        MT_CHECK(class_of(MPI_Isend(out, 1, MPI_INT, 0, *ub + 1, comm, &req)) == MPI_ERR_TAG, "tag");
    MT_OK(MPI_Sendrecv(out, 1, MPI_INT, mt.peer, *ub, in, 1, MPI_INT, mt.peer, *ub, comm,
                       MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    mt_init(argc, argv, 1, 3);
    MT_CHECK(mt.size % 2 == 0, "an even number of users is needed");
    for (int i = 0; i < N; i++)
        out[i] = mt.rank + i;
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < mt.iters; i++) {
        mixed_array();
        get_status();
        freed();
        cancelled();
        truncated(comm, 8, 3);
        truncated(comm, 1000, 999);
        truncated(comm, 40000, 10);
        wrong_arguments(comm);
    }
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

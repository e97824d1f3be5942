/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A started persistent request to or from MPI_PROC_NULL is complete, not inactive: each call that
 * completes it counts it, once, and a receive has the status of MPI_PROC_NULL (MPI-4.0 sections 3.9 and
 * 3.10). */
#include "mt.h"

static MPI_Request request;

static void check(const MPI_Status * status, int receives, const char *call)
{
    int count;

    if (!receives)
        return;
    MT_OK(MPI_Get_count(status, MPI_INT, &count));
    MT_CHECK(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0,
             "%s: source %d, tag %d, count %d", call, status->MPI_SOURCE, status->MPI_TAG, count);
}

static void wait_and_test(int receives)
{
    MPI_Status status;
    int flag;

    MT_OK(MPI_Start(&request));
    MT_OK(MPI_Request_get_status(request, &flag, &status));
    MT_CHECK(flag, "MPI_Request_get_status: not complete");
    check(&status, receives, "MPI_Request_get_status");
    MT_OK(MPI_Wait(&request, &status));
    check(&status, receives, "MPI_Wait");
    MT_OK(MPI_Start(&request));
    MT_OK(MPI_Test(&request, &flag, &status));
    MT_CHECK(flag, "MPI_Test: not complete");
    check(&status, receives, "MPI_Test");
}

/* flag: of Testany; some: 1 for calls that return a list */
static void any(int (*call) (int, MPI_Request *, int *, int *, MPI_Status *), int receives,
                const char *name)
{
    MPI_Status status;
    int at = -1, flag = 1;

    MT_OK(MPI_Start(&request));
    MT_OK(call(1, &request, &at, &flag, &status));
    MT_CHECK(flag && at == 0, "%s: index %d", name, at);
    check(&status, receives, name);
    MT_OK(call(1, &request, &at, &flag, &status));
    MT_CHECK(flag && at == MPI_UNDEFINED, "%s, inactive: index %d", name, at);
}

static int wait_any(int n, MPI_Request * r, int *at, int *flag, MPI_Status * status)
{
    *flag = 1;
    return MPI_Waitany(n, r, at, status);
}

static int wait_some(int n, MPI_Request * r, int *at, int *flag, MPI_Status * status)
{
    int done, rc = MPI_Waitsome(n, r, &done, at, status);

    *flag = 1;
    if (done != 1)
        *at = done;
    return rc;
}

static int test_some(int n, MPI_Request * r, int *at, int *flag, MPI_Status * status)
{
    int done, rc = MPI_Testsome(n, r, &done, at, status);

    *flag = 1;
    if (done != 1)
        *at = done;
    return rc;
}

static void cancel_and_wait_all(int receives)
{
    MPI_Status status;
    int cancelled;

    MT_OK(MPI_Start(&request));
    MT_OK(MPI_Cancel(&request));
    MT_OK(MPI_Waitall(1, &request, &status));
    MT_OK(MPI_Test_cancelled(&status, &cancelled));
    MT_CHECK(!cancelled, "a complete request is cancelled");
    check(&status, receives, "MPI_Waitall");
}

static void all(int receives)
{
    wait_and_test(receives);
    any(wait_any, receives, "MPI_Waitany");
    any(MPI_Testany, receives, "MPI_Testany");
    any(wait_some, receives, "MPI_Waitsome");
    any(test_some, receives, "MPI_Testsome");
    cancel_and_wait_all(receives);
    MT_OK(MPI_Start(&request));         /* freed while it is active */
    MT_OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    int out = 1, in = 2;

    mt_init(argc, argv, 1, 20);
    for (long i = 0; i < mt.iters; i++) {
        MT_OK(MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &request));
        all(1);
        MT_OK(MPI_Send_init(&out, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &request));
        all(0);
        MT_OK(MPI_Bsend_init(&out, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &request));
        all(0);
    }
    MT_CHECK(in == 2, "a receive from MPI_PROC_NULL has written %d", in);
    return mt_finish();
}

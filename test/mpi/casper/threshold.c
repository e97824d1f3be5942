/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The hint offload_min_msgsz: messages below it stay with MPICH, the others go to the ghost, and all
 * arrive, in order for each size, with wildcards, of all kinds of sends, and can be cancelled. It
 * needs mpi_assert_exact_length; MPI_Comm_get_info tells what is in force; a probe is an error. If the
 * assertion is taken back, the threshold stays, and receives of that size are errors.
 * -n: rounds. */
#include "../mt.h"

enum { LEAST = 1000, MOST = 100000 };

static MPI_Comm comm;
static char out[MOST], in[2][MOST];

static MPI_Comm with_hints(const char *threshold, const char *exact)
{
    MPI_Info info;
    MPI_Comm made;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "offload_min_msgsz", threshold));
    MT_OK(MPI_Info_set(info, "mpi_assert_exact_length", exact));
    MT_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made));
    MT_OK(MPI_Info_free(&info));
    return made;
}

static void expect(MPI_Comm c, const char *key, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag;
    MT_OK(MPI_Comm_get_info(c, &info));
    MT_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag));
    MT_CHECK(flag && strcmp(value, expected) == 0, "%s is %s, not %s", key,
             flag ? value : "not there", expected);
    MT_OK(MPI_Info_free(&info));
}

/* Two messages of two sizes with one tag: each receive knows its size. */
static void mixed(int first, int second, int source, int tag)
{
    MPI_Request req[4];
    MPI_Status status[4];
    int n;
    memset(out, mt.rank + 1, sizeof(out));
    memset(in, 0, sizeof(in));
    MT_OK(MPI_Irecv(in[0], first, MPI_CHAR, source, tag, comm, &req[0]));
    MT_OK(MPI_Irecv(in[1], second, MPI_CHAR, source, tag, comm, &req[1]));
    MT_OK(MPI_Isend(out, first, MPI_CHAR, mt.peer, 5, comm, &req[2]));
    MT_OK(MPI_Issend(out, second, MPI_CHAR, mt.peer, 5, comm, &req[3]));
    MT_OK(MPI_Waitall(4, req, status));
    for (int i = 0; i < 2; i++) {
        int bytes = i ? second : first;
        MT_OK(MPI_Get_count(&status[i], MPI_CHAR, &n));
        MT_CHECK(n == bytes && status[i].MPI_SOURCE == mt.peer && status[i].MPI_TAG == 5,
                 "%d bytes from %d with tag %d in place of %d", n, status[i].MPI_SOURCE,
                 status[i].MPI_TAG, bytes);
        MT_CHECK(bytes == 0 || in[i][bytes - 1] == mt.peer + 1, "data of %d bytes", bytes);
        MT_CHECK(bytes == MOST || in[i][bytes] == 0, "more than %d bytes", bytes);
    }
}

static void all_sizes(void)
{
    static const int sizes[] = { 0, 1, LEAST - 1, LEAST, LEAST + 1, MOST };
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            mixed(sizes[i], sizes[j], mt.peer, 5);
            MT_OK(MPI_Barrier(comm));
            mixed(sizes[i], sizes[j], MPI_ANY_SOURCE, MPI_ANY_TAG);
            MT_OK(MPI_Barrier(comm));
        }
    }
}

static void cancelled(int bytes)
{
    MPI_Request req;
    MPI_Status status;
    int flag;
    MT_OK(MPI_Irecv(in, bytes, MPI_CHAR, mt.peer, 9, comm, &req));
    MT_OK(MPI_Cancel(&req));
    MT_OK(MPI_Wait(&req, &status));
    MT_OK(MPI_Test_cancelled(&status, &flag));
    MT_CHECK(flag, "a receive of %d bytes is not cancelled", bytes);
}

static void persistent(int bytes)
{
    MPI_Request req[2];
    MT_OK(MPI_Send_init(out, bytes, MPI_CHAR, mt.peer, 6, comm, &req[0]));
    MT_OK(MPI_Recv_init(in[0], bytes, MPI_CHAR, mt.peer, 6, comm, &req[1]));
    for (int i = 1; i < 4; i++) {
        memset(out, mt.rank + i, (size_t) bytes);
        MT_OK(MPI_Startall(2, req));
        MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
        MT_CHECK(in[0][bytes - 1] == mt.peer + i, "persistent, %d bytes", bytes);
    }
    MT_OK(MPI_Request_free(&req[0]));
    MT_OK(MPI_Request_free(&req[1]));
}

static void no_probes(void)
{
    int flag, rc;
    MPI_Message message;
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    rc = MPI_Iprobe(mt.peer, 5, comm, &flag, MPI_STATUS_IGNORE);
    MT_CHECK(rc != MPI_SUCCESS, "MPI_Iprobe gives no error");
    rc = MPI_Improbe(mt.peer, 5, comm, &flag, &message, MPI_STATUS_IGNORE);
    MT_CHECK(rc != MPI_SUCCESS, "MPI_Improbe gives no error");
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

/* Without the assertion a receive may have more room than its message has bytes. */
static void without_assertion(void)
{
    MPI_Comm plain = with_hints("1000", "false");
    MPI_Request req;
    int flag = 0;
    expect(plain, "offload_min_msgsz", "0");
    MT_OK(MPI_Irecv(in[0], MOST, MPI_CHAR, mt.peer, 1, plain, &req));
    MT_OK(MPI_Send(out, 10, MPI_CHAR, mt.peer, 1, plain));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Iprobe(mt.peer, 5, plain, &flag, MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_free(&plain));
}

/* In MPI_Comm_set_info; threshold may be NULL. */
static void change(const char *exact, const char *threshold)
{
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "mpi_assert_exact_length", exact));
    if (threshold)
        MT_OK(MPI_Info_set(info, "offload_min_msgsz", threshold));
    MT_OK(MPI_Comm_set_info(comm, info));
    MT_OK(MPI_Info_free(&info));
}

/* While a receive waits at MPICH, whose message comes only then. */
static void taken_back(void)
{
    MPI_Request req[2];
    MPI_Status status;
    int n, class;
    MT_OK(MPI_Irecv(in[0], 10, MPI_CHAR, mt.peer, 7, comm, &req[0]));
    MT_OK(MPI_Irecv(in[1], MOST, MPI_CHAR, mt.peer, 7, comm, &req[1]));
    MT_OK(MPI_Barrier(comm));
    change("false", NULL);
    expect(comm, "offload_min_msgsz", "1000");
    MT_OK(MPI_Send(out, MOST, MPI_CHAR, mt.peer, 7, comm));
    MT_OK(MPI_Send(out, 10, MPI_CHAR, mt.peer, 7, comm));
    MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
    MT_OK(MPI_Sendrecv(out, 10, MPI_CHAR, mt.peer, 8, in[0], LEAST - 1, MPI_CHAR, mt.peer, 8, comm,
                       &status));
    MT_OK(MPI_Get_count(&status, MPI_CHAR, &n));
    MT_CHECK(n == 10, "%d bytes", n);
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MT_OK(MPI_Error_class(MPI_Recv(in[0], LEAST, MPI_CHAR, mt.peer, 8, comm, &status), &class));
    MT_CHECK(class == MPI_ERR_COUNT, "a receive whose message may take two paths: class %d", class);
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
    change("true", NULL);
    mixed(10, MOST, mt.peer, 5);
}

static void threshold_goes(void)
{
    int flag;
    change("false", "0");
    expect(comm, "offload_min_msgsz", "0");
    MT_OK(MPI_Barrier(comm));
    MT_OK(MPI_Iprobe(mt.peer, 5, comm, &flag, MPI_STATUS_IGNORE));
    MT_OK(MPI_Sendrecv(out, 10, MPI_CHAR, mt.peer, 8, in[0], MOST, MPI_CHAR, mt.peer, 8, comm,
                       MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 3);
    comm = with_hints("1000", "true");
    expect(comm, "offload_min_msgsz", "1000");
    expect(comm, "async_config", "true");
    for (int i = 0; i < mt.iters; i++) {
        all_sizes();
        cancelled(10);
        cancelled(MOST);
        persistent(10);
        persistent(MOST);
    }
    no_probes();
    without_assertion();
    taken_back();
    threshold_goes();
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

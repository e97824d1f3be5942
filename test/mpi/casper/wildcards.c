/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The ways to name messages, CSP_MATCHING, with each hint wildcard_used: which communicators are
 * offloaded, all that the hint permits works, senders that share a ghost and use equal tags are told
 * apart, MPI_TAG_UB is right, and with `tag` a wildcard against the hint is an error. */
#include "../mt.h"
#include <limits.h>

enum { MESSAGES = 12, MOST = 30000 };

enum { ANY_SRC = 1, ANY_TAG = 2 };

typedef struct example {
    const char *key, *value;
    int wildcards;
} example_t;

static const char *mode;

static int is_tag(void)
{
    return strcmp(mode, "tag") == 0;
}

static void expect_info(MPI_Comm comm, const char *key, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag;
    MT_OK(MPI_Comm_get_info(comm, &info));
    MT_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag));
    MT_CHECK(flag && strcmp(value, expected) == 0, "%s is '%s', not %s", key, value, expected);
    MT_OK(MPI_Info_free(&info));
}

static MPI_Comm with_hints(const example_t * e)
{
    MPI_Info info;
    MPI_Comm comm;
    MT_OK(MPI_Info_create(&info));
    if (e->key)
        MT_OK(MPI_Info_set(info, e->key, e->value));
    if (!e->key) {
        MT_OK(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
        MT_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    }
    MT_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    MT_OK(MPI_Info_free(&info));
    return comm;
}

/* ---- many senders with equal tags ---- */

static int size_of(int i)
{
    static const int sizes[] = { 1, 16, 200, 2000, MOST, 40 };
    return sizes[i % 6];
}

static void send_all(MPI_Comm comm, int tag)
{
    int *data = mt_alloc(MOST * sizeof(int));
    for (int i = 0; i < MESSAGES; i++) {
        for (int k = 0; k < size_of(i); k++)
            data[k] = mt.rank * 1000000 + i * 10000 + k;
        MT_OK(MPI_Send(data, size_of(i), MPI_INT, 0, tag, comm));
    }
    free(data);
}

static void check(const int *data, const MPI_Status *status, int source, int tag, int i)
{
    int count;
    MT_OK(MPI_Get_count(status, MPI_INT, &count));
    MT_CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && count == size_of(i),
             "message %d: %d ints of %d with tag %d, not %d of %d with tag %d", i, count,
             status->MPI_SOURCE, status->MPI_TAG, size_of(i), source, tag);
    for (int k = 0; k < count; k++)
        MT_CHECK(data[k] == source * 1000000 + i * 10000 + k, "message %d of %d differs", i, source);
}

/* By receive, by probe and receive, by matched probe, in turn; from each source, the last one first. */
static void receive_from(MPI_Comm comm, int tag, int wanted_tag)
{
    int *data = mt_alloc(MOST * sizeof(int));
    MPI_Status status, probed;
    MPI_Message message;
    for (int i = 0; i < MESSAGES; i++) {
        for (int source = mt.size - 1; source > 0; source--) {
            if (i % 3 == 2) {
                MT_OK(MPI_Mprobe(source, wanted_tag, comm, &message, &probed));
                MT_OK(MPI_Mrecv(data, MOST, MPI_INT, &message, &status));
            } else {
                if (i % 3 == 1)
                    MT_OK(MPI_Probe(source, wanted_tag, comm, &probed));
                MT_OK(MPI_Recv(data, MOST, MPI_INT, source, wanted_tag, comm, &status));
            }
            check(data, &status, source, tag, i);
            if (i % 3)
                check(data, &probed, source, tag, i);
        }
    }
    free(data);
}

static void receive_any(MPI_Comm comm, int tag, int wanted_tag)
{
    int *data = mt_alloc(MOST * sizeof(int)), *next = mt_alloc((size_t) mt.size * sizeof(int));
    MPI_Status status;
    for (int i = 0; i < MESSAGES * (mt.size - 1); i++) {
        MT_OK(MPI_Recv(data, MOST, MPI_INT, MPI_ANY_SOURCE, wanted_tag, comm, &status));
        check(data, &status, status.MPI_SOURCE, tag, next[status.MPI_SOURCE]++);
    }
    free(next);
    free(data);
}

static void many_to_one(MPI_Comm comm, int tag, int wildcards)
{
    for (int way = 0; way < 4; way++) {
        int wanted_tag = way & ANY_TAG ? MPI_ANY_TAG : tag;
        if ((way & wildcards) != way)
            continue;
        if (mt.rank > 0)
            send_all(comm, tag);
        else if (way & ANY_SRC)
            receive_any(comm, tag, wanted_tag);
        else
            receive_from(comm, tag, wanted_tag);
        MT_OK(MPI_Barrier(comm));
    }
}

/* ---- errors ---- */

static void expect_error(int code, int class, const char *what)
{
    int got = MPI_SUCCESS;
    MT_OK(MPI_Error_class(code, &got));
    MT_CHECK(got == class, "%s: class %d, not %d", what, got, class);
}

static void break_promise(MPI_Comm comm)
{
    int x, flag;
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Status status;
    expect_error(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &status), MPI_ERR_RANK, "receive");
    MT_OK(MPI_Irecv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &req));
    expect_error(MPI_Wait(&req, &status), MPI_ERR_TAG, "nonblocking receive");
    MT_OK(MPI_Irecv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &req));
    MT_OK(MPI_Cancel(&req));
    expect_error(MPI_Wait(&req, &status), MPI_ERR_TAG, "receive, refused and then cancelled");
    expect_error(MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, &status), MPI_ERR_RANK, "probe");
    expect_error(MPI_Probe(0, MPI_ANY_TAG, comm, &status), MPI_ERR_TAG, "probe");
}

static int tag_ub_of(MPI_Comm comm)
{
    int *value = NULL, flag, least, most;
    MT_OK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag));
    MT_CHECK(flag && *value >= 32767, "MPI_TAG_UB is %d", flag ? *value : -1);
    MT_OK(MPI_Allreduce(value, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    MT_OK(MPI_Allreduce(value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    MT_CHECK(least == most, "MPI_TAG_UB differs: %d, %d", least, most);
    return most;
}

/* A message is cut, a tag is too large; the status of the first names its message. From another node,
 * UCX brings none of the data. */
static void wrong(MPI_Comm comm, int tag_ub)
{
    int data[4] = { mt.rank, mt.rank, mt.rank, mt.rank }, got[4] = { -1, -1, -1, -1 };
    int next = (mt.rank + 1) % mt.size, last = (mt.rank + mt.size - 1) % mt.size;
    MPI_Request req;
    MPI_Status status;
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MT_OK(MPI_Isend(data, 4, MPI_INT, next, tag_ub, comm, &req));
    expect_error(MPI_Recv(got, 2, MPI_INT, last, tag_ub, comm, &status), MPI_ERR_TRUNCATE, "cut");
    MT_CHECK((got[1] == last || (got[1] == -1 && mt_library_has("ch4:ucx"))) && got[2] == -1,
             "got %d, %d", got[1], got[2]);
    MT_CHECK(status.MPI_SOURCE == last && status.MPI_TAG == tag_ub, "source %d, tag %d",
             status.MPI_SOURCE, status.MPI_TAG);
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    if (tag_ub < INT_MAX)
        expect_error(MPI_Send(data, 1, MPI_INT, next, tag_ub + 1, comm), MPI_ERR_TAG, "tag too large");
    MT_OK(MPI_Barrier(comm));
}

/* To oneself; a receive that is cancelled takes nothing. */
static void alone(MPI_Comm comm)
{
    int out = mt.rank, in = -1, flag;
    MPI_Request req[2], cancelled;
    MPI_Status status;
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, mt.rank, 3, comm, &cancelled));
    MT_OK(MPI_Cancel(&cancelled));
    MT_OK(MPI_Wait(&cancelled, &status));
    MT_OK(MPI_Test_cancelled(&status, &flag));
    MT_CHECK(flag, "not cancelled");
    MT_OK(MPI_Isend(&out, 1, MPI_INT, mt.rank, 3, comm, &req[0]));
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, mt.rank, 3, comm, &req[1]));
    MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
    MT_CHECK(in == mt.rank, "got %d", in);
}

/* Assertions alone, by MPI_Comm_set_info, leave a receive that waits on its path. */
static void asserted_late(void)
{
    int next = (mt.rank + 1) % mt.size, last = (mt.rank + mt.size - 1) % mt.size;
    int in = -1, out = mt.rank;
    MPI_Request req;
    MPI_Comm comm;
    MPI_Info info;
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, last, 4, comm, &req));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
    MT_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    MT_OK(MPI_Comm_set_info(comm, info));
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Send(&out, 1, MPI_INT, next, 4, comm));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_CHECK(in == last, "got %d", in);
    MT_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    static const example_t examples[] = {
        {"wildcard_used", "any_src", ANY_SRC}, {"wildcard_used", "any_tag_same_tag", ANY_TAG},
        {"wildcard_used", "any_src|any_tag_same_tag", ANY_SRC | ANY_TAG}, {"wildcard_used", "none", 0},
        {"async_config", "on", ANY_SRC | ANY_TAG}, {NULL, NULL, 0}
    };
    mode = getenv("CSP_MATCHING") ? getenv("CSP_MATCHING") : "masked";
    mt_init(argc, argv, 1, 1);
    int tag_ub = tag_ub_of(MPI_COMM_WORLD);
    if (mt.bytes > 0)
        MT_CHECK(tag_ub + 1 == mt.bytes, "MPI_TAG_UB is %d", tag_ub);
    for (int i = 0; i < 6; i++) {
        int is_offloaded = !is_tag() || examples[i].wildcards == 0;
        MPI_Comm comm = with_hints(&examples[i]);
        expect_info(comm, "async_config", is_offloaded ? "true" : "false");
        expect_info(comm, "csp_matching", mode);
        MT_CHECK(tag_ub_of(comm) == tag_ub, "MPI_TAG_UB of a duplicate differs");
        many_to_one(comm, 9, examples[i].wildcards);
        many_to_one(comm, tag_ub, examples[i].wildcards);
        alone(comm);
        wrong(comm, tag_ub);
        if (is_tag() && is_offloaded)
            break_promise(comm);
        MT_OK(MPI_Comm_free(&comm));
    }
    asserted_late();
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A truncated receive: its error goes to the error handler of its communicator whichever call finds it,
 * also if the communicator has been freed and the request keeps it; that of a call which returns
 * statuses goes to the handler of MPI_COMM_WORLD. A message is gone after MPI_Mrecv, and later calls
 * have handlers of their own. */
#include "mt.h"

#define LARGE 200000

enum { POSTED, EARLY, SELF, SELF_EARLY, TO_ALL, PLACES };
enum { WAIT, TEST, WAITANY, TESTANY, GET_STATUS, STATUSES, WAITALL = STATUSES, TESTALL, WAITSOME,
    TESTSOME, WAYS
};

static MPI_Errhandler counts;

/* The communicator whose handler may be called, and the calls. */
static MPI_Comm own;
static int by_own, by_world;

/* The handle is as good as ever. */
static void on_own(MPI_Comm * c, int *code, ...)
{
    int size;

    (void) code;
    MT_CHECK(*c == own, "the handler is called for another communicator");
    MT_OK(MPI_Comm_size(*c, &size));
    by_own++;
}

static void on_world(MPI_Comm * c, int *code, ...)
{
    (void) code;
    MT_CHECK(*c == MPI_COMM_WORLD, "the handler of MPI_COMM_WORLD is called for another communicator");
    by_world++;
}

static void calls_were(int for_own, int for_world, const char *what)
{
    MT_CHECK(by_own == for_own && by_world == for_world, "%s: the communicator's handler is called "
             "%d times, that of MPI_COMM_WORLD %d times", what, by_own, by_world);
    by_own = by_world = 0;
}

static void make(int place)
{
    const int alone = place == SELF || place == SELF_EARLY;

    MT_OK(MPI_Comm_dup(alone ? MPI_COMM_SELF : MPI_COMM_WORLD, &own));
    MT_OK(MPI_Comm_set_errhandler(own, counts));
}

/* The handle of what is freed stays in own. */
static void free_own(void)
{
    MPI_Comm comm = own;

    MT_OK(MPI_Comm_free(&comm));
}

/* Sends n bytes and receives half of them. To all: a collective call of both. */
static void begin(int place, MPI_Comm comm, char *out, char *in, int n, MPI_Request * r,
                  MPI_Request * sent)
{
    const int peer = place == SELF || place == SELF_EARLY ? 0 : mt.peer;

    *sent = MPI_REQUEST_NULL;
    if (place == TO_ALL) {
        MT_OK(MPI_Ibcast(mt.rank ? in : out, mt.rank ? n / 2 : n, MPI_BYTE, 0, comm, r));
        return;
    }
    if (place == POSTED || place == SELF)
        MT_OK(MPI_Irecv(in, n / 2, MPI_BYTE, peer, 0, comm, r));
    if (place == POSTED)
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Isend(out, n, MPI_BYTE, peer, 0, comm, sent));
    if (place == EARLY || place == SELF_EARLY) {
        MT_OK(MPI_Probe(peer, 0, comm, MPI_STATUS_IGNORE));
        MT_OK(MPI_Irecv(in, n / 2, MPI_BYTE, peer, 0, comm, r));
    }
}

static int end(int way, MPI_Request * r, MPI_Status * st)
{
    int flag = 0, at, n = 0, rc = MPI_SUCCESS;

    switch (way) {
        case WAIT: return MPI_Wait(r, st);
        case WAITANY: return MPI_Waitany(1, r, &at, st);
        case WAITALL: return MPI_Waitall(1, r, st);
        case WAITSOME: return MPI_Waitsome(1, r, &n, &at, st);
        default: break;
    }
    while (rc == MPI_SUCCESS && !flag && n == 0) {
        switch (way) {
            case TEST: rc = MPI_Test(r, &flag, st); break;
            case TESTANY: rc = MPI_Testany(1, r, &at, &flag, st); break;
            case GET_STATUS: rc = MPI_Request_get_status(*r, &flag, st); break;
            case TESTALL: rc = MPI_Testall(1, r, &flag, st); break;
            default: rc = MPI_Testsome(1, r, &n, &at, st);
        }
    }
    return rc;
}

/* A collective call has an error of any class where data is received. */
static void check(int rc, int place, int way, const char *name)
{
    if (way >= STATUSES && (place != TO_ALL || mt.rank != 0))
        mt_fails(rc, MPI_ERR_IN_STATUS, name);
    else if (place == TO_ALL)
        MT_CHECK((rc != MPI_SUCCESS) == (mt.rank != 0), "%s gave %d", name, rc);
    else
        mt_fails(rc, MPI_ERR_TRUNCATE, name);
}

static void fail(int place, int way, int is_freed, char *out, char *in, int n)
{
    static const char *const names[WAYS] = { "MPI_Wait", "MPI_Test", "MPI_Waitany", "MPI_Testany",
        "MPI_Request_get_status", "MPI_Waitall", "MPI_Testall", "MPI_Waitsome", "MPI_Testsome"
    };
    const char *name = names[way];
    const int has_error = place != TO_ALL || mt.rank != 0;
    MPI_Request r, sent;
    MPI_Status st;
    int rc;

    make(place);
    begin(place, own, out, in, n, &r, &sent);
    if (is_freed)
        free_own();
    MT_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    rc = end(way, &r, &st);
    check(rc, place, way, name);
    calls_were(has_error && way < STATUSES, has_error && way >= STATUSES, name);
    if (way == GET_STATUS) {
        rc = MPI_Wait(&r, &st);
        check(rc, place, WAIT, "MPI_Wait after MPI_Request_get_status");
        calls_were(has_error, 0, "MPI_Wait after MPI_Request_get_status");
    }
    MT_CHECK(r == MPI_REQUEST_NULL, "%s keeps the request", name);
    if (!is_freed)
        MT_OK(MPI_Comm_disconnect(&own));       /* nothing keeps it */
}

static void fail_message(int place, int is_freed, char *out, char *in, int n)
{
    const int peer = place == SELF ? 0 : mt.peer;
    MPI_Message message;
    MPI_Request sent;
    int rc;

    make(place);
    MT_OK(MPI_Isend(out, n, MPI_BYTE, peer, 0, own, &sent));
    MT_OK(MPI_Mprobe(peer, 0, own, &message, MPI_STATUS_IGNORE));
    if (is_freed)
        free_own();
    rc = MPI_Mrecv(in, n / 2, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    mt_fails(rc, MPI_ERR_TRUNCATE, "MPI_Mrecv");
    MT_CHECK(message == MPI_MESSAGE_NULL, "MPI_Mrecv keeps the message");
    calls_were(1, 0, "MPI_Mrecv");
    MT_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    if (!is_freed)
        MT_OK(MPI_Comm_disconnect(&own));       /* nothing keeps it */
}

/* A persistent receive is not freed. */
static void fail_persistent(char *out, char *in, int n)
{
    MPI_Request r;

    make(POSTED);
    MT_OK(MPI_Recv_init(in, n / 2, MPI_BYTE, mt.peer, 0, own, &r));
    MT_OK(MPI_Start(&r));
    MT_OK(MPI_Send(out, n, MPI_BYTE, mt.peer, 0, own));
    free_own();
    mt_fails(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "MPI_Wait of a persistent receive");
    calls_were(1, 0, "MPI_Wait of a persistent receive");
    MT_OK(MPI_Request_free(&r));
}

/* MPI_Testall completes two: a receive with an error, and a generalized request whose function has an
 * error on another communicator, which is own then. */
static int query(void *other, MPI_Status * st)
{
    const int before = by_own;

    (void) other;
    mt_fails(MPI_Send(NULL, 0, MPI_BYTE, mt.size, 0, own), MPI_ERR_RANK, "MPI_Send");
    MT_CHECK(by_own == before + 1 && by_world == 0, "another handler is called");
    MT_OK(MPI_Status_set_elements(st, MPI_BYTE, 0));
    MT_OK(MPI_Status_set_cancelled(st, 0));
    return MPI_SUCCESS;
}

static int free_nothing(void *other)
{
    (void) other;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *other, int complete)
{
    (void) other, (void) complete;
    return MPI_SUCCESS;
}

static void fail_within(char *out, char *in, int n)
{
    MPI_Request r[2], sent;
    MPI_Status st[2];
    int flag = 0, rc = MPI_SUCCESS;

    make(POSTED);
    begin(POSTED, own, out, in, n, &r[0], &sent);
    free_own();
    make(POSTED);
    MT_OK(MPI_Grequest_start(query, free_nothing, cancel_nothing, NULL, &r[1]));
    MT_OK(MPI_Grequest_complete(r[1]));
    MT_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    while (rc == MPI_SUCCESS && !flag)
        rc = MPI_Testall(2, r, &flag, st);
    mt_fails(rc, MPI_ERR_IN_STATUS, "MPI_Testall");
    MT_CHECK(by_own >= 1 && by_world == 1, "%d and %d calls", by_own, by_world);
    by_own = by_world = 0;
    MT_OK(MPI_Comm_disconnect(&own));
}

static int complete_polled(void *request, MPI_Status * st)
{
    (void) st;
    return MPI_Grequest_complete(*(MPI_Request *) request);
}

static int wait_polled(int count, void **requests, double timeout, MPI_Status * st)
{
    (void) timeout;
    for (int i = 0; i < count; i++)
        MT_OK(complete_polled(requests[i], st));
    return MPI_SUCCESS;
}

static int query_nothing(void *other, MPI_Status * st)
{
    (void) other;
    MT_OK(MPI_Status_set_elements(st, MPI_BYTE, 0));
    return MPI_Status_set_cancelled(st, 0);
}

/* MPI_Waitall and MPI_Testall, of more requests than MPICH looks at together: all but one are null,
 * and have no error. is_polled: the last one is generalized and has a poll function, so MPI_Waitall
 * looks at all together. */
static void fail_among_null(int way, int is_polled, char *out, char *in, int n)
{
    enum { MANY = 140, BAD = 70 };
    MPI_Request r[MANY], sent;
    MPI_Status st[MANY];
    int flag = 0, rc = MPI_SUCCESS;

    make(POSTED);
    for (int i = 0; i < MANY; i++)
        r[i] = MPI_REQUEST_NULL;
    memset(st, 0x55, sizeof(st));
    if (is_polled)
        MT_OK(MPIX_Grequest_start(query_nothing, free_nothing, cancel_nothing, complete_polled,
                                  wait_polled, &r[MANY - 1], &r[MANY - 1]));
    begin(POSTED, own, out, in, n, &r[BAD], &sent);
    MT_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    if (way == WAITALL)
        rc = MPI_Waitall(MANY, r, st);
    while (way == TESTALL && rc == MPI_SUCCESS && !flag)
        rc = MPI_Testall(MANY, r, &flag, st);
    mt_fails(rc, MPI_ERR_IN_STATUS, way == WAITALL ? "MPI_Waitall" : "MPI_Testall");
    /* after an error MPI_Waitall may leave the others pending */
    if (r[MANY - 1] != MPI_REQUEST_NULL) {
        MT_CHECK(st[MANY - 1].MPI_ERROR == MPI_ERR_PENDING, "error %d", st[MANY - 1].MPI_ERROR);
        MT_OK(MPI_Wait(&r[MANY - 1], MPI_STATUS_IGNORE));
        st[MANY - 1].MPI_ERROR = MPI_SUCCESS;
    }
    for (int i = 0; i < MANY; i++)
        MT_CHECK((st[i].MPI_ERROR == MPI_SUCCESS) == (i != BAD), "status %d has the error %d", i,
                 st[i].MPI_ERROR);
    by_own = by_world = 0;
    MT_OK(MPI_Comm_disconnect(&own));
}

/* Messages within a call are not requests of the program; and after all that, errors of calls without
 * a request go to MPI_COMM_WORLD, and those of others to their communicators. */
static void fail_calls(char *out, char *in, int n)
{
    MPI_Datatype none = MPI_DATATYPE_NULL;
    int rc;

    make(POSTED);
    rc = MPI_Bcast(mt.rank ? in : out, mt.rank ? n / 2 : n, MPI_BYTE, 0, own);
    MT_CHECK((rc != MPI_SUCCESS) == (mt.rank != 0), "MPI_Bcast gave %d", rc);
    calls_were(mt.rank != 0, 0, "MPI_Bcast");
    rc = MPI_Sendrecv(out, n, MPI_BYTE, mt.peer, 1, in, n / 2, MPI_BYTE, mt.peer, 1, own,
                      MPI_STATUS_IGNORE);
    mt_fails(rc, MPI_ERR_TRUNCATE, "MPI_Sendrecv");
    calls_were(1, 0, "MPI_Sendrecv");
    mt_fails(MPI_Type_commit(&none), MPI_ERR_TYPE, "MPI_Type_commit");
    calls_were(0, 1, "MPI_Type_commit");
    MT_OK(MPI_Comm_disconnect(&own));
}

/* There may be some 2000 communicators, so a call that kept one would be noticed. */
static void fail_often(char *out, char *in)
{
    for (int i = 0; i < 2500; i++)
        fail(SELF, i % WAYS, 1, out, in, 4);
}

/* By one thread: MPICH keeps the texts of the latest 128 errors only (errors.c). */
static void fail_all(char *out, char *in, int n)
{
    for (int is_freed = 0; is_freed < 2; is_freed++) {
        for (int place = 0; place < PLACES; place++)
            for (int way = 0; way < WAYS; way++)
                fail(place, way, is_freed, out, in, n);
        fail_message(POSTED, is_freed, out, in, n);
        fail_message(SELF, is_freed, out, in, n);
    }
    fail_persistent(out, in, 4);
    fail_within(out, in, n);
    fail_among_null(WAITALL, 0, out, in, n);
    fail_among_null(WAITALL, 1, out, in, n);
    fail_among_null(TESTALL, 0, out, in, n);
    fail_calls(out, in, n);
}

int main(int argc, char **argv)
{
    MPI_Errhandler world;
    char *out, *in;

    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    out = mt_alloc(LARGE);
    in = mt_alloc(LARGE);
    MT_OK(MPI_Comm_create_errhandler(on_own, &counts));
    MT_OK(MPI_Comm_create_errhandler(on_world, &world));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, world));
    MT_OK(MPI_Errhandler_free(&world));
    for (int i = 0; i < (int) mt.iters; i++) {
        fail_all(out, in, 4);
        fail_all(out, in, LARGE);
    }
    fail_often(out, in);
    MT_OK(MPI_Errhandler_free(&counts));
    free(out);
    free(in);
    return mt_finish();
}

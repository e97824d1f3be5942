/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The wait and test families with every kind of request: generalized requests beside null ones, those
 * that the program polls (MPIX), more than 64 requests, errors among them, the statuses of collective,
 * one-sided, partitioned and inactive requests, and progress while MPI_Wait polls. Each thread has its
 * own communicator of this process alone; what needs the peer is done by the main thread. */
#include "mt.h"

#define MANY 200
#define BATCH 64
#define POLLS 3
#define LATE 0.05               /* seconds */
#define FILL 0x55555555

enum { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTALL, TESTANY, TESTSOME, GET_STATUS, CALLS };

static MPI_Comm comms[MT_MAX_THREADS];

static void fill(MPI_Status * status, int n)
{
    memset(status, 0x55, (size_t) n * sizeof(*status));
}

static void must_be_empty(const MPI_Status * status, const char *what)
{
    int count = -1, cancelled = 1;

    MT_OK(MPI_Get_count(status, MPI_INT, &count));
    MT_OK(MPI_Test_cancelled(status, &cancelled));
    MT_CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 &&
             !cancelled, "%s: the status has source %d, tag %d, count %d", what, status->MPI_SOURCE,
             status->MPI_TAG, count);
}

/* a generalized request, and what its functions are to be called with */
typedef struct {
    MPI_Request req;
    int polls, freed;
    double begun;               /* when it was polled first */
    const MPI_Status *expected;
} general_t;

static int query(void *extra, MPI_Status * status)
{
    (void) extra;
    MT_OK(MPI_Status_set_elements(status, MPI_INT, 7));
    MT_OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = 8;
    status->MPI_TAG = 9;
    return MPI_SUCCESS;
}

static int free_it(void *extra)
{
    ((general_t *) extra)->freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void) extra, (void) complete;
    return MPI_SUCCESS;
}

static int poll(void *extra, MPI_Status * status)
{
    general_t *g = extra;

    MT_CHECK(status == g->expected, "polled with status %p, not %p", (void *) status,
             (const void *) g->expected);
    if (++g->polls == POLLS)
        MT_OK(MPI_Grequest_complete(g->req));
    return MPI_SUCCESS;
}

static int wait(int count, void **extra, double timeout, MPI_Status * status)
{
    (void) timeout;
    MT_CHECK(count == 1, "waits for %d", count);
    while (((general_t *) extra[0])->polls < POLLS)
        poll(extra[0], status);
    return MPI_SUCCESS;
}

/* Without a wait function only if the arguments are not checked (MPIR_CVAR_ERROR_CHECKING=0). */
static void start(general_t * g, int is_polled, const MPI_Status * expected)
{
    *g = (general_t) {.expected = expected };
    if (!is_polled)
        MT_OK(MPI_Grequest_start(query, free_it, cancel, g, &g->req));
    else if (MPIX_Grequest_start(query, free_it, cancel, poll, NULL, g, &g->req) != MPI_SUCCESS)
        MT_OK(MPIX_Grequest_start(query, free_it, cancel, poll, wait, g, &g->req));
}

static void *complete_later(void *arg)
{
    usleep(1000);
    MT_OK(MPI_Grequest_complete(((general_t *) arg)->req));
    return NULL;
}

/* A generalized request that another thread completes, beside null requests. */
static void general_and_null(int with_statuses)
{
    general_t g;
    pthread_t thread;
    MPI_Status s[3];
    MPI_Request r[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };

    start(&g, 0, NULL);
    r[1] = g.req;
    MT_CHECK(!pthread_create(&thread, NULL, complete_later, &g), "cannot create a thread");
    MT_OK(MPI_Waitall(3, r, with_statuses ? s : MPI_STATUSES_IGNORE));
    pthread_join(thread, NULL);
    MT_CHECK(r[1] == MPI_REQUEST_NULL && g.freed == 1, "freed %d times", g.freed);
    if (with_statuses) {
        must_be_empty(&s[0], "MPI_Waitall, null");
        MT_CHECK(s[1].MPI_SOURCE == 8 && s[1].MPI_TAG == 9, "source %d", s[1].MPI_SOURCE);
    }
}

/* One call; whether the generalized request, the second of the list, is done. */
static int one_call(int call, MPI_Request r[2], MPI_Status s[2], int with_statuses)
{
    int flag = 0, index = -1, n = 0, indices[2];
    MPI_Status *first = with_statuses ? s : MPI_STATUS_IGNORE;
    MPI_Status *all = with_statuses ? s : MPI_STATUSES_IGNORE;

    switch (call) {
        case WAIT: MT_OK(MPI_Wait(&r[1], first)); return 1;
        case WAITALL: MT_OK(MPI_Waitall(2, r, all)); return 1;
        case WAITANY: MT_OK(MPI_Waitany(2, r, &index, first)); return index == 1;
        case WAITSOME: MT_OK(MPI_Waitsome(2, r, &n, indices, all)); return n == 1;
        case TEST: MT_OK(MPI_Test(&r[1], &flag, first)); return flag;
        case TESTALL: MT_OK(MPI_Testall(2, r, &flag, all)); return flag;
        case TESTANY: MT_OK(MPI_Testany(2, r, &index, &flag, first)); return flag && index == 1;
        case TESTSOME: MT_OK(MPI_Testsome(2, r, &n, indices, all)); return n == 1;
        default: MT_OK(MPI_Request_get_status(r[1], &flag, first)); return flag;
    }
}

/* Only its own functions complete the request, so every call must call them, with the request's status
 * of the caller, or with none. */
static void polled(int call, int with_statuses)
{
    general_t g;
    MPI_Status s[2];
    int in_list = call == WAITALL || call == WAITSOME || call == TESTALL || call == TESTSOME;
    int at = call == WAITALL || call == TESTALL;

    start(&g, 1, with_statuses ? &s[in_list] : MPI_STATUS_IGNORE);
    MPI_Request r[2] = { MPI_REQUEST_NULL, g.req };
    for (int calls = 1; !one_call(call, r, s, with_statuses); calls++)
        MT_CHECK(calls < POLLS, "call %d: %d calls, %d polls", call, calls, g.polls);
    if (with_statuses)
        MT_CHECK(s[at].MPI_SOURCE == 8 && s[at].MPI_TAG == 9, "call %d: source %d, tag %d", call,
                 s[at].MPI_SOURCE, s[at].MPI_TAG);
    if (call == GET_STATUS)
        MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    MT_CHECK(r[1] == MPI_REQUEST_NULL && g.freed == 1, "call %d: freed %d times", call, g.freed);
}

/* Two of them among 200 requests. */
static void polled_among_many(MPI_Comm comm, int with_statuses)
{
    general_t g[2];
    int in[MANY] = { 0 }, value = 1;
    MPI_Request r[MANY];
    static const int at[2] = { 70, 130 };
    MPI_Status *s = with_statuses ? mt_alloc(MANY * sizeof(MPI_Status)) : MPI_STATUSES_IGNORE;

    for (int i = 0; i < MANY; i++)
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, comm, &r[i]));
    for (int k = 0; k < 2; k++) {
        MT_OK(MPI_Send(&value, 1, MPI_INT, 0, at[k], comm));
        MT_OK(MPI_Wait(&r[at[k]], MPI_STATUS_IGNORE));
        start(&g[k], 1, with_statuses ? &s[at[k]] : MPI_STATUS_IGNORE);
        r[at[k]] = g[k].req;
    }
    for (int i = 0; i < MANY; i++)
        if (i != at[0] && i != at[1])
            MT_OK(MPI_Send(&value, 1, MPI_INT, 0, i, comm));
    MT_OK(MPI_Waitall(MANY, r, s));
    for (int i = 0; i < MANY; i++) {
        MT_CHECK(r[i] == MPI_REQUEST_NULL && in[i] == 1, "request %d is not complete", i);
        if (with_statuses)
            MT_CHECK(s[i].MPI_TAG == (i == at[0] || i == at[1] ? 9 : i), "status %d has tag %d", i,
                     s[i].MPI_TAG);
    }
    if (with_statuses)
        free(s);
}

/* A persistent request, the first of more than 64, is kept. */
static void testall_keeps_persistent(MPI_Comm comm)
{
    int in[MANY], flag = 0, value = 1;
    MPI_Request r[MANY];

    MT_OK(MPI_Recv_init(&in[0], 1, MPI_INT, 0, 0, comm, &r[0]));
    for (int i = 1; i < MANY; i++)
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, comm, &r[i]));
    MT_OK(MPI_Start(&r[0]));
    for (int i = 0; i < MANY; i++)
        MT_OK(MPI_Send(&value, 1, MPI_INT, 0, i, comm));
    while (!flag)
        MT_OK(MPI_Testall(MANY, r, &flag, MPI_STATUSES_IGNORE));
    MT_CHECK(r[0] != MPI_REQUEST_NULL, "MPI_Testall of many requests frees a persistent one");
    MT_OK(MPI_Start(&r[0]));
    MT_OK(MPI_Send(&value, 1, MPI_INT, 0, 0, comm));
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    MT_OK(MPI_Request_free(&r[0]));
}

/* The first of many receives fails. The others, most without a message, are pending, but for a null
 * one; they still work. */
static void waitall_error(MPI_Comm comm)
{
    enum { NONE = 150, HAVE = 64 };
    int in[MANY] = { 0 }, out[4] = { 1, 1, 1, 1 };
    MPI_Request r[MANY];
    MPI_Status s[MANY];

    for (int i = 0; i < MANY; i++) {
        r[i] = MPI_REQUEST_NULL;
        if (i != NONE)
            MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, comm, &r[i]));
    }
    for (int i = 0; i < HAVE; i++)
        MT_OK(MPI_Send(out, i ? 1 : 4, MPI_INT, 0, i, comm));
    fill(s, MANY);
    mt_fails(MPI_Waitall(MANY, r, s), MPI_ERR_IN_STATUS, "MPI_Waitall with a message too long");
    mt_fails(s[0].MPI_ERROR, MPI_ERR_TRUNCATE, "the message");
    MT_CHECK(r[0] == MPI_REQUEST_NULL, "the request of the message is still there");
    MT_CHECK(s[NONE].MPI_ERROR == MPI_SUCCESS, "null request: error %d", s[NONE].MPI_ERROR);
    must_be_empty(&s[NONE], "null request after an error");
    for (int i = HAVE; i < MANY; i++)
        MT_CHECK(i == NONE || (s[i].MPI_ERROR == MPI_ERR_PENDING && r[i] != MPI_REQUEST_NULL),
                 "receive %d, without a message, has error %d", i, s[i].MPI_ERROR);
    for (int i = HAVE; i < MANY; i++)
        if (i != NONE)
            MT_OK(MPI_Send(out, 1, MPI_INT, 0, i, comm));
    MT_OK(MPI_Waitall(MANY, r, s));
    for (int i = 1; i < MANY; i++)
        MT_CHECK(i == NONE || in[i] == 1, "receive %d got %d", i, in[i]);
}

/* MPI_Request_get_status sets what MPI_Wait sets. */
static void same_status(MPI_Request * r, int is_receive, const char *what)
{
    int flag = 0, count[2] = { -1, -1 };
    MPI_Status s[2];

    fill(s, 2);
    while (!flag)
        MT_OK(MPI_Request_get_status(*r, &flag, &s[0]));
    MT_OK(MPI_Wait(r, &s[1]));
    for (int i = 0; i < 2; i++) {
        int cancelled = 1;
        MT_OK(MPI_Test_cancelled(&s[i], &cancelled));
        MT_CHECK(!cancelled && s[i].MPI_SOURCE != FILL, "%s: no status %d", what, i);
        if (is_receive)
            MT_OK(MPI_Get_count(&s[i], MPI_INT, &count[i]));
    }
    MT_CHECK(s[0].MPI_SOURCE == s[1].MPI_SOURCE && s[0].MPI_TAG == s[1].MPI_TAG &&
             count[0] == count[1], "%s: source %d and %d, count %d and %d", what, s[0].MPI_SOURCE,
             s[1].MPI_SOURCE, count[0], count[1]);
}

/* Every call on inactive requests returns at once, with an empty status. */
static void inactive(MPI_Request * r, const char *what)
{
    int flag = 0, index = 0;
    MPI_Status s;
    MPI_Request two[2] = { *r, MPI_REQUEST_NULL };

    fill(&s, 1);
    MT_OK(MPI_Testany(2, two, &index, &flag, &s));
    MT_CHECK(flag && index == MPI_UNDEFINED, "%s: MPI_Testany gives %d, %d", what, flag, index);
    must_be_empty(&s, what);
    fill(&s, 1);
    index = 0;
    MT_OK(MPI_Waitany(2, two, &index, &s));
    MT_CHECK(index == MPI_UNDEFINED, "%s: MPI_Waitany gives %d", what, index);
    must_be_empty(&s, what);
    fill(&s, 1);
    MT_OK(MPI_Request_get_status(*r, &flag, &s));
    MT_CHECK(flag, "%s: MPI_Request_get_status gives false", what);
    must_be_empty(&s, what);
    fill(&s, 1);
    MT_OK(MPI_Wait(r, &s));
    must_be_empty(&s, what);
}

static void persistent(MPI_Comm comm)
{
    int value = 0;
    MPI_Request r;

    MT_OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &r));
    inactive(&r, "persistent receive");
    MT_OK(MPI_Request_free(&r));
    MT_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &r));
    inactive(&r, "persistent barrier");
    MT_OK(MPI_Start(&r));
    same_status(&r, 0, "persistent barrier");
    inactive(&r, "persistent barrier after use");
    MT_OK(MPI_Request_free(&r));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Comm comm = comms[t->id];

    for (long i = 0; i < mt.iters; i++) {
        MPI_Request r;
        for (int with_statuses = 0; with_statuses < 2; with_statuses++) {
            general_and_null(with_statuses);
            for (int call = 0; call < CALLS; call++)
                polled(call, with_statuses);
            polled_among_many(comm, with_statuses);
        }
        testall_keeps_persistent(comm);
        waitall_error(comm);
        MT_OK(MPI_Ibarrier(comm, &r));
        same_status(&r, 0, "nonblocking barrier");
        persistent(comm);
    }
    return NULL;
}

static void one_sided(void)
{
    int *mine, value = mt.rank;
    MPI_Win win;
    MPI_Request r;

    MT_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    MT_OK(MPI_Rput(&value, 1, MPI_INT, mt.peer, 0, 1, MPI_INT, win, &r));
    same_status(&r, 0, "MPI_Rput");
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
}

static void partitioned(void)
{
    int data[2] = { 0, 0 };
    MPI_Request r;

    if (mt.rank == 0)
        MT_OK(MPI_Precv_init(data, 2, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    else
        MT_OK(MPI_Psend_init(data, 2, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    for (int round = 0; round < 3; round++) {
        inactive(&r, "partitioned");
        MT_OK(MPI_Start(&r));
        if (mt.rank != 0)
            MT_OK(MPI_Pready_range(0, 1, r));
        same_status(&r, mt.rank == 0, "partitioned");
    }
    inactive(&r, "partitioned after use");
    MT_OK(MPI_Request_free(&r));
}

/* Its poll function, once it is called late enough, sends what the peer's receive waits for. */
static int poll_sends(void *extra, MPI_Status * status)
{
    general_t *g = extra;

    (void) status;
    if (g->polls++ == 0)
        g->begun = MPI_Wtime();
    if (MPI_Wtime() - g->begun > LATE) {
        MT_OK(MPI_Send(&mt.rank, 1, MPI_INT, mt.peer, 1, MPI_COMM_WORLD));
        MT_OK(MPI_Grequest_complete(g->req));
    }
    return MPI_SUCCESS;
}

static int wait_sends(int count, void **extra, double timeout, MPI_Status * status)
{
    int sent = 0;

    (void) timeout;
    MT_CHECK(count == 1, "waits for %d", count);
    while (!sent) {
        poll_sends(extra[0], status);
        MT_OK(MPI_Request_get_status(((general_t *) extra[0])->req, &sent, MPI_STATUS_IGNORE));
    }
    return MPI_SUCCESS;
}

static void *receive_beside(void *arg)
{
    (void) arg;
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return NULL;
}

/* A wait for all must not sleep on the last request of its list while an earlier one has to be polled;
 * also if another thread waits, which could poll the VCI for both. A library that checks arguments
 * wants a wait function, and MPI_Waitall calls that at once; without it offload, mp-server and
 * hmcs-usc hung here. */
static void poll_brings_message(int is_alone)
{
    general_t g = {.polls = 0 };
    int in = -1;
    pthread_t other;
    MPI_Request r[2];

    if (!is_alone)
        MT_CHECK(!pthread_create(&other, NULL, receive_beside, NULL), "cannot create a thread");
    if (MPIX_Grequest_start(query, free_it, cancel, poll_sends, NULL, &g, &g.req) != MPI_SUCCESS)
        MT_OK(MPIX_Grequest_start(query, free_it, cancel, poll_sends, wait_sends, &g, &g.req));
    r[0] = g.req;
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, mt.peer, 1, MPI_COMM_WORLD, &r[1]));
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    MT_CHECK(in == mt.peer && g.freed == 1, "received %d, freed %d times", in, g.freed);
    if (!is_alone) {
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, 2, MPI_COMM_WORLD));
        pthread_join(other, NULL);
    }
}

/* Its poll function sends what all of the receives before it wait for: more than MPI_Waitall waits for
 * at a time (MPIR_CVAR_REQUEST_BATCH_SIZE). */
static int poll_feeds(void *extra, MPI_Status * status)
{
    (void) status;
    for (int i = 0; i < BATCH; i++)
        MT_OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
    MT_OK(MPI_Grequest_complete(((general_t *) extra)->req));
    return MPI_SUCCESS;
}

static int wait_feeds(int count, void **extra, double timeout, MPI_Status * status)
{
    (void) timeout;
    MT_CHECK(count == 1, "waits for %d", count);
    return poll_feeds(extra[0], status);
}

static void last_feeds_all(void)
{
    general_t g = {.freed = 0 };
    int in[BATCH];
    MPI_Request r[BATCH + 1];

    for (int i = 0; i < BATCH; i++) {
        in[i] = -1;
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]));
    }
    if (MPIX_Grequest_start(query, free_it, cancel, poll_feeds, NULL, &g, &g.req) != MPI_SUCCESS)
        MT_OK(MPIX_Grequest_start(query, free_it, cancel, poll_feeds, wait_feeds, &g, &g.req));
    r[BATCH] = g.req;
    MT_OK(MPI_Waitall(BATCH + 1, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < BATCH; i++)
        MT_CHECK(in[i] == i, "receive %d got %d", i, in[i]);
    MT_CHECK(g.freed == 1, "freed %d times", g.freed);
}

static _Atomic int reduced;

static void reduce(void *in, void *inout, int *n, MPI_Datatype * type)
{
    (void) type;
    for (int i = 0; i < *n; i++)
        ((int *) inout)[i] += ((int *) in)[i];
    reduced = 1;
}

static int poll_reduced(void *extra, MPI_Status * status)
{
    (void) status;
    if (reduced)
        MT_OK(MPI_Grequest_complete(((general_t *) extra)->req));
    return MPI_SUCCESS;
}

/* MPI_Wait makes progress also while it polls: a reduction, which comes late, calls the operation that
 * the poll function waits for without a call of MPI. */
static void wait_makes_progress(void)
{
    general_t g = {.freed = 0 };
    int sum = 0, one = 1;
    MPI_Op op;
    MPI_Request r;

    MT_OK(MPI_Op_create(reduce, 1, &op));
    if (mt.rank == 1)
        usleep((useconds_t) (LATE * 1e6));
    MT_OK(MPI_Ireduce(&one, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD, &r));
    if (mt.rank == 0) {
        if (MPIX_Grequest_start(query, free_it, cancel, poll_reduced, NULL, &g, &g.req) != MPI_SUCCESS)
            MT_OK(MPIX_Grequest_start(query, free_it, cancel, poll_reduced, wait, &g, &g.req));
        MT_OK(MPI_Wait(&g.req, MPI_STATUS_IGNORE));
        MT_CHECK(g.freed == 1, "freed %d times", g.freed);
    }
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MT_CHECK(mt.rank || sum == 2, "the sum is %d", sum);
    MT_OK(MPI_Op_free(&op));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 5);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
    mt_run(mt.threads, worker);
    one_sided();
    partitioned();
    poll_brings_message(1);
    poll_brings_message(0);
    last_feeds_all();
    wait_makes_progress();
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comms[i]));
    return mt_finish();
}

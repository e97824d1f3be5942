/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Counts of the model global, of calls whose number is known: each takes the lock of the process once
 * on the main path, and one that waits takes it back in the progress loop. A probe that finds nothing
 * polls once, in shared memory. Threads send to the other process and look for messages that nobody
 * sends. Below MPI_THREAD_MULTIPLE (MT_LEVEL=serialized) there is no lock, and the rest is counted. The
 * asynchronous progress thread (MPIR_CVAR_ASYNC_PROGRESS=1) polls as well. -t threads, -n calls of
 * each kind; libfabric takes no more than some thousand receives. */
#include "mt.h"
#include "pvars.h"

#define TAG 7                   /* of no message */
#define LATE_USEC 20000         /* a message comes so late */

static int has_lock, has_async;
static int is_shared;           /* the device matches, in shared memory; a probe of the network waits */
static int is_alone;            /* and no thread of the library polls */
static pv_set_t *set;
static MPI_Request *request[MT_MAX_THREADS];

/* A new set; no call of this process is under way. */
static void begin(void)
{
    pv_free(set);
    set = pv_start();
}

/* Since then, so many calls have taken the lock, of which none had to wait in MPI. */
static void check_calls(double calls)
{
    const double contended = pv(set, "lock_contended"), waits = pv(set, "lock_waits_main");
    const double most = mt.threads + has_async, main_path = pv(set, "lock_acquired_main");

    /* the progress thread counts an acquisition before it says of which path it was */
    MT_CHECK(main_path >= (has_lock ? calls : 0) - has_async &&
             main_path <= (has_lock ? calls : 0) + has_async,
             "%g acquisitions of the main path in %g calls", main_path, calls);
    if (is_alone)
        PV_IS(set, "lock_acquired_progress", 0);
    PV_IS(set, "lock_misses", 0);
    MT_CHECK(pv(set, "lock_waiting") <= has_async, "%g threads wait", pv(set, "lock_waiting"));
    if (most == 1) {
        PV_IS(set, "lock_contended", 0);
        PV_IS(set, "lock_waits_main", 0);
    }
    MT_CHECK(waits <= calls, "%g waits in %g calls", waits, calls);
    MT_CHECK(pv(set, "lock_competitors") >= 2 * contended &&
             pv(set, "lock_competitors") <= most * contended, "%g competitors in %g acquisitions",
             pv(set, "lock_competitors"), contended);
}

/* So many polls, and none of them found something. */
static void check_polls(double polls)
{
    MT_CHECK(pv(set, "polls") >= polls, "%g polls, not %g", pv(set, "polls"), polls);
    if (is_alone) {
        PV_IS(set, "polls", polls);
        PV_IS(set, "polls_unsuccessful", polls);
    }
    if (mt.threads + has_async == 1)
        PV_IS(set, "polls_wasted", 0);
}

static void *look(void *arg)
{
    int flag;

    (void) arg;
    for (long i = 0; i < mt.iters; i++) {
        MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        MT_CHECK(!flag, "a message that nobody has sent");
    }
    return NULL;
}

static void *receive_all(void *arg)
{
    const int t = ((mt_thread_t *) arg)->id;

    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Irecv(NULL, 0, MPI_INT, mt.peer, TAG + 1 + t, MPI_COMM_WORLD, &request[t][i]));
    return NULL;
}

static void *send_all(void *arg)
{
    const int t = ((mt_thread_t *) arg)->id;

    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, TAG + 1 + t, MPI_COMM_WORLD));
    return NULL;
}

static void *wait_all(void *arg)
{
    const int t = ((mt_thread_t *) arg)->id;

    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Wait(&request[t][i], MPI_STATUS_IGNORE));
    return NULL;
}

/* First process 0, then process 1: the other one sends nothing meanwhile, which a poll would find. */
static void look_in_turn(double calls)
{
    int flag;

    for (int r = 0; r < 2; r++) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt.rank == r) {
            MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            begin();
            mt_run(mt.threads, look);
            check_calls(calls);
            check_polls(calls);
            MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD));
        } else {
            MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
}

/* Make progress until so many requests are complete and not freed. */
static void await_dangling(double n)
{
    int flag;

    while (pv(set, "dangling") != n)
        MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}

/* Receives that wait for their messages, then the messages, then what ends the receives. */
static void exchange(double calls)
{
    double before;

    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    begin();
    before = pv(set, "dangling");
    PV_IS(set, "posted_receives", 0);
    /* the other process may be in the next barrier */
    MT_CHECK(pv(set, "unexpected_messages") <= 1, "%g unexpected messages",
             pv(set, "unexpected_messages"));
    mt_run(mt.threads, receive_all);
    PV_IS(set, "issued_receives", calls);
    PV_IS(set, "issued_sends", 0);
    if (is_shared) {
        PV_IS(set, "posted_receives", calls);
        PV_IS(set, "posted_receives_max", calls);
    }
    check_calls(calls);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    begin();
    mt_run(mt.threads, send_all);
    PV_IS(set, "issued_sends", calls);
    PV_IS(set, "issued_direct", calls);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    await_dangling(before + calls);
    begin();
    PV_IS(set, "posted_receives", 0);
    mt_run(mt.threads, wait_all);
    PV_IS(set, "freed", calls);
    PV_IS(set, "dangling", before);
    check_calls(calls);
}

/* The receive takes the lock once, and back after each poll in vain. */
static void wait_long(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    begin();
    if (mt.rank == 0) {
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        PV_IS(set, "lock_acquired_main", has_lock);
        MT_CHECK(has_lock ? pv(set, "lock_acquired_progress") > 0 :
                 pv(set, "lock_acquired_progress") == 0, "%g acquisitions of the progress loop",
                 pv(set, "lock_acquired_progress"));
        MT_CHECK(pv(set, "polls") > pv(set, "polls_unsuccessful") && pv(set, "polls_unsuccessful") > 0,
                 "%g polls, %g in vain", pv(set, "polls"), pv(set, "polls_unsuccessful"));
    } else if (mt.rank == 1) {
        usleep(LATE_USEC);
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD));
    }
}

/* What belongs to other models. */
static void check_nothing(void)
{
    static const char *const none[] = {
        "lock_misses", "issued_posted", "issued_delegated", "combined", "combined_tenures",
        "combined_max", "combined_histogram", "queue_taken", "queue_depth", "queue_depth_max",
        "post_time", "backoff", "sleeps", "wakes", "usc_served", "usc_left", "server_turns",
        "server_idle", "server_naps", "server_rung"
    };

    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        PV_IS(set, none[i], 0);
}

int main(int argc, char **argv)
{
    const char *level = getenv("MT_LEVEL"), *async = getenv("MPIR_CVAR_ASYNC_PROGRESS");
    const char *remote = getenv("MPIR_CVAR_NOLOCAL");
    double calls;
    int provided;

    mt_options(argc, argv, 8, 150);
    has_lock = !level;
    is_shared = !remote || !strcmp(remote, "0");
    has_async = async && !strcmp(async, "1");
    is_alone = is_shared && !has_async;
    MT_OK(MPI_Init_thread(NULL, NULL, has_lock ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED,
                          &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt.size);
    mt.peer = mt.rank ^ 1;
    MT_CHECK(mt.size == 2 && (has_lock || mt.threads == 1), "run with 2 processes");
    MT_CHECK(provided == (has_lock ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED), "wrong level");
    calls = (double) mt.threads * (double) mt.iters;
    for (int t = 0; t < mt.threads; t++)
        request[t] = mt_alloc((size_t) mt.iters * sizeof(*request[t]));
    pv_find();
    set = pv_start();
    while (has_async && has_lock && pv(set, "lock_acquired_progress") == 0)
        usleep(100);            /* it takes the lock for the first time on the main path */
    look_in_turn(calls);
    exchange(calls);
    wait_long();
    check_nothing();
    pv_free(set);
    MT_OK(MPI_T_finalize());
    for (int t = 0; t < mt.threads; t++)
        free(request[t]);
    return mt_finish();
}

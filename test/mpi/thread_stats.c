/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The performance variables of --enable-thread-stats agree with what the program has done: counts of
 * operations and ways of issuing them, lengths of queues, completed requests that are not freed, what a
 * handle gives after start, stop and reset. Threads of two processes exchange messages, each on a
 * communicator of its own, while one more thread reads all variables. -t threads, -n messages. */
#include "mt.h"
#include "pvars.h"

#define HELD 40                 /* requests, or messages, of a known queue */
#define LAST_TAG 1000
#define REQUESTS 2              /* of a thread in an exchange */
#define SERVERS 4               /* threads of the library, at most */
#define PROBED_USEC 20000       /* for which a probe finds nothing */
#define TIMED 16                /* of so many posts of a thread one is timed */

static MPI_Comm comm[MT_MAX_THREADS];
static atomic_int running;
static const char *model;
static int is_served, is_shared;        /* is_shared: the device matches, in shared memory */

static int model_is(const char *name)
{
    return !strcmp(model, name);
}

/* ---- what MPI_T lists ---- */

static void check_category(void)
{
    int index, n, cvars, pvars, subs, in_it[PV_MOST];
    char name[64], text[256];
    int length = sizeof(name), text_length = sizeof(text);

    MT_OK(MPI_T_category_get_index("CH4_THREADS", &index));
    MT_OK(MPI_T_category_get_info(index, name, &length, text, &text_length, &cvars, &pvars, &subs));
    MT_CHECK(pvars == pv_num && pv_num > 0, "%d variables in CH4_THREADS, %d found", pvars, pv_num);
    MT_OK(MPI_T_category_get_pvars(index, PV_MOST, in_it));
    for (n = 0; n < pv_num; n++)
        MT_CHECK(in_it[n] == pv_info[n].index, "%s is not in the category", pv_info[n].name);
}

/* ---- counts of an exchange ---- */

static void *exchange(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Comm c = comm[t->id];

    for (long i = 0; i < mt.iters; i++) {
        MPI_Request r[2];
        long out = i, in = -1;
        MT_OK(MPI_Irecv(&in, 1, MPI_LONG, mt.peer, 0, c, &r[0]));
        if (i % 2)
            MT_OK(MPI_Issend(&out, 1, MPI_LONG, mt.peer, 0, c, &r[1]));
        else
            MT_OK(MPI_Isend(&out, 1, MPI_LONG, mt.peer, 0, c, &r[1]));
        MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
        MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        MT_CHECK(in == i, "message %ld came instead of %ld", in, i);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* One count is never above the other, but for the threads that were between the two, maybe with all
 * their requests, when the handles were started. */
static void at_most(pv_set_t * set, const char *part_name, const char *whole_name)
{
    double part = pv(set, part_name);
    double whole = pv(set, whole_name);

    MT_CHECK(part <= whole + REQUESTS * mt.threads + SERVERS, "%s is %g, %s is %g", part_name, part,
             whole_name, whole);
}

/* What must hold at any time. */
static void check_relations(pv_set_t * set)
{
    double now;

    at_most(set, "polls_wasted", "polls_unsuccessful");
    at_most(set, "polls_unsuccessful", "polls");
    at_most(set, "server_rung", "server_naps");
    at_most(set, "server_idle", "server_turns");
    at_most(set, "wakes", "sleeps");
    at_most(set, "usc_left", "usc_served");
    at_most(set, "freed", "completed");
    now = pv(set, "dangling");
    MT_CHECK(now < 1e6, "%g dangling requests", now);
    MT_CHECK(pv(set, "dangling_max") >= now, "more dangling requests than the most");
}

static void *read_all(void *arg)
{
    pv_set_t *set = pv_start();

    (void) arg;
    while (atomic_load(&running)) {
        check_relations(set);
        for (int n = 0; n < pv_num; n++)
            MT_CHECK(pv(set, pv_info[n].name) >= 0, "%s is negative", pv_info[n].name);
        usleep(1000);           /* the others need the processor */
    }
    pv_free(set);
    return NULL;
}

static void *reader_or_exchange(void *arg)
{
    return ((mt_thread_t *) arg)->id == mt.threads ? read_all(arg) : exchange(arg);
}

/* The histogram allows for the number of combined operations. The holder of a VCI, a server thread, may
 * be in a tenure that is not in it yet. */
static int fits_histogram(pv_set_t * set)
{
    double least = 0, most = 0, combined = pv(set, "combined");
    int n = pv_count(set, "combined_histogram");

    for (int i = 0; i < n; i++) {
        double tenures = pv_element(set, "combined_histogram", i);
        least += tenures * (double) (1 << i);
        most += tenures * (i < n - 1 ? (2 << i) - 1 : 1e9);
    }
    MT_CHECK(pv(set, "combined_histogram") <= pv(set, "combined_tenures"),
             "%g tenures in the histogram, %g counted", pv(set, "combined_histogram"),
             pv(set, "combined_tenures"));
    return least <= combined && combined <= most;
}

/* Of the posts of mt.threads threads. */
static void check_timed(pv_set_t * set, double posted)
{
    const double timed = pv(set, "post_time"), part = posted / TIMED;

    MT_CHECK(timed <= posted && timed < part + mt.threads && timed > part - mt.threads,
             "%g of %g posts timed", timed, posted);
}

/* Each model issues in its own ways. */
static void check_ways(pv_set_t * set, double operations)
{
    const double direct = pv(set, "issued_direct"), posted = pv(set, "issued_posted");
    const double delegated = pv(set, "issued_delegated");

    MT_CHECK(direct + posted + delegated == operations, "%g direct, %g posted, %g delegated of %g",
             direct, posted, delegated, operations);
    pv_await(set, "queue_taken", posted);
    PV_IS(set, "queue_depth", 0);
    pv_await(set, "combined", posted + delegated);
    check_timed(set, posted);
    if (is_served)
        MT_CHECK(posted == operations, "%g of %g operations posted", posted, operations);
    if (!is_served && !model_is("lockq"))
        MT_CHECK(posted == 0, "%g operations posted", posted);
    if (!model_is("csync") && !model_is("hybcomb"))
        MT_CHECK(delegated == 0, "%g operations delegated", delegated);
    MT_CHECK(is_served ? pv(set, "server_turns") > 0 : pv(set, "server_turns") == 0,
             "%g turns of servers", pv(set, "server_turns"));
}

/* The bias factor, which is since MPI_Init, of a set that has counted all contention since. */
static void check_bias(pv_set_t * set, const char *level, int i)
{
    const char *start[] = { "bias_", "monopolization_", "fair_score_" };
    double value[3], bias;
    char name[64];

    for (int n = 0; n < 3; n++) {
        snprintf(name, sizeof(name), "%s%s", start[n], level);
        value[n] = pv_element(set, name, i);
    }
    bias = value[2] > 0 ? value[1] / value[2] : 0;
    MT_CHECK(value[0] == bias, "bias_%s is %g instead of %g / %g", level, value[0], value[1], value[2]);
}

/* Of a length that no thread changes now, and the most. */
static void check_most(pv_set_t * set, const char *name, int i)
{
    const double now = pv_element(set, name, i);
    char name_max[64];

    snprintf(name_max, sizeof(name_max), "%s_max", name);
    MT_CHECK(pv_element(set, name_max, i) >= now, "%s is %g, above its maximum", name, now);
}

/* No more threads compete than there are, and a lone thread never does. */
static void check_competitors(pv_set_t * set)
{
    const double most = mt.threads + (is_served ? SERVERS : 0);

    MT_CHECK(pv(set, "lock_competitors") <= most * pv(set, "lock_contended"),
             "%g competitors in %g acquisitions of %g threads", pv(set, "lock_competitors"),
             pv(set, "lock_contended"), most);
    if (most == 1)
        PV_IS(set, "lock_contended", 0);
}

/* has_all: no thread had waited for a VCI when the set was started. */
static void check_lock(pv_set_t * set, int has_all)
{
    check_competitors(set);
    for (int i = 0; i < pv_count(set, "lock_contended"); i++) {
        double contended = pv_element(set, "lock_contended", i);
        double acquired = pv_element(set, "lock_acquired_main", i) +
            pv_element(set, "lock_acquired_progress", i);
        double most = pv_element(set, "lock_waiting_max", i);
        MT_CHECK(contended <= acquired, "%g of %g acquisitions contended", contended, acquired);
        MT_CHECK(pv_element(set, "lock_competitors", i) <= contended * (most + 1),
                 "%g competitors in %g acquisitions, but at most %g waited",
                 pv_element(set, "lock_competitors", i), contended, most);
        MT_CHECK(pv_element(set, "lock_competitors", i) >= 2 * contended,
                 "%g competitors in %g acquisitions", pv_element(set, "lock_competitors", i),
                 contended);
        MT_CHECK(pv_element(set, "lock_crowded", i) <= contended, "%g of %g acquisitions crowded",
                 pv_element(set, "lock_crowded", i), contended);
        MT_CHECK(pv_element(set, "monopolization_thread", i) <= contended, "monopolization");
        MT_CHECK(pv_element(set, "fair_score_thread", i) <= contended / 2,
                 "fair score %g in %g contended acquisitions",
                 pv_element(set, "fair_score_thread", i), contended);
        MT_CHECK(pv_element(set, "lock_waiting", i) == 0, "a thread waits for VCI %d", i);
        if (!is_served) {
            check_most(set, "posted_receives", i);
            check_most(set, "unexpected_messages", i);
        }
        if (has_all) {
            check_bias(set, "thread", i);
            check_bias(set, "core", i);
            check_bias(set, "numa", i);
        }
    }
}

static void counts(void)
{
    pv_set_t *set, *other = pv_start();
    double messages = (double) mt.threads * (double) mt.iters;
    int has_all;

    pv_free(other);
    set = pv_start();
    has_all = pv(set, "lock_waiting_max") == 0;
    PV_IS(set, "issued_sends", 0);
    atomic_store(&running, mt.threads);
    mt_run(mt.threads + 1, reader_or_exchange);
    PV_IS(set, "issued_sends", messages);
    PV_IS(set, "issued_receives", messages);
    PV_IS(set, "issued_rma", 0);
    MT_CHECK(pv(set, "send_rate") > 0 && pv(set, "receive_rate") > 0, "no rate");
    check_ways(set, 2 * messages);
    while (!fits_histogram(set))
        sched_yield();
    check_relations(set);
    check_lock(set, has_all);
    pv_free(set);
}

/* ---- start, stop, reset ---- */

static void send_some(int n)
{
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Sendrecv(NULL, 0, MPI_INT, mt.peer, 1, NULL, 0, MPI_INT, mt.peer, 1,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void sessions(void)
{
    pv_set_t *a = pv_start(), *b;
    MPI_T_pvar_handle h = a->handle[pv_number("issued_sends")];
    unsigned long long value = 5;
    int rc;

    send_some(3);
    b = pv_start();
    send_some(2);
    PV_IS(a, "issued_sends", 5);
    PV_IS(b, "issued_sends", 2);
    MT_OK(MPI_T_pvar_stop(a->session, h));
    send_some(4);
    PV_IS(a, "issued_sends", 5);
    MT_OK(MPI_T_pvar_start(a->session, h));
    send_some(1);
    PV_IS(a, "issued_sends", 6);
    MT_OK(MPI_T_pvar_reset(a->session, h));
    PV_IS(a, "issued_sends", 0);
    rc = MPI_T_pvar_write(a->session, h, &value);
    MT_CHECK(rc == MPI_T_ERR_PVAR_NO_WRITE, "a write of a counter returns %d", rc);
    send_some(1);
    PV_IS(a, "issued_sends", 1);
    PV_IS(b, "issued_sends", 8);
    pv_free(a);
    pv_free(b);
}

/* ---- one thread ---- */

/* With servers every operation is posted. Wherever the thread has got to in its row of posts, TIMED
 * times n of them have n that are timed. */
static void timed_posts(void)
{
    pv_set_t *set = pv_start();

    send_some(TIMED);
    if (is_served) {
        PV_IS(set, "issued_posted", 2 * TIMED);
        PV_IS(set, "post_time", 2);
    }
    pv_free(set);
}

/* Messages on a communicator of one process, which use no VCI. */
static void to_itself(void)
{
    pv_set_t *set = pv_start();
    MPI_Message message;
    MPI_Request r;

    for (int i = 0; i < 3; i++)
        MT_OK(MPI_Sendrecv(NULL, 0, MPI_INT, 0, 1, NULL, 0, MPI_INT, 0, 1, MPI_COMM_SELF,
                           MPI_STATUS_IGNORE));
    MT_OK(MPI_Isend(NULL, 0, MPI_INT, 0, 2, MPI_COMM_SELF, &r));
    MT_OK(MPI_Mprobe(0, 2, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    MT_OK(MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    PV_IS(set, "issued_sends", 4);
    PV_IS(set, "issued_receives", 4);
    PV_IS(set, "issued_direct", 8);
    pv_free(set);
}

/* ---- requests and queues of a known length ---- */

static void await_complete(MPI_Request * r, int n)
{
    for (int i = 0; i < n; i++) {
        int flag = 0;
        while (!flag)
            MT_OK(MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE));
    }
}

/* Process 1 sends when process 0 asks. Nothing else may arrive before process 0 has looked. */
static void send_when_asked(void)
{
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, LAST_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < HELD; i++)
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, i, MPI_COMM_WORLD));
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, LAST_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Process 0 holds complete receives, and before that receives that wait for their messages. */
static void dangling(void)
{
    pv_set_t *set = pv_start();
    MPI_Request r[HELD];
    double posted;

    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0) {
        pv_await(set, "dangling", 0);
        posted = pv(set, "posted_receives");
        for (int i = 0; i < HELD; i++)
            MT_OK(MPI_Irecv(NULL, 0, MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]));
        if (is_shared)
            pv_await(set, "posted_receives", posted + HELD);
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, LAST_TAG, MPI_COMM_WORLD));
        await_complete(r, HELD);
        pv_await(set, "dangling", HELD);
        MT_CHECK(pv(set, "dangling_max") >= HELD, "the most is %g", pv(set, "dangling_max"));
        MT_CHECK(pv(set, "dangling_average") > 0, "no average of dangling requests");
        if (is_shared) {
            PV_IS(set, "posted_receives", posted);
            MT_CHECK(pv(set, "posted_receives_max") >= posted + HELD, "the most is %g",
                     pv(set, "posted_receives_max"));
        }
        MT_OK(MPI_Waitall(HELD, r, MPI_STATUSES_IGNORE));
        pv_await(set, "dangling", 0);
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, LAST_TAG, MPI_COMM_WORLD));
    } else if (mt.rank == 1) {
        send_when_asked();
    }
    pv_free(set);
}

/* Process 0 has messages before their receives. */
static void unexpected(void)
{
    pv_set_t *set = pv_start();
    double before;
    int flag = 0;

    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0) {
        before = pv(set, "unexpected_messages");
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, LAST_TAG, MPI_COMM_WORLD));
        while (!flag)
            MT_OK(MPI_Iprobe(1, HELD - 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        PV_IS(set, "unexpected_messages", before + HELD);
        for (int i = 0; i < HELD; i++)
            MT_OK(MPI_Recv(NULL, 0, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        PV_IS(set, "unexpected_messages", before);
        MT_CHECK(pv(set, "unexpected_messages_max") >= before + HELD, "the most is %g",
                 pv(set, "unexpected_messages_max"));
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, LAST_TAG, MPI_COMM_WORLD));
    } else if (mt.rank == 1) {
        send_when_asked();
    }
    pv_free(set);
}

/* A probe that waits takes the lock with low priority, at each look and each poll (TOPC section 6.2):
 * no acquisition is one of the main path, but in global that with which each call begins. */
static void probed(void)
{
    pv_set_t *set = pv_start();
    double main_path, progress;

    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0) {
        main_path = pv(set, "lock_acquired_main");
        progress = pv(set, "lock_acquired_progress");
        MT_OK(MPI_Probe(1, LAST_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        PV_IS(set, "lock_acquired_main", main_path + model_is("global"));
        MT_CHECK(pv(set, "lock_acquired_progress") > progress, "a probe without the lock");
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 1, LAST_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (mt.rank == 1) {
        usleep(PROBED_USEC);
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, LAST_TAG, MPI_COMM_WORLD));
    }
    pv_free(set);
}

int main(int argc, char **argv)
{
    const char *remote = getenv("MPIR_CVAR_NOLOCAL");
    int vcis;

    mt_init(argc, argv, 4, 500);
    model = getenv("MT_MODEL");
    MT_CHECK(model && getenv("MT_SERVED"), "MT_MODEL and MT_SERVED name the model");
    is_served = !strcmp(getenv("MT_SERVED"), "yes");
    is_shared = !remote || !strcmp(remote, "0");
    MT_CHECK(mt.size == 2 && mt.threads < MT_MAX_THREADS, "run with 2 processes");
    pv_find();
    check_category();
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    sessions();
    timed_posts();
    to_itself();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    counts();
    dangling();
    if (is_shared)
        unexpected();
    if (!is_served)
        probed();
    vcis = getenv("MPIR_CVAR_CH4_NUM_VCIS") ? atoi(getenv("MPIR_CVAR_CH4_NUM_VCIS")) : 1;
    pv_set_t *set = pv_start();
    MT_CHECK(pv_count(set, "polls") == vcis, "%d elements for %d VCIs", pv_count(set, "polls"), vcis);
    pv_free(set);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
    MT_OK(MPI_T_finalize());
    return mt_finish();
}

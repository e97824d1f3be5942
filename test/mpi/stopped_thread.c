/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Calls that start something, and those that test, return while another thread of the process is
 * stopped at any instruction of its own calls. One thread exchanges messages without end and, within a
 * node, puts and flushes (over the network a put may wait for a flush: doc/design.md). A child process
 * that traces it stops it in each round, lets it go some random number of instructions further, one by
 * one, and leaves it stopped until all other threads have made their calls. The test never ends if one
 * of them waits for the stopped thread. In a process with server threads it is such a thread that is
 * stopped in every other round. -n rounds.
 *
 * -s 1: the calls may wait for the thread that is stopped, as it may hold a lock, and return after it
 * goes on.
 *
 * All threads make the same calls:
 * MT_CALLS=tests     MPI_Isend, MPI_Irecv, MPI_Put, MPI_Test and MPI_Testany
 * MT_CALLS=sends     MPI_Issend, a long message, a derived datatype, persistent requests made and
 *                    started, with MPI_Testall
 * MT_CALLS=rma       beside messages all other one-sided operations, and MPI_Rput
 * MT_CALLS=allocated beside messages MPI_Put to a window of MPI_Win_allocate
 * else               MPI_Isend, MPI_Irecv, MPI_Put and MPI_Testall */
#include "mt.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CALLS 4                 /* of each kind, for each thread in each round */
#define MOST_STEPS 2500         /* some calls take that many instructions */
#define VICTIM_TAG 100
#define LONG_MESSAGE 50000      /* integers */
#define VECTOR 100

enum { RUNS, STOP_IT, STOPPED, GO_ON, QUIT };

/* Shared with the child. */
typedef struct {
    atomic_int state;
    int tid[2];                 /* the victims */
    int victims, victim;
    long steps;
    atomic_int failed;          /* errno of the tracer */
} control_t;

static control_t *control;
static atomic_int ended;        /* the victim may end */
static atomic_int done;         /* threads that have made their calls, in all rounds */
static atomic_int waited;       /* and that have waited for what they started */
static atomic_int round_of;     /* the round whose calls may be made */
static atomic_int resumed;      /* the round whose victim goes on */
static pthread_barrier_t ready;
static MPI_Win win;
static int is_one_node;
static MPI_Datatype every_second;

enum { PUT_AND_TESTALL, TESTS, SENDS, RMA, ALLOCATED } kind;
static const char *const kinds[] = { "", "tests", "sends", "rma", "allocated" };

/* What the threads of the peer change in the window: each its own elements. */
typedef struct {
    long put[MT_MAX_THREADS], sum[MT_MAX_THREADS], swapped[MT_MAX_THREADS];
} window_t;

static window_t *mem;

/* One message to the same thread of the peer and one from it, and one-sided operations. */
typedef struct {
    int in[LONG_MESSAGE], out[LONG_MESSAGE];
    long put, got, sum, compare, swap, was;
    MPI_Request persistent[2];  /* those of its last persistent message */
} exchange_t;

/* The requests of an exchange, in a row with those of others. */
enum { RECEIVE, SEND, PUT, REQUESTS };

/* Between two looks: the processors are for the thread that goes on step by step and for its tracer,
 * each of which waits for the other at every step. */
static void rest(void)
{
    usleep(50);
}

static void wait_for(atomic_int * what, int value)
{
    while (atomic_load(what) < value)
        rest();
}

/* ---- the child: traces one thread of its parent; no MPI, no allocation ---- */

static void traced(long rc)
{
    if (rc < 0 && !atomic_load(&control->failed))
        atomic_store(&control->failed, errno);
}

/* The signal of a stopped thread to hand on to it; none for a trap, which is the tracer's own, be it
 * late: a step over pushf leaves the flag that traps in the copy, for a popf to restore. */
static long signal_of(int status)
{
    return status >> 16 || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

/* Let the thread go on until it stops for the interrupt. */
static void interrupt(int tid)
{
    int status = 0;

    traced(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL));
    traced(waitpid(tid, &status, __WALL));
    while (status >> 16 != PTRACE_EVENT_STOP && !atomic_load(&control->failed)) {
        traced(ptrace(PTRACE_CONT, tid, NULL, signal_of(status)));
        traced(waitpid(tid, &status, __WALL));
    }
}

static void stop_one(void)
{
    int tid = control->tid[control->victim];
    int status = 0;

    interrupt(tid);
    for (long i = 0; i < control->steps && !atomic_load(&control->failed); i++) {
        traced(ptrace(PTRACE_SINGLESTEP, tid, NULL, signal_of(status)));
        traced(waitpid(tid, &status, __WALL));
    }
}

/* Threads that stopped although nobody asked them to. */
static void resume_strays(void)
{
    int status;
    pid_t tid;

    while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
        traced(ptrace(PTRACE_CONT, tid, NULL, signal_of(status)));
}

static void let_go(void)
{
    for (int i = 0; i < control->victims; i++) {
        interrupt(control->tid[i]);
        traced(ptrace(PTRACE_DETACH, control->tid[i], NULL, NULL));
    }
}

static void tracer(void)
{
    for (int i = 0; i < control->victims; i++)
        traced(ptrace(PTRACE_SEIZE, control->tid[i], NULL, NULL));
    atomic_store(&control->state, RUNS);
    for (;;) {
        switch (atomic_load(&control->state)) {
            case STOP_IT:
                stop_one();
                atomic_store(&control->state, STOPPED);
                break;
            case GO_ON:
                traced(ptrace(PTRACE_CONT, control->tid[control->victim], NULL, NULL));
                atomic_store(&control->state, RUNS);
                break;
            case QUIT:
                let_go();
                _exit(0);
            case RUNS:
                resume_strays();
                /* fall through */
            default:
                rest();
        }
        if (getppid() == 1)
            _exit(0);
    }
}

/* ---- the parent ---- */

static void command(int state, int reached)
{
    atomic_store(&control->state, state);
    while (atomic_load(&control->state) != reached)
        rest();
    MT_CHECK(!atomic_load(&control->failed), "ptrace: %s", strerror(atomic_load(&control->failed)));
}

/* Returns a thread of the library that drives VCIs, or 0. */
static int server_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *e;
    int tid = 0;

    while (tasks && !tid && (e = readdir(tasks))) {
        char path[300], name[32] = "";
        FILE *f;
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        if ((f = fopen(path, "r"))) {
            if (fgets(name, sizeof(name), f) && !strncmp(name, "mpich-server", 12))
                tid = atoi(e->d_name);
            fclose(f);
        }
    }
    if (tasks)
        closedir(tasks);
    return tid;
}

static void free_persistent(exchange_t * x)
{
    for (int i = 0; i < 2; i++) {
        if (x->persistent[i] != MPI_REQUEST_NULL)
            MT_OK(MPI_Request_free(&x->persistent[i]));
    }
}

static exchange_t *new_exchanges(int n)
{
    exchange_t *x = mt_alloc((size_t) n * sizeof(*x));

    for (int i = 0; i < n; i++)
        x[i].persistent[0] = x[i].persistent[1] = MPI_REQUEST_NULL;
    return x;
}

static void free_exchanges(int n, exchange_t * x)
{
    for (int i = 0; i < n; i++)
        free_persistent(&x[i]);
    free(x);
}

/* Made anew for each message: to make one may not wait either. */
static void start_persistent(exchange_t * x, int tag, MPI_Request * r)
{
    free_persistent(x);
    MT_OK(MPI_Recv_init(x->in, 1, MPI_INT, mt.peer, tag, MPI_COMM_WORLD, &x->persistent[RECEIVE]));
    MT_OK(MPI_Send_init(x->out, 1, MPI_INT, mt.peer, tag, MPI_COMM_WORLD, &x->persistent[SEND]));
    r[RECEIVE] = x->persistent[RECEIVE];
    r[SEND] = x->persistent[SEND];
    MT_OK(MPI_Start(&r[RECEIVE]));
    MT_OK(MPI_Start(&r[SEND]));
}

/* Returns where the last element of the message from the peer will be. */
static int *start_message(exchange_t * x, int tag, int turn, int value, MPI_Request * r)
{
    enum { PLAIN = -1, SYNCHRONOUS, LONG, VECTOR_OF_INTS, PERSISTENT };
    const int how = kind == SENDS ? turn % CALLS : PLAIN;
    const int count = how == LONG ? LONG_MESSAGE : 1;
    const int last = how == VECTOR_OF_INTS ? 2 * (VECTOR - 1) : count - 1;
    const MPI_Datatype type = how == VECTOR_OF_INTS ? every_second : MPI_INT;

    x->in[last] = -1;
    x->out[0] = x->out[last] = value;
    if (how == PERSISTENT) {
        start_persistent(x, tag, r);
        return &x->in[last];
    }
    MT_OK(MPI_Irecv(x->in, count, type, mt.peer, tag, MPI_COMM_WORLD, &r[RECEIVE]));
    if (how == SYNCHRONOUS)
        MT_OK(MPI_Issend(x->out, count, type, mt.peer, tag, MPI_COMM_WORLD, &r[SEND]));
    else
        MT_OK(MPI_Isend(x->out, count, type, mt.peer, tag, MPI_COMM_WORLD, &r[SEND]));
    return &x->in[last];
}

static MPI_Aint at(const long *element)
{
    return element - (const long *) mem;
}

/* Each to an element that no other thread changes; swaps: how many there have been. */
static void start_rma(exchange_t * x, int id, long value, long swaps, MPI_Request * r)
{
    x->put = value;
    if (kind != RMA) {
        MT_OK(MPI_Put(&x->put, 1, MPI_LONG, mt.peer, at(&mem->put[id]), 1, MPI_LONG, win));
        return;
    }
    x->sum = 1;
    x->compare = swaps;
    x->swap = swaps + 1;
    MT_OK(MPI_Rput(&x->put, 1, MPI_LONG, mt.peer, at(&mem->put[id]), 1, MPI_LONG, win, &r[PUT]));
    MT_OK(MPI_Get(&x->got, 1, MPI_LONG, mt.peer, at(&mem->sum[id]), 1, MPI_LONG, win));
    MT_OK(MPI_Accumulate(&x->sum, 1, MPI_LONG, mt.peer, at(&mem->sum[id]), 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Fetch_and_op(&x->sum, &x->was, MPI_LONG, mt.peer, at(&mem->sum[id]), MPI_SUM, win));
    MT_OK(MPI_Compare_and_swap(&x->swap, &x->compare, &x->was, MPI_LONG, mt.peer,
                               at(&mem->swapped[id]), win));
}

/* Returns whether all requests are complete. */
static int test(int n, MPI_Request * r)
{
    int flag, index = MPI_UNDEFINED;

    if (kind != TESTS) {
        MT_OK(MPI_Testall(n, r, &flag, MPI_STATUSES_IGNORE));
        return flag;
    }
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE));
    MT_OK(MPI_Testany(n, r, &index, &flag, MPI_STATUS_IGNORE));
    return flag && index == MPI_UNDEFINED;
}

static void test_until_done(MPI_Request * r)
{
    while (!test(REQUESTS, r))
        sched_yield();          /* the tracer, or the other victim, may want this processor */
}

static void no_requests(int n, MPI_Request * r)
{
    for (int i = 0; i < n; i++)
        r[i] = MPI_REQUEST_NULL;
}

/* Exchanges messages with the other victim until both may end. */
static void victim(int id)
{
    exchange_t *x = new_exchanges(1);
    int mine, *theirs;
    MPI_Request r[REQUESTS];

    control->tid[0] = (int) syscall(SYS_gettid);
    pthread_barrier_wait(&ready);
    for (int turn = 0;; turn++) {
        no_requests(REQUESTS, r);
        mine = atomic_load(&ended);
        theirs = start_message(x, VICTIM_TAG, turn, mine, r);
        if (is_one_node)
            start_rma(x, id, 1, turn, r);
        test_until_done(r);
        if (is_one_node)
            MT_OK(MPI_Win_flush(mt.peer, win));
        if (mine && *theirs)
            break;
    }
    free_exchanges(1, x);
}

/* The calls that must return, whatever the victim holds. */
static void calls(int id, int round, exchange_t * x, int **last, MPI_Request * r)
{
    for (int i = 0; i < CALLS; i++) {
        int value = round * CALLS + i;
        last[i] = start_message(&x[i], id, i, value, &r[i * REQUESTS]);
        start_rma(&x[i], id, round, value - CALLS, &r[i * REQUESTS]);
        test((i + 1) * REQUESTS, r);
    }
}

static void poster(int id)
{
    exchange_t *x = new_exchanges(CALLS);
    int *last[CALLS];
    MPI_Request r[CALLS * REQUESTS];

    pthread_barrier_wait(&ready);
    for (int round = 1; round <= mt.iters; round++) {
        no_requests(CALLS * REQUESTS, r);
        wait_for(&round_of, round);
        calls(id, round, x, last, r);
        atomic_fetch_add(&done, 1);
        wait_for(&resumed, round);
        MT_OK(MPI_Waitall(CALLS * REQUESTS, r, MPI_STATUSES_IGNORE));
        for (int i = 0; i < CALLS; i++)
            MT_CHECK(*last[i] == round * CALLS + i, "round %d: message %d has %d", round, i, *last[i]);
        MT_OK(MPI_Win_flush(mt.peer, win));
        atomic_fetch_add(&waited, 1);
    }
    free_exchanges(CALLS, x);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    if (t->id == mt.threads - 1)
        victim(t->id);
    else
        poster(t->id);
    return NULL;
}

/* Start the tracer once the victims are known, then lead all rounds. */
static void *leader(void *unused)
{
    uint64_t rng = mt_rng(mt.rank, 0);
    pid_t child;

    (void) unused;
    pthread_barrier_wait(&ready);
    control->tid[1] = server_thread();
    control->victims = control->tid[1] ? 2 : 1;
    atomic_store(&control->state, GO_ON);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    child = fork();
    if (child == 0)
        tracer();
    MT_CHECK(child > 0, "fork: %s", strerror(errno));
    while (atomic_load(&control->state) != RUNS)
        rest();
    for (int round = 1; round <= mt.iters; round++) {
        control->victim = round % control->victims;
        control->steps = (long) (mt_rand(&rng) % MOST_STEPS);
        command(STOP_IT, STOPPED);
        atomic_store(&round_of, round);
        if (mt.bytes)
            usleep(2000);       /* the calls begin, and some wait */
        else
            wait_for(&done, round * (mt.threads - 1));
        command(GO_ON, RUNS);
        atomic_store(&resumed, round);
        wait_for(&waited, round * (mt.threads - 1));    /* a call that waits may wait for the victim */
    }
    atomic_store(&control->state, QUIT);
    waitpid(child, NULL, 0);
    atomic_store(&ended, 1);
    return NULL;
}

static void choose_kind(const char *name)
{
    const int n = sizeof(kinds) / sizeof(kinds[0]);

    for (kind = 0; kind < n && name && strcmp(name, kinds[kind]);)
        kind++;
    MT_CHECK(kind < n, "MT_CALLS=%s: unknown", name);
}

static void make_window(void)
{
    const MPI_Aint size = sizeof(*mem);

    if (kind == ALLOCATED) {
        MT_OK(MPI_Win_allocate(size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
        memset(mem, 0, sizeof(*mem));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    } else {
        mem = mt_alloc(sizeof(*mem));
        MT_OK(MPI_Win_create(mem, size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    }
    MT_OK(MPI_Win_lock_all(0, win));
}

static void free_window(void)
{
    const long n = mt.iters * CALLS;

    for (int i = 0; i < mt.threads - 1; i++) {
        MT_CHECK(mem->put[i] == mt.iters, "thread %d: %ld put last", i, mem->put[i]);
        MT_CHECK(mem->sum[i] == (kind == RMA ? 2 * n : 0), "thread %d: the sum is %ld", i, mem->sum[i]);
        MT_CHECK(mem->swapped[i] == (kind == RMA ? n : 0), "thread %d: %ld swaps", i, mem->swapped[i]);
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    if (kind != ALLOCATED)
        free(mem);
}

int main(int argc, char **argv)
{
    pthread_t lead;
    MPI_Comm node;

    mt_init(argc, argv, 4, 300);
    choose_kind(getenv("MT_CALLS"));
    MT_CHECK(mt.size == 2 && mt.threads >= 2, "run with 2 processes, 2 threads or more");
    control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    MT_CHECK(control != MAP_FAILED, "mmap: %s", strerror(errno));
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MT_OK(MPI_Comm_size(node, &is_one_node));
    is_one_node = is_one_node == mt.size;
    MT_OK(MPI_Comm_free(&node));
    make_window();
    MT_OK(MPI_Type_vector(VECTOR, 1, 2, MPI_INT, &every_second));
    MT_OK(MPI_Type_commit(&every_second));
    pthread_barrier_init(&ready, NULL, (unsigned) mt.threads + 1);
    MT_CHECK(pthread_create(&lead, NULL, leader, NULL) == 0, "cannot create a thread");
    mt_run(mt.threads, worker);
    pthread_join(lead, NULL);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    free_window();
    MT_OK(MPI_Type_free(&every_second));
    return mt_finish();
}

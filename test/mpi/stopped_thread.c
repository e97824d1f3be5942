/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Isend, MPI_Irecv, MPI_Put and MPI_Test return while another thread of the process is stopped at
 * any instruction of its own calls. One thread exchanges messages without end and, within a node, puts
 * and flushes (over the network a put may wait for a flush: doc/design.md). A child process that traces
 * it stops it in each round, lets it go some random number of instructions further, one by one, and
 * leaves it stopped until all other threads have made their calls. The test never ends if one of them
 * waits for the stopped thread. In a process with server threads it is such a thread that is stopped in
 * every other round. -n rounds. */
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
static long *mem;
static int is_one_node;

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

static void test_until_done(MPI_Request r[2])
{
    int flag = 0;
    while (1) {
        MT_OK(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
        if (flag)
            return;
        sched_yield();          /* the tracer, or the other victim, may want this processor */
    }
}

/* Exchanges messages with the other victim until both may end. */
static void victim(void)
{
    const long one = 1;
    int mine, theirs = 0;
    MPI_Request r[2];

    control->tid[0] = (int) syscall(SYS_gettid);
    pthread_barrier_wait(&ready);
    do {
        mine = atomic_load(&ended);
        MT_OK(MPI_Irecv(&theirs, 1, MPI_INT, mt.peer, VICTIM_TAG, MPI_COMM_WORLD, &r[0]));
        MT_OK(MPI_Isend(&mine, 1, MPI_INT, mt.peer, VICTIM_TAG, MPI_COMM_WORLD, &r[1]));
        test_until_done(r);
        if (is_one_node) {
            MT_OK(MPI_Put(&one, 1, MPI_LONG, mt.peer, 2 * MT_MAX_THREADS, 1, MPI_LONG, win));
            MT_OK(MPI_Win_flush(mt.peer, win));
        }
    } while (!mine || !theirs);
}

/* The calls that must return, whatever the victim holds. */
static void calls(int id, int round, int *in, int *out, MPI_Request * r)
{
    int flag;

    for (int i = 0; i < CALLS; i++) {
        out[i] = round * CALLS + i;
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, mt.peer, id, MPI_COMM_WORLD, &r[2 * i]));
        MT_OK(MPI_Isend(&out[i], 1, MPI_INT, mt.peer, id, MPI_COMM_WORLD, &r[2 * i + 1]));
        MT_OK(MPI_Put(&mem[MT_MAX_THREADS + id], 1, MPI_LONG, mt.peer, id, 1, MPI_LONG, win));
        MT_OK(MPI_Testall(2 * (i + 1), r, &flag, MPI_STATUSES_IGNORE));
    }
}

static void poster(int id)
{
    int in[CALLS], out[CALLS];
    MPI_Request r[2 * CALLS];

    pthread_barrier_wait(&ready);
    for (int round = 1; round <= mt.iters; round++) {
        for (int i = 0; i < 2 * CALLS; i++)
            r[i] = MPI_REQUEST_NULL;
        mem[MT_MAX_THREADS + id] = round;
        wait_for(&round_of, round);
        calls(id, round, in, out, r);
        atomic_fetch_add(&done, 1);
        wait_for(&resumed, round);
        MT_OK(MPI_Waitall(2 * CALLS, r, MPI_STATUSES_IGNORE));
        for (int i = 0; i < CALLS; i++)
            MT_CHECK(in[i] == round * CALLS + i, "round %d: message %d has %d", round, i, in[i]);
        MT_OK(MPI_Win_flush(mt.peer, win));
        atomic_fetch_add(&waited, 1);
    }
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    if (t->id == mt.threads - 1)
        victim();
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

int main(int argc, char **argv)
{
    pthread_t lead;
    MPI_Comm node;

    mt_init(argc, argv, 4, 300);
    MT_CHECK(mt.size == 2 && mt.threads >= 2, "run with 2 processes, 2 threads or more");
    control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
    MT_CHECK(control != MAP_FAILED, "mmap: %s", strerror(errno));
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MT_OK(MPI_Comm_size(node, &is_one_node));
    is_one_node = is_one_node == mt.size;
    MT_OK(MPI_Comm_free(&node));
    mem = mt_alloc((2 * MT_MAX_THREADS + 1) * sizeof(long));
    /* not of MPI_Win_allocate: there a put within a node only copies */
    MT_OK(MPI_Win_create(mem, (2 * MT_MAX_THREADS + 1) * sizeof(long), sizeof(long), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    pthread_barrier_init(&ready, NULL, (unsigned) mt.threads + 1);
    MT_CHECK(pthread_create(&lead, NULL, leader, NULL) == 0, "cannot create a thread");
    mt_run(mt.threads, worker);
    pthread_join(lead, NULL);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < mt.threads - 1; i++)
        MT_CHECK(mem[i] == mt.iters, "thread %d: %ld put last", i, mem[i]);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    free(mem);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What our MPI tests share: start and end, threads, checks, seeded random numbers.  A test
 * prints " No Errors" and exits 0, or prints what went wrong and aborts. */
#ifndef MT_H_INCLUDED
#define MT_H_INCLUDED

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MT_MAX_THREADS         /* a program that needs more defines it before */
#define MT_MAX_THREADS 64
#endif

typedef struct {
    int rank, size, peer;       /* peer: the other one of a pair, self for the odd one out */
    int threads;
    long iters, bytes;          /* bytes: of a message, 0 for the test's own choice */
    uint64_t seed;
} mt_env_t;

typedef struct {
    int id;
    uint64_t rng;
} mt_thread_t;

static mt_env_t mt;

static inline void mt_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    char text[2048];
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(stderr, "rank %d, seed %llu, %s:%d: %s\n", mt.rank, (unsigned long long) mt.seed, file,
            line, text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

#define MT_CHECK(cond_, ...)                        \
    do {                                            \
        if (!(cond_))                               \
            mt_fail(__FILE__, __LINE__, __VA_ARGS__);   \
    } while (0)

#define MT_OK(call_)                                            \
    do {                                                        \
        int mt_rc_ = (call_);                                   \
        MT_CHECK(mt_rc_ == MPI_SUCCESS, "%s gave %d", #call_, mt_rc_);  \
    } while (0)

static inline void mt_fails(int rc, int class, const char *what)
{
    int its;
    MT_OK(MPI_Error_class(rc, &its));
    MT_CHECK(its == class, "%s: error class %d instead of %d", what, its, class);
}

/* splitmix64: small, seedable, the same on both sides when both start from the same seed */
static inline uint64_t mt_hash(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t mt_rand(uint64_t * s)
{
    return mt_hash(*s += 0x9e3779b97f4a7c15u);
}

static inline uint64_t mt_rng(int a, int b)
{
    return mt_hash(mt.seed * 0x9e3779b97f4a7c15u + ((uint64_t) a << 32) + (uint64_t) b + 1);
}

static inline void mt_delay(unsigned n)
{
    static _Atomic unsigned sink;
    for (unsigned i = 0; i < n; i++)
        atomic_fetch_add_explicit(&sink, 1, memory_order_relaxed);
}

static inline long mt_number(int opt, const char *text, long lo)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < lo) {
        fprintf(stderr, "option -%c: '%s' is not a number of at least %ld\n", opt, text, lo);
        exit(2);
    }
    return v;
}

/* -t threads, -n iterations, -s message bytes, -r seed; the defaults are the test's own. */
static inline void mt_options(int argc, char **argv, int threads, long iters)
{
    int c;
    mt.threads = threads;
    mt.iters = iters;
    mt.seed = 1;
    while ((c = getopt(argc, argv, "t:n:s:r:")) != -1) {
        switch (c) {
            case 't': mt.threads = (int) mt_number(c, optarg, 1); break;
            case 'n': mt.iters = mt_number(c, optarg, 1); break;
            case 's': mt.bytes = mt_number(c, optarg, 1); break;
            case 'r': mt.seed = (uint64_t) mt_number(c, optarg, 0); break;
            default: exit(2);
        }
    }
    if (optind != argc || mt.threads > MT_MAX_THREADS) {
        fprintf(stderr, "usage: %s [-t threads (up to %d)] [-n iterations] [-s bytes] [-r seed]\n",
                argv[0], MT_MAX_THREADS);
        exit(2);
    }
}

/* The options, then MPI, with its peers. */
static inline void mt_init(int argc, char **argv, int threads, long iters)
{
    int provided;
    mt_options(argc, argv, threads, iters);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt.size);
    mt.peer = (mt.rank ^ 1) < mt.size ? mt.rank ^ 1 : mt.rank;
    MT_CHECK(provided == MPI_THREAD_MULTIPLE, "no MPI_THREAD_MULTIPLE");
    MT_CHECK(mt.size >= 2, "at least 2 processes are needed");
}

/* The same for a program that may have been spawned by itself, with any number of processes. Returns
 * the communicator to the parent or MPI_COMM_NULL. Only the first process that has no parent is rank 0
 * here, so that mt_finish prints once. */
static inline MPI_Comm mt_init_spawned(int argc, char **argv, int threads, long iters)
{
    int provided;
    MPI_Comm parent;
    mt_options(argc, argv, threads, iters);
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_CHECK(provided == MPI_THREAD_MULTIPLE, "no MPI_THREAD_MULTIPLE");
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    MT_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL)
        mt.rank++;
    return parent;
}

/* Runs fn in n threads; each gets its own mt_thread_t with its own random numbers. */
static inline void mt_run(int n, void *(*fn) (void *))
{
    pthread_t tid[MT_MAX_THREADS];
    mt_thread_t arg[MT_MAX_THREADS];
    for (int i = 0; i < n; i++) {
        arg[i].id = i;
        arg[i].rng = mt_rng(1000 + mt.rank, i);
        MT_CHECK(pthread_create(&tid[i], NULL, fn, &arg[i]) == 0, "cannot create thread %d", i);
    }
    for (int i = 0; i < n; i++)
        pthread_join(tid[i], NULL);
}

/* The same for all threads of the program, each of which has a copy of MPI_COMM_WORLD meanwhile. */
static inline void mt_run_with_comms(void *(*fn) (void *), MPI_Comm comm[])
{
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    mt_run(mt.threads, fn);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
}

static inline int mt_finish(void)
{
    MT_OK(MPI_Finalize());
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

/* Process 1 leaves MPI, as if it computed, until process 0 calls it back, so process 0 gets no help
 * meanwhile.  Before that, process 0 gets so far that it needs no help in starting. */
static atomic_int mt_called_back;

static inline void mt_call_back_handler(int sig)
{
    atomic_store(&mt_called_back, sig);
}

static inline void mt_stay_outside(void)
{
    int pid = (int) getpid();
    signal(SIGUSR2, mt_call_back_handler);
    MT_OK(MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    while (!atomic_load(&mt_called_back))
        usleep(1000);
}

/* By process 0: process 1 is outside, or about to be. Returns what mt_call_back needs. */
static inline int mt_peer_outside(void)
{
    int pid;
    MT_OK(MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    return pid;
}

static inline void mt_call_back(int pid)
{
    MT_CHECK(kill((pid_t) pid, SIGUSR2) == 0, "cannot signal process %d", pid);
}

/* Whether the library has MPICH's shared memory: test/mpi/run says if not. */
static inline int mt_has_shm(void)
{
    const char *shm = getenv("MT_SHM");
    return !shm || strcmp(shm, "no") != 0;
}

/* Whether the library says so of itself; ours also names the options of configure. */
static inline int mt_library_has(const char *text)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;
    MT_OK(MPI_Get_library_version(version, &len));
    return strstr(version, text) != NULL;
}

/* The type is freed, and nothing keeps it, or it would keep its handle as well, which one of the next
 * types gets. Another thread of the library may let go of it a moment later. */
static inline void mt_type_free(MPI_Datatype * type)
{
    enum { MOST = 200 };
    MPI_Datatype last = *type, next[MOST];
    int n = 0;
    MT_OK(MPI_Type_free(type));
    do {
        MT_CHECK(n < MOST, "a datatype is kept");
        if (n > MOST / 2)
            usleep(10000);
        MT_OK(MPI_Type_contiguous(1, MPI_CHAR, &next[n]));
    } while (next[n++] != last);
    while (n > 0)
        MT_OK(MPI_Type_free(&next[--n]));
}

static inline void *mt_alloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);
    MT_CHECK(p, "out of memory (%zu bytes)", n);
    return p;
}

#endif

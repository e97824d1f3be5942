/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* N times one call of process 0, in a function of its own, for an instruction counter:
 *   isend   MPI_Isend of a message whose receive may be posted or not
 *   irecv   MPI_Irecv before its message is sent
 *   put     MPI_Put to a window of MPI_Win_create, an active message
 *   direct  MPI_Put to a window of MPI_Win_allocate, which copies the data
 *   test    MPI_Test of a receive whose message is not sent yet
 *   wait    MPI_Wait of a receive whose message waits to be taken in
 * What completes the call is outside. tsm-bench runs process 0 under valgrind, which counts inside
 * `counted`, and makes the value of it. */
#include "bench_common.h"

#if defined(__GLIBC__) && defined(__x86_64__) && __GNUC__ >= 11
#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define HAS_RSEQ 1
#endif
#endif

#define USAGE "instructions [-1 (MPI_THREAD_SINGLE)] " \
    "[-m isend|irecv|put|direct|test|wait] [-n calls] [-s bytes] [-j]"

static MPI_Win win, shared_win;
static char *buf, *shared;
static int bytes = 8;

__attribute__ ((noinline))
void counted_isend(MPI_Request * r)
{
    MPI_Isend(buf, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, r);
}

__attribute__ ((noinline))
void counted_irecv(MPI_Request * r)
{
    MPI_Irecv(buf, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, r);
}

__attribute__ ((noinline))
void counted_put(MPI_Request * r)
{
    *r = MPI_REQUEST_NULL;
    MPI_Put(buf, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, win);
}

__attribute__ ((noinline))
void counted_direct(MPI_Request * r)
{
    *r = MPI_REQUEST_NULL;
    MPI_Put(buf, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, shared_win);
}

__attribute__ ((noinline))
void counted_test(MPI_Request * r)
{
    int done;
    MPI_Test(r, &done, MPI_STATUS_IGNORE);
}

__attribute__ ((noinline))
void counted_wait(MPI_Request * r)
{
    MPI_Wait(r, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*call) (MPI_Request *);
    int sends, receives, puts;  /* process 0 does this with each call */
} kinds[] = {
    {"isend", counted_isend, 1, 0, 0},
    {"irecv", counted_irecv, 0, 1, 0},
    {"put", counted_put, 0, 0, 1},
    {"direct", counted_direct, 0, 0, 1},
    {"test", counted_test, 0, 1, 0},
    {"wait", counted_wait, 0, 1, 0},
};

/* In which a message comes. */
#define TO_COME_USEC 1000

#define KINDS (int) (sizeof(kinds) / sizeof(kinds[0]))

/* Process 0: the call, and what completes it. */
static void call_once(int k)
{
    MPI_Request r;
    if (kinds[k].call == counted_test || kinds[k].call == counted_wait)
        MPI_Irecv(buf, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r);
    if (kinds[k].call != counted_wait)
        kinds[k].call(&r);
    if (kinds[k].receives)
        MPI_Send(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (kinds[k].puts)
        MPI_Win_flush(1, kinds[k].call == counted_put ? win : shared_win);
    if (kinds[k].call == counted_wait) {
        usleep(TO_COME_USEC);
        kinds[k].call(&r);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Process 1. */
static void answer_once(int k)
{
    if (kinds[k].sends)
        MPI_Recv(buf, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (kinds[k].receives) {
        MPI_Recv(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buf, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

static int kind_of(const char *name)
{
    for (int k = 0; k < KINDS; k++) {
        if (!strcmp(name, kinds[k].name))
            return k;
    }
    bench_usage_error("option -m: '%s' is not isend, irecv, put, direct, test or wait", name);
    return 0;
}

static void open_windows(void)
{
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &shared_win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, shared_win);
    buf = bench_alloc((size_t) bytes);
    MPI_Win_create(buf, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
}

static void close_windows(void)
{
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(buf);
    MPI_Win_unlock_all(shared_win);
    MPI_Win_free(&shared_win);
}

/* Whether there is a word -1. Before MPI_Init, whose level it decides. */
static int is_single(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-1"))
            return 1;
    }
    return 0;
}

/* The kernel writes for each thread on which processor it runs. Under valgrind it does not, and a
 * library with --enable-thread-stats would ask at each acquisition. */
static void know_processor(void)
{
#ifdef HAS_RSEQ
    struct rseq *mine = (struct rseq *) ((char *) __builtin_thread_pointer() + __rseq_offset);

    if ((int) mine->cpu_id < 0)
        mine->cpu_id = 0;
#endif
}

int main(int argc, char **argv)
{
    const int single = is_single(argc, argv);
    long n = 1000;
    int c, k = 0, json = 0, rank;

    know_processor();
    rank = bench_init_at(single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &argc, &argv);

    while ((c = bench_getopt(argc, argv, "1m:n:s:j", USAGE)) != -1) {
        switch (c) {
            case '1':
                if (!single)    /* MPI has been initialized without it */
                    bench_usage_error("option -1: must be a word of its own");
                break;
            case 'm': k = kind_of(optarg); break;
            case 'n': n = bench_int("-n", optarg, 1, 1L << 30); break;
            case 's': bytes = (int) bench_int("-s", optarg, 1, 1 << 26); break;
            case 'j': json = 1; break;
        }
    }
    open_windows();
    for (long i = 0; i < n; i++) {
        if (rank == 0)
            call_once(k);
        else
            answer_once(k);
    }
    close_windows();
    if (rank == 0)
        printf(json ? "{\"bench\": \"instructions\", \"call\": \"%s\", \"bytes\": %d, "
               "\"calls\": %ld, \"value\": 0, \"unit\": \"instructions\"}\n" :
               "%s of %d bytes, %ld calls\n", kinds[k].name, bytes, n);
    MPI_Finalize();
    return 0;
}

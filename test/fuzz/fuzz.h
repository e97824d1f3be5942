/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A fuzzer for threaded MPI.  A seed gives a program: threads ("lanes"; lane i of every process
 * draws the same random numbers, so all sides know which lane sends what), and for each lane a list
 * of scenes, each of which checks its own data and cannot deadlock.  A failure prints the seed and the
 * options that repeat it.
 *
 * Why no scene can deadlock: within a scene a call blocks only on what the other members of the
 * lane have issued already or will issue without waiting for the caller; lanes never wait for each
 * other before the end of the seed. */
#ifndef FUZZ_H_INCLUDED
#define FUZZ_H_INCLUDED

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FZ_MAX_THREADS 16
#define FZ_MAX_PROCS 8

/* Tags: scene, use within the scene, lane. Below 2^17; main checks MPI_TAG_UB. */
#define FZ_TAG_USES 8
#define FZ_TAG_NEVER (FZ_TAG_USES - 1)  /* no message has it */
#define FZ_TAG_BITS 17

/* Of the receives of a scene. */
enum { FZ_ANY_SRC = 1, FZ_ANY_TG = 2 };

/* A communicator as its members see it: they are numbered 0..n-1, in an intercommunicator through
 * both groups. */
typedef struct {
    MPI_Comm comm;
    int me, n;
    int second;                 /* intercommunicator: first member of the second group; else 0 */
    int own;                    /* no other lane uses it: collectives and any-tag are allowed */
} fz_comm_t;

typedef struct {
    uint64_t seed;
    int threads, scenes, respawn, bsend_lane, shared_win, pace;
    int blocks;                 /* the most of a datatype */
    int part;                   /* words of a one-sided operation at most */
    size_t max_bytes;
    size_t shared_bytes;        /* of this process, for buffers in shared memory */
    int weight[32];             /* of each kind of scene */
    fz_comm_t shared;           /* a duplicate of MPI_COMM_WORLD that all lanes use */
} fz_plan_t;

typedef struct fz_buf fz_buf_t;

typedef struct {
    void *p;
    int place, lane;
} fz_mem_t;

typedef struct {
    int id, scene;
    const char *what;           /* the kind of the scene, for messages */
    uint64_t rng;               /* the same in all processes */
    uint64_t jitter;            /* the process's own */
    fz_comm_t own;              /* used by this lane alone */
    MPI_Comm ctl;               /* for barriers between the lane's members, used for nothing else */
    MPI_Win win;                /* of this lane, made when first needed */
    uint64_t *win_mem;
    fz_mem_t win_from;
    uint64_t counter[2];        /* what the counters of win must be here */
    uint64_t shared_puts;
    void *bsend_mem;
    size_t bsend_used;
    fz_buf_t *later;            /* buffers of freed requests: until all messages have come */
    pthread_t thread, before;
    int has_before;
} fz_lane_t;

/* What the unpatched MPICH 4.0.2 cannot do: -x leaves it out. */
typedef struct {
    int freed_self;             /* MPI_Request_free of a send to itself that no lane has received */
    int persistent_coll_any;    /* any and some with persistent collectives */
    int partitioned_all;        /* all and some with partitioned requests */
    int null_status;            /* the status of a nonblocking receive from MPI_PROC_NULL */
    int merges;                 /* MPI_Intercomm_merge in several threads at once */
    int reduce_scatter_gaps;    /* elements with gaps, and an operation that does not commute */
    int neighbour_w;            /* MPI_Neighbor_alltoallw */
    int inter_ibcast;           /* MPI_Ibcast between two groups */
    int reduce_scatter_in_place;        /* MPI_Reduce_scatter in place */
} fz_without_t;

typedef struct {
    int rank, size;
    fz_without_t without;
    fz_comm_t world, self;
    fz_plan_t plan;
    fz_lane_t lane[FZ_MAX_THREADS];
} fz_t;

extern fz_t fz;

/* fuzz.c */
void fz_fail(const fz_lane_t * l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#define FZ_CHECK(l_, cond_, ...) \
    do { \
        if (!(cond_)) \
            fz_fail(l_, __VA_ARGS__); \
    } while (0)

static inline uint64_t fz_hash(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* splitmix64 */
static inline uint64_t fz_next(uint64_t * s)
{
    return fz_hash(*s += 0x9e3779b97f4a7c15u);
}

static inline uint64_t fz_mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t s = a * 0x9e3779b97f4a7c15u + b;
    s = fz_next(&s) + c;
    return fz_next(&s);
}

/* 0..n-1: the same in every process; of the process's own choice */
static inline int fz_draw(fz_lane_t * l, int n)
{
    return (int) (fz_next(&l->rng) % (uint64_t) n);
}

static inline int fz_own_draw(fz_lane_t * l, int n)
{
    return (int) (fz_next(&l->jitter) % (uint64_t) n);
}

/* Rank to name when sending to member m; member behind a status's source. */
static inline int fz_rank(const fz_comm_t * c, int m)
{
    return m < c->second ? m : m - c->second;
}

static inline int fz_member(const fz_comm_t * c, int source)
{
    return c->second && c->me < c->second ? source + c->second : source;
}

/* Every member sends to the one `shift` further on, and receives from the one as far back. Not for
 * intercommunicators. */
static inline int fz_dst(const fz_comm_t * c, int shift)
{
    return (c->me + shift) % c->n;
}

static inline int fz_src(const fz_comm_t * c, int shift)
{
    return (c->me + c->n - shift) % c->n;
}

static inline int fz_tag(const fz_lane_t * l, int use)
{
    return ((l->scene & 1023) * FZ_TAG_USES + use) * FZ_MAX_THREADS + l->id;
}

/* lane.c: runs the plan's lanes to their end; names of the kinds of scenes */
#define FZ_KINDS 17
extern const char *const fz_kind_name[FZ_KINDS];
void fz_run_lanes(void);
void fz_pause(fz_lane_t * l);

/* threads.c: fn in n threads, each with a copy of the lane that draws its own numbers (fz_own_draw; no
 * fz_draw) */
#define FZ_MAX_HELPERS 4
typedef void (*fz_helper_t) (fz_lane_t * l, int i, void *arg);
void fz_threads(fz_lane_t * l, int n, fz_helper_t fn, void *arg);

/* data.c: a message's buffer in a random datatype of n bytes, guarded on both sides */
struct fz_buf {
    void *addr;
    int count;
    MPI_Datatype type;
    size_t bytes;
    size_t span;
    unsigned char *mem;
    fz_mem_t from;
    fz_buf_t *next;
    int blocks;
    struct {
        size_t at, bytes;
    } *block;
};

size_t fz_draw_bytes(fz_lane_t * l);
fz_buf_t *fz_buf_new(fz_lane_t * l, size_t bytes, int contiguous);
void fz_buf_fill(fz_buf_t * b, uint64_t key);
void fz_buf_check(const fz_lane_t * l, const fz_buf_t * b, size_t bytes, uint64_t key,
                  const char *what);
uint64_t fz_buf_sum(const fz_buf_t * b);
void fz_buf_free_type(fz_buf_t * b);
void fz_buf_free(fz_buf_t * b);
void fz_fill(void *p, size_t bytes, uint64_t key);
int fz_holds(const void *p, size_t bytes, uint64_t key);        /* what fz_fill has written */
void *fz_alloc(size_t bytes);

/* memory.c */
void fz_shared_mem_begin(void);
void fz_shared_mem_end(void);
fz_mem_t fz_mem_new(fz_lane_t * l, size_t bytes);
void fz_mem_free(fz_mem_t * m);

/* complete.c: completes all, in a random way; done is called once for each, with its index, maybe
 * by another thread. Entries that are MPI_REQUEST_NULL are skipped. */
typedef void (*fz_done_t) (void *arg, int i, const MPI_Status * st);
void fz_complete(fz_lane_t * l, int n, MPI_Request * reqs, fz_done_t done, void *arg);
void fz_complete_each(fz_lane_t * l, int n, MPI_Request * reqs);
void fz_complete_collectives(fz_lane_t * l, int n, MPI_Request * reqs, int persistent);
void fz_completed_nothing(void *arg, int i, const MPI_Status * st);

/* The scenes. c: the communicator to use; exchange may free it early and then sets it to
 * MPI_COMM_NULL. */
void fz_exchange(fz_lane_t * l, fz_comm_t * c, int may_free);
void fz_flood(fz_lane_t * l, fz_comm_t * c);
void fz_ring(fz_lane_t * l, fz_comm_t * c);
void fz_cancel(fz_lane_t * l, fz_comm_t * c);
void fz_persistent(fz_lane_t * l, fz_comm_t * c);
void fz_partitioned(fz_lane_t * l, fz_comm_t * c);
void fz_collective(fz_lane_t * l, fz_comm_t * c);
void fz_comms(fz_lane_t * l);
void fz_rma(fz_lane_t * l);
void fz_rma_shared(fz_lane_t * l);
void fz_relay(fz_lane_t * l);
void fz_crowd(fz_lane_t * l, fz_comm_t * c);
void fz_intercoll(fz_lane_t * l, fz_comm_t * c);
void fz_neighbour(fz_lane_t * l);
void fz_mixed(fz_lane_t * l, fz_comm_t * c);
void fz_truncate(fz_lane_t * l);
void fz_storm(fz_lane_t * l);
void fz_rma_threads(fz_lane_t * l);

/* comms.c: the lane's communicator split in two, the parts in an intercommunicator */
void fz_make_inter(fz_lane_t * l, fz_comm_t * c);

/* exchange.c */
void fz_bsend_begin(fz_lane_t * l);
void fz_bsend_end(fz_lane_t * l);
int fz_bsend(fz_lane_t * l, const fz_buf_t * b, int dst, int tag, MPI_Comm comm);

/* rma.c; flushes in a random way; fz_count adds 1 to the word at `at`, which only such calls with the
 * same `by` change */
enum { FZ_BY_FETCH, FZ_BY_CAS, FZ_BY_ADD, FZ_COUNTERS };
void fz_rma_begin(fz_lane_t * l);
void fz_rma_end(fz_lane_t * l);
void fz_flush(fz_lane_t * l, int target, MPI_Win win);
void fz_flush_local(fz_lane_t * l, int target, MPI_Win win);
void fz_count(fz_lane_t * l, int by, int target, MPI_Aint at, MPI_Win win);

/* rma_shared.c */
void fz_shared_win_begin(void);
void fz_shared_win_end(void);

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_OP_H_INCLUDED
#define MPIDI_OP_H_INCLUDED

/* An operation as data: a thread posts it when it cannot or may not issue the operation itself (ICS'19
 * section 3.4). An MPIDI_op_t needs no request; it may be on a stack, in the request that the user
 * waits on, or, for a one-sided operation without one, in a pool (op_pool.h). op_apply.h issues it.
 * Included by mpidpre.h through transport/device_types.h. */

#include "stats/counters.h"
#include "tsm/queue/tsm_swp.h"
#include "tsm/tsm_patience.h"
#include "tsm/tsm_usc.h"

struct MPIR_Request;
struct MPIR_Comm;
struct MPIR_Win;
struct MPIDI_av_entry;

/* The request forms of one-sided operations come last; see MPIDI_op_has_request. */
typedef enum MPIDI_op_kind {
    MPIDI_OP_ISEND,
    MPIDI_OP_ISSEND,
    MPIDI_OP_ISEND_COLL,
    MPIDI_OP_IRECV,
    MPIDI_OP_IMRECV,
    MPIDI_OP_PUT,
    MPIDI_OP_GET,
    MPIDI_OP_ACCUMULATE,
    MPIDI_OP_GET_ACCUMULATE,
    MPIDI_OP_FETCH_AND_OP,
    MPIDI_OP_COMPARE_AND_SWAP,
    MPIDI_OP_RPUT,
    MPIDI_OP_RGET,
    MPIDI_OP_RACCUMULATE,
    MPIDI_OP_RGET_ACCUMULATE
} MPIDI_op_kind_t;

typedef struct MPIDI_op {
    MPIDI_op_kind_t kind:8;
    MPIR_Errflag_t errflag:8;   /* ISEND_COLL */
    int context_offset:16;      /* two-sided */
    int rank;                   /* one-sided: of the target */
    MPI_Datatype datatype;      /* one-sided: of the origin; so are buf and count */
    int tag;                    /* two-sided */
    void *buf;
    MPI_Aint count;
    union {
        /* two-sided */
        struct {
            struct MPIR_Comm *comm;
            struct MPIDI_av_entry *av;
        };
        /* one-sided */
        struct {
            struct MPIR_Win *win;
            MPI_Aint target_disp;
            int target_count;
            MPI_Datatype target_datatype;
            MPI_Op op;
            int result_count;
            MPI_Datatype result_datatype;
            void *result;
            const void *compare;
        };
    };
} MPIDI_op_t;

static inline int MPIDI_op_is_rma(MPIDI_op_kind_t kind)
{
    return kind >= MPIDI_OP_PUT;
}

/* 0: the caller waits for the operation by synchronizing the window. */
static inline int MPIDI_op_has_request(MPIDI_op_kind_t kind)
{
    return kind < MPIDI_OP_PUT || kind >= MPIDI_OP_RPUT;
}

#ifdef ENABLE_THREAD_STATS
/* How stats/counters.h calls it. */
static inline int MPIDI_op_stats_kind(MPIDI_op_kind_t kind)
{
    if (MPIDI_op_is_rma(kind))
        return MPIDI_STATS_RMA;
    return kind == MPIDI_OP_IRECV || kind == MPIDI_OP_IMRECV ? MPIDI_STATS_RECV : MPIDI_STATS_SEND;
}
#endif

/* Return a copy of *op, made field by field. An inlined caller that passes the address of the copy to
 * a slow path leaves *op itself in registers. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX MPIDI_op_t MPIDI_op_copy(const MPIDI_op_t * op)
{
    MPIDI_op_t copy = {
        .kind = op->kind,.rank = op->rank,.datatype = op->datatype,.buf = op->buf,.count = op->count
    };

    if (MPIDI_op_is_rma(op->kind)) {
        copy.win = op->win;
        copy.target_disp = op->target_disp;
        copy.target_count = op->target_count;
        copy.target_datatype = op->target_datatype;
        copy.op = op->op;
        copy.result_count = op->result_count;
        copy.result_datatype = op->result_datatype;
        copy.result = op->result;
        copy.compare = op->compare;
    } else {
        copy.tag = op->tag;
        copy.context_offset = op->context_offset;
        copy.errflag = op->errflag;
        copy.comm = op->comm;
        copy.av = op->av;
    }
    return copy;
}

/* An operation in the queue of a VCI; see posted.h. */
typedef struct MPIDI_posted {
    tsm_swp_node_t node;
    MPIDI_op_t op;
} MPIDI_posted_t;

/* Our part of a window. */
typedef struct MPIDI_win_part {
    /* the first of its posted operations, for the next synchronization; see issue/rma_sync.h */
    TSM_ATOMIC(int) error;
#ifdef ENABLE_CASPER
    struct csp_win *casper;     /* if ghosts serve the window, else NULL */
#endif
} MPIDI_win_part_t;

/* Constant-time matching; see match.h. A table begins with 2 to the power of so many buckets. */
#define MPIDI_MATCH_BITS 9

typedef struct MPIDI_match {
    uint64_t seq;               /* order of posting */
    struct MPIR_Request **head; /* the list that the request is in, or NULL */
    struct MPIR_Request *next, *prev;
} MPIDI_match_t;

typedef struct MPIDI_match_table {
    uint64_t seq;
    struct MPIR_Request *wildcards;     /* posted receives with a wildcard, in order */
    struct MPIR_Request **bucket;       /* lists; first, or memory of its own once it has grown */
    int bits;                   /* 2 to the power of this is their number; 0: as a list */
    int most_passed;            /* a search that passes more others makes the table grow */
    struct MPIR_Request *first[1 << MPIDI_MATCH_BITS];
} MPIDI_match_table_t;

/* Our parts of a request. A message in shared memory touches five of the lines of its receive, not
 * twelve, so that the receives of many threads fit into the cache: two at its beginning, two of the
 * union of the device (netmod and shared memory clear their parts of it), and one with all that an
 * active message uses of MPIDIG_req_ext_t, which therefore begins with that.
 *
 * HEAD: the thread that sleeps until the request completes (tsm_usc.h), beside the counter of that.
 * QUEUED: the links of MPICH's list and ours next to them, in the second line; ghosts (casper) look at
 * theirs in each call. COUNTED, in a gap before: with statistics, whether the request is counted as
 * completed; 0 again when it is freed. BEHIND: what follows the union of the device. The two fields of
 * MPICH that were before it: where the request is, and the request of the other transport (netmod and
 * shared memory) for MPI_ANY_SOURCE. am_ext: ch4.am.req while in use. POSTED: valid while the operation
 * is posted (posted.h). A two-sided operation is one line, since it goes from the thread that posts to
 * the one that issues it. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define MPIDI_REQUEST_HEAD tsm_usc_slot_t waiter;
#define MPIDI_REQUEST_MATCH_ MPIDI_match_t match;
#define MPIDI_REQUEST_POSTED MPIDI_request_part_t threads MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE);
#else
#define MPIDI_REQUEST_HEAD
#define MPIDI_REQUEST_MATCH_
#define MPIDI_REQUEST_POSTED
#endif
#ifdef ENABLE_CASPER
#define MPIDI_REQUEST_CASPER_ struct csp_op *casper;    /* a ghost has it */
#else
#define MPIDI_REQUEST_CASPER_
#endif
#ifdef ENABLE_THREAD_STATS
#define MPIDI_REQUEST_COUNTED_ int counted;
#else
#define MPIDI_REQUEST_COUNTED_
#endif
#define MPIDI_REQUEST_QUEUED \
    MPIDI_REQUEST_COUNTED_ struct MPIR_Request *next, *prev; \
    MPIDI_REQUEST_MATCH_ MPIDI_REQUEST_CASPER_

#ifndef MPIDI_CH4_DIRECT_NETMOD
#define MPIDI_REQUEST_LOCAL_ int is_local; struct MPIR_Request *anysource_partner_request;
#define MPIDI_REQUEST_SET_IS_LOCAL(req, is_local_) do { (req)->dev.is_local = is_local_; } while (0)
#else
#define MPIDI_REQUEST_LOCAL_
#define MPIDI_REQUEST_SET_IS_LOCAL(req, is_local_) do { } while (0)
#endif
#define MPIDI_REQUEST_BEHIND MPIDI_REQUEST_LOCAL_ MPIDIG_req_ext_t am_ext; MPIDI_REQUEST_POSTED

/* Our part of the state of a VCI, in MPIDI_per_vci_t, behind what its holder uses: whether a thread
 * carries out what is ready in MPICH's cmpl_list, the tables of the queues, what vci.h says, and
 * MPICH's count of completions, which any thread reads after a poll. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define MPIDI_PER_VCI_MODEL_ \
    MPIDI_match_table_t posted_table, unexp_table; \
    MPIDI_vci_t threads MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE);
#elif defined(ENABLE_THREAD_STATS)
/* in global for the counts alone */
#define MPIDI_PER_VCI_MODEL_ MPIDI_vci_t threads MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE);
#else
#define MPIDI_PER_VCI_MODEL_
#endif
#define MPIDI_PER_VCI_BEHIND \
    int cmpl_running; MPIDI_PER_VCI_MODEL_ \
    MPL_atomic_int_t progress_count MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE);

/* Our part of a communicator. */
#ifdef ENABLE_CASPER
#define MPIDI_COMM_CASPER \
    int casper;                 /* point-to-point goes to the ghost */ \
    int casper_least;           /* but for messages of fewer bytes */
#else
#define MPIDI_COMM_CASPER
#endif

typedef struct MPIDI_request_part {
    MPIDI_posted_t posted;
    /* a free request at the head of a batch; see request_cache.c */
    TSM_ATOMIC(uint32_t) batch_next;
    int batch_count;
} MPIDI_request_part_t;

/* One wait of one call, in MPID_Progress_state; see progress/progress.h. */
typedef struct MPIDI_wait {
    struct MPIR_Request **reqs; /* the caller's array */
    int count;                  /* 0: the call does not wait for requests */
    int any;                    /* it returns when one of them is complete; else when all are */
    unsigned turns;             /* polls in a row that found nothing; may wrap around to 0 */
    int may_pause;              /* of the first so many it has seen that they let it pause long */
    tsm_patience_t patience;
    int is_counted;             /* in MPIDI_thread_t.waits, since its first turn in vain */
    int may_sleep;              /* if counted: none of the first so many needs this thread's polls */
    uint32_t serving;           /* if counted: bits of the VCIs that it polls for those that sleep */
} MPIDI_wait_t;

#endif /* MPIDI_OP_H_INCLUDED */

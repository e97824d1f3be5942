/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_OP_H_INCLUDED
#define MPIDI_OP_H_INCLUDED

/* An operation as data: a thread posts it when it cannot or may not issue the operation itself (ICS'19
 * section 3.4). An MPIDI_op_t needs no request; it may be on a stack, in a pool, or, with LockQ, in
 * the request that the user waits on. op_apply.h issues it. Included by mpidpre.h. */

#include "tsm/queue/tsm_swp.h"
#include "tsm/tsm_patience.h"
#include "tsm/tsm_usc.h"

struct MPIR_Request;
struct MPIR_Comm;
struct MPIDI_av_entry;

typedef enum MPIDI_op_kind {
    MPIDI_OP_ISEND,
    MPIDI_OP_ISSEND,
    MPIDI_OP_ISEND_COLL,
    MPIDI_OP_IRECV,
    MPIDI_OP_IMRECV
} MPIDI_op_kind_t;

typedef struct MPIDI_op {
    MPIDI_op_kind_t kind;
    int rank;
    int tag;
    int context_offset;
    MPIR_Errflag_t errflag;     /* ISEND_COLL */
    MPI_Datatype datatype;
    void *buf;
    MPI_Aint count;
    struct MPIR_Comm *comm;
    struct MPIDI_av_entry *av;
} MPIDI_op_t;

/* Return a copy of *op, made field by field. An inlined caller that passes the address of the copy to
 * a slow path leaves *op itself in registers. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX MPIDI_op_t MPIDI_op_copy(const MPIDI_op_t * op)
{
    const MPIDI_op_t copy = {
        .kind = op->kind,.rank = op->rank,.tag = op->tag,.context_offset = op->context_offset,
        .errflag = op->errflag,.datatype = op->datatype,.buf = op->buf,.count = op->count,
        .comm = op->comm,.av = op->av
    };

    return copy;
}

/* Constant-time matching; see match.h. */
#define MPIDI_MATCH_BITS 9

typedef struct MPIDI_match {
    uint64_t seq;               /* order of posting */
    struct MPIR_Request **head; /* the list that the request is in, or NULL */
    struct MPIR_Request *next, *prev;
} MPIDI_match_t;

typedef struct MPIDI_match_table {
    uint64_t seq;
    struct MPIR_Request *wildcards;     /* posted receives with a wildcard, in order */
    struct MPIR_Request *buckets[1 << MPIDI_MATCH_BITS];
} MPIDI_match_table_t;

/* Our part of a request of the device. */
typedef struct MPIDI_request_part {
    tsm_usc_slot_t waiter;      /* the thread that sleeps until the request completes; tsm_usc.h */
    MPIDI_match_t match;
    tsm_swp_node_t node;        /* in the queue of posted operations; posted.h */
    MPIDI_op_t op;              /* valid while the operation is posted */
    /* a free request at the head of a batch; see request_cache.c */
    TSM_ATOMIC(uint32_t) batch_next;
    int batch_count;
} MPIDI_request_part_t;

/* One wait of one call, in MPID_Progress_state; see progress/progress.h. */
typedef struct MPIDI_wait {
    struct MPIR_Request **reqs; /* the caller's array */
    int count;                  /* 0: the call does not wait for requests */
    int any;                    /* it returns when one of them is complete; else when all are */
    int turns;                  /* polls in a row that found nothing */
    tsm_patience_t patience;
    uint32_t serving;           /* bits of the VCIs in the state that it polls for those that sleep */
} MPIDI_wait_t;

#endif /* MPIDI_OP_H_INCLUDED */

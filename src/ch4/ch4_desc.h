/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_DESC_H_INCLUDED
#define CH4_DESC_H_INCLUDED

#include "mpidu_lock.h"

/* The work descriptor of an operation that is handed over (ICS'19 section 3.4). It lives inside
 * the request that the user waits on, so posting allocates nothing, and its queue node is part of
 * it, so the queue allocates nothing either.
 *
 * The user's request stands in for the one that the netmod makes when the operation is applied,
 * possibly by another thread (or for none, when the netmod completes at once). user and real connect
 * the two until the netmod's request completes; then status and completion pass to the user's.
 * Both fields are NULL in every new request and change under the VCI lock only; the others are
 * valid only in a posted request. */

typedef enum MPIDI_tsm_op {
    MPIDI_TSM_ISEND,
    MPIDI_TSM_ISSEND,
    MPIDI_TSM_ISEND_COLL,
    MPIDI_TSM_IRECV,
    MPIDI_TSM_IMRECV
} MPIDI_tsm_op_t;

struct MPIR_Request;
struct MPIDI_tsm_thread;
struct MPIR_Comm;
struct MPIDI_av_entry;

/* Constant-time matching; see ch4_match.h. */
#define MPIDI_TSM_MATCH_BITS 9

typedef struct MPIDI_tsm_match {
    uint64_t seq;               /* order of posting */
    struct MPIR_Request **head; /* the list that the request is in, or NULL */
    struct MPIR_Request *next, *prev;
} MPIDI_tsm_match_t;

typedef struct MPIDI_tsm_match_table {
    uint64_t seq;
    struct MPIR_Request *wildcards;     /* posted receives with a wildcard, in order */
    struct MPIR_Request *buckets[1 << MPIDI_TSM_MATCH_BITS];
} MPIDI_tsm_match_table_t;

typedef struct MPIDI_tsm_desc {
    struct MPIR_Request *user;  /* in the netmod's request: the one that the user waits on */
    struct MPIR_Request *real;  /* in the user's request: the one of the netmod */
    TSM_ATOMIC(struct MPIDI_tsm_thread *) waiter;       /* see ch4_usc.h */
    MPIDI_tsm_match_t match;
    tsm_swp_node_t node;
    MPIDI_tsm_op_t op;
    int rank;
    int tag;
    int context_offset;
    MPIR_Errflag_t errflag;
    MPI_Datatype datatype;      /* one reference is held until applied */
    void *buf;
    MPI_Aint count;
    struct MPIR_Comm *comm;     /* kept alive by the request's own reference */
    struct MPIDI_av_entry *av;
} MPIDI_tsm_desc_t;

/* What a call that waits has to know to sleep; in MPID_Progress_state. reqs: the caller's array. */
typedef struct MPIDI_tsm_wait {
    struct MPIR_Request **reqs;
    int count;                  /* 0: the call does not wait for requests */
    int any;                    /* it returns when one of them is complete; else when all are */
    int serving;                /* the thread makes progress for those that sleep */
} MPIDI_tsm_wait_t;

/* The netmod's request behind a posted one has completed: pass it on. See ch4_issue.c. */
void MPIDI_tsm_complete_user(struct MPIR_Request *real);

#endif /* CH4_DESC_H_INCLUDED */

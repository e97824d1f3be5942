/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_POST_H_INCLUDED
#define CSP_POST_H_INCLUDED

/* The user's side: operations under way, and posting them to the ghost. Operations reach the ghost in
 * the order in which they are posted: while the ring is full, posts wait in a list of this process, and
 * later ones go behind them. */

#include "csp_data.h"
#include "csp_node.h"

/* An operation that the ghost will answer. From a pool; it stays with this process. */
typedef struct csp_op {
    MPIR_Request *req;          /* NULL: the caller waits for `answer` */
    csp_data_t data;            /* the user's buffer */
    csp_answer_t answer;
    uint64_t serial;            /* of this use of the structure; never used twice */
    int rank;                   /* receive, matched probe: of the sender, or MPI_ANY_SOURCE */
    uint64_t message;           /* of a matched probe: the ghost's name for the message */
    TSM_ATOMIC(int) is_answered;
    struct csp_op *next;        /* in the pool */
} csp_op_t;

/* A lock of this process; nothing if it has one thread. Taken for a short time, no other inside. */
void csp_lock(void);
void csp_unlock(void);

/* Returns a new operation, or NULL without memory. csp_op_free gives it back. Any thread. */
csp_op_t *csp_op_new(MPIR_Request * req);
void csp_op_free(csp_op_t * op);

/* Post a copy of *post and wake the ghost if need be (csp_ring.h). Never waits for the ghost. Returns
 * an MPI error code (no memory). Any thread. */
int csp_post(const csp_post_t * post);

/* Move posts that wait into the ring. Returns how many. Any thread. */
int csp_post_waiting(void);

/* How many such posts there are. */
int csp_posts_wait(void);

/* The number of the last of them; whether all up to that number have gone. Any thread. */
unsigned csp_posts_last(void);
int csp_posts_went(unsigned last);

/* Wait until there are few of them. A program that only sends small messages, which are complete at
 * once, would fill its memory otherwise while its ghost is behind. Any thread. */
void csp_await_room(void);

/* Count of operations that are not answered yet; the sends among them. */
int csp_outstanding(void);
int csp_outstanding_sends(void);
void csp_count_send(int n);

/* Take in the ghost's answers; a progress hook. Any thread. Sets *made_progress if there were any.
 * Returns an MPI error code. */
int csp_take_answers(int *made_progress);

/* In a loop that waits for a ghost: let other threads into MPI, in global. */
void csp_let_in(void);

/* After a vain look by a call that may wait for a ghost: now and then give way if processors are short,
 * and look whether our ghost lives, which ends the job if not. With no VCI held. */
void csp_look_again(void);

/* What the caller waited for has come: the next vain look is the first again. */
void csp_look_ends(void);

/* Does our ghost live, or has it left MPI in good order? Ends the job if not. */
void csp_check_ghost(void);

/* From now on csp_take_answers only looks now and then whether our ghost lives. */
void csp_take_no_more(void);

/* Post what the ghost answers at once, and wait for the answer: (*op)->answer. The caller frees *op.
 * Returns an MPI error code. Any thread. */
int csp_ask(csp_post_t * post, csp_op_t ** op);

/* Make a request of `kind` on comm, for the caller and for csp_take_answers. NULL: no more requests.
 * csp_request_drop: nobody has seen it; free it. */
MPIR_Request *csp_request_new(MPIR_Request_kind_t kind, MPIR_Comm * comm);
void csp_request_drop(MPIR_Request * req);

/* The two together: a new operation with the request *req. Returns NULL without memory. csp_op_drop: it
 * was not posted; free both, but not the data. */
csp_op_t *csp_op_begin(MPIR_Request_kind_t kind, MPIR_Comm * comm, MPIR_Request ** req);
void csp_op_drop(csp_op_t * op);

#endif /* CSP_POST_H_INCLUDED */

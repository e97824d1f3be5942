/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <pthread.h>
#include "csp_post.h"
#include "csp_ring.h"

#define OPS_AT_ONCE 64

typedef struct waiting_post {
    csp_post_t post;
    struct waiting_post *next;
} waiting_post_t;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static csp_op_t *free_ops;
static waiting_post_t *first_waiting, **last_waiting = &first_waiting;
static TSM_ATOMIC(int) waiting;
static TSM_ATOMIC(int) outstanding;
static TSM_ATOMIC(int) sends;
static unsigned went;           /* of those that waited; with the lock held */

void csp_lock(void)
{
    if (MPIR_IS_THREADED)
        pthread_mutex_lock(&mutex);
}

void csp_unlock(void)
{
    if (MPIR_IS_THREADED)
        pthread_mutex_unlock(&mutex);
}

int csp_outstanding(void)
{
    return tsm_load(&outstanding, TSM_RELAXED);
}

int csp_outstanding_sends(void)
{
    return tsm_load(&sends, TSM_RELAXED);
}

void csp_count_send(int n)
{
    tsm_fetch_add(&sends, n, TSM_RELAXED);
}

static void make_ops(void)
{
    csp_op_t *ops = MPL_calloc(OPS_AT_ONCE, sizeof(*ops), MPL_MEM_OTHER);

    for (int i = 0; ops && i < OPS_AT_ONCE; i++) {
        ops[i].next = free_ops;
        free_ops = &ops[i];
    }
}

csp_op_t *csp_op_new(MPIR_Request * req)
{
    static uint64_t serial;
    csp_op_t *op;

    csp_lock();
    if (!free_ops)
        make_ops();
    op = free_ops;
    if (op) {
        free_ops = op->next;
        op->serial = ++serial;
    }
    csp_unlock();
    if (op) {
        op->req = req;
        tsm_store(&op->is_answered, 0, TSM_RELAXED);
        csp_data_none(&op->data);
        tsm_fetch_add(&outstanding, 1, TSM_RELAXED);
    }
    return op;
}

void csp_op_free(csp_op_t * op)
{
    tsm_fetch_add(&outstanding, -1, TSM_RELAXED);
    csp_lock();
    op->next = free_ops;
    free_ops = op;
    csp_unlock();
}

/* With the lock held. */
static void put_into_ring(const csp_post_t * post)
{
    csp_user_t *me = csp_node.my_user;

    me->post[csp_ring_write(&me->posts)] = *post;
    csp_ring_publish(&me->posts);
}

/* With the lock held. */
static void count(const csp_post_t * post, int is_late)
{
    switch (post->kind) {
        case CSP_POST_SEND:
            csp_count(&csp_counts.sends, 1);
            break;
        case CSP_POST_RECV:
        case CSP_POST_MRECV:
            csp_count(&csp_counts.receives, 1);
            break;
        case CSP_POST_PROBE:
        case CSP_POST_MPROBE:
            csp_count(&csp_counts.probes, 1);
    }
    if (is_late)
        csp_count(&csp_counts.late, 1);
}

/* With the lock held. 0 without memory. */
static int put_aside(const csp_post_t * post)
{
    waiting_post_t *item = MPL_malloc(sizeof(*item), MPL_MEM_OTHER);

    if (!item)
        return 0;
    item->post = *post;
    item->next = NULL;
    *last_waiting = item;
    last_waiting = &item->next;
    tsm_fetch_add(&waiting, 1, TSM_RELAXED);
    return 1;
}

/* With the lock held: what waits goes first. Returns how many went. */
static int move_waiting(void)
{
    int n = 0;

    while (first_waiting && csp_ring_has_room(&csp_node.my_user->posts)) {
        waiting_post_t *item = first_waiting;
        put_into_ring(&item->post);
        first_waiting = item->next;
        if (!first_waiting)
            last_waiting = &first_waiting;
        MPL_free(item);
        tsm_fetch_add(&waiting, -1, TSM_RELAXED);
        n++;
    }
    went += (unsigned) n;
    return n;
}

int csp_post(const csp_post_t * post)
{
    int mpi_errno = MPI_SUCCESS, is_kept = 1, has_room, n;

    csp_lock();
    n = move_waiting();
    has_room = !first_waiting && csp_ring_has_room(&csp_node.my_user->posts);
    if (has_room)
        put_into_ring(post);
    else
        is_kept = put_aside(post);
    count(post, !has_room);
    csp_unlock();
    tsm_store(&csp_node.my_user->looked, 0, TSM_RELAXED);
    csp_ring_for(post, n > 0 || tsm_load(&waiting, TSM_RELAXED) > 0);
    MPIR_ERR_CHKANDJUMP(!is_kept, mpi_errno, MPI_ERR_OTHER, "**nomem");

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_posts_wait(void)
{
    return tsm_load(&waiting, TSM_RELAXED);
}

unsigned csp_posts_last(void)
{
    unsigned last;

    csp_lock();
    last = went + (unsigned) tsm_load(&waiting, TSM_RELAXED);
    csp_unlock();
    return last;
}

int csp_posts_went(unsigned last)
{
    int have;

    csp_lock();
    have = (int) (went - last) >= 0;
    csp_unlock();
    return have;
}

int csp_post_waiting(void)
{
    int n;

    if (tsm_load(&waiting, TSM_RELAXED) == 0)
        return 0;
    csp_lock();
    n = move_waiting();
    csp_unlock();
    if (n > 0)
        csp_ring();
    return n;
}

MPIR_Request *csp_request_new(MPIR_Request_kind_t kind, MPIR_Comm * comm)
{
    MPIR_Request *req = MPIR_Request_create_from_pool(kind, 0, 2);

    if (req) {
        req->comm = comm;
        MPIR_Comm_add_ref(comm);
    }
    return req;
}

void csp_request_drop(MPIR_Request * req)
{
    req->casper = NULL;
    MPIR_Request_free(req);     /* for the caller, and for csp_take_answers */
    MPIR_Request_free(req);
}

csp_op_t *csp_op_begin(MPIR_Request_kind_t kind, MPIR_Comm * comm, MPIR_Request ** req)
{
    csp_op_t *op = NULL;

    *req = csp_request_new(kind, comm);
    if (!*req)
        return NULL;
    op = csp_op_new(*req);
    if (op) {
        (*req)->casper = op;
    } else {
        csp_request_drop(*req);
        *req = NULL;
    }
    return op;
}

void csp_op_drop(csp_op_t * op)
{
    csp_request_drop(op->req);
    csp_op_free(op);
}

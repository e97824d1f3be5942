/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Two threads of a process that depend on each other through the peer: one is in a call that ends
 * only when the peer has done its part, and the peer does it only after an answer of the other
 * thread, which waits for the peer's question meanwhile. A thread that delays a wake, a lock or the
 * progress of others while it waits hangs here.
 *
 * Members 2k and 2k+1 make a pair; one without a partner takes part in what all do. */
#include "fuzz.h"

enum { SSEND, LARGE, RECV, TEST, PROBE, IPROBE, MPROBE, DETACH, BARRIER, DUP, LOCK, KINDS };
enum { DATA, QUESTION, ANSWER };

typedef struct {
    fz_lane_t *l;
    int peer, kind, how;
    size_t bytes;
    uint64_t key;
} relay_t;

static void *answer(void *arg)
{
    relay_t *x = arg;
    MPI_Comm comm = x->l->own.comm;
    MPI_Request req;
    int what = 0, flag = 0;

    if (x->how == 0) {
        MPI_Recv(&what, 1, MPI_INT, x->peer, fz_tag(x->l, QUESTION), comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(&what, 1, MPI_INT, x->peer, fz_tag(x->l, QUESTION), comm, &req);
        while (x->how == 2 && !flag)
            MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    }
    FZ_CHECK(x->l, what == x->kind, "question %d instead of %d", what, x->kind);
    MPI_Send(&what, 1, MPI_INT, x->peer, fz_tag(x->l, ANSWER), comm);
    return NULL;
}

static void ask(relay_t * x)
{
    MPI_Comm comm = x->l->own.comm;
    int what = -1;

    MPI_Send(&x->kind, 1, MPI_INT, x->peer, fz_tag(x->l, QUESTION), comm);
    MPI_Recv(&what, 1, MPI_INT, x->peer, fz_tag(x->l, ANSWER), comm, MPI_STATUS_IGNORE);
    FZ_CHECK(x->l, what == x->kind, "answer %d to question %d", what, x->kind);
}

static void everybody(relay_t * x)
{
    MPI_Comm comm;

    if (x->kind == BARRIER) {
        MPI_Barrier(x->l->ctl);
    } else if (x->kind == DUP) {
        MPI_Comm_dup(x->l->own.comm, &comm);
        MPI_Comm_free(&comm);
    }
}

static void send_data(relay_t * x)
{
    fz_buf_t *b = fz_buf_new(x->l, x->bytes, 0);
    MPI_Comm comm = x->l->own.comm;
    int tag = fz_tag(x->l, DATA);
    MPI_Request req;

    fz_buf_fill(b, x->key);
    if (x->kind == DETACH && fz_bsend(x->l, b, x->peer, tag, comm)) {
        fz_buf_free(b);
        fz_bsend_end(x->l);
        fz_bsend_begin(x->l);
        return;
    }
    if (x->kind == LARGE)
        MPI_Isend(b->addr, b->count, b->type, x->peer, tag, comm, &req);
    else
        MPI_Issend(b->addr, b->count, b->type, x->peer, tag, comm, &req);
    fz_complete(x->l, 1, &req, fz_completed_nothing, NULL);
    fz_buf_free(b);
}

static void receive_data(relay_t * x, int kind)
{
    fz_buf_t *b = fz_buf_new(x->l, x->bytes, 0);
    MPI_Comm comm = x->l->own.comm;
    int tag = fz_tag(x->l, DATA), flag = 0;
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Request req;

    if (kind == PROBE)
        MPI_Probe(x->peer, tag, comm, MPI_STATUS_IGNORE);
    else if (kind == MPROBE)
        MPI_Mprobe(x->peer, tag, comm, &m, MPI_STATUS_IGNORE);
    while (kind == IPROBE && !flag)
        MPI_Iprobe(x->peer, tag, comm, &flag, MPI_STATUS_IGNORE);
    if (m != MPI_MESSAGE_NULL)
        MPI_Imrecv(b->addr, b->count, b->type, &m, &req);
    else
        MPI_Irecv(b->addr, b->count, b->type, x->peer, tag, comm, &req);
    fz_complete(x->l, 1, &req, fz_completed_nothing, NULL);
    fz_buf_check(x->l, b, x->bytes, x->key, "relayed message");
    fz_buf_free(b);
}

/* The peer has locked its own window before and unlocks it after the answer. */
static void lock_peer(relay_t * x)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, x->peer, 0, x->l->win);
    MPI_Win_flush(x->peer, x->l->win);
    MPI_Win_unlock(x->peer, x->l->win);
}

static void first_member(relay_t * x)
{
    pthread_t thread;

    FZ_CHECK(x->l, pthread_create(&thread, NULL, answer, x) == 0, "no more threads");
    fz_pause(x->l);
    switch (x->kind) {
        case SSEND: case LARGE: case DETACH: send_data(x); break;
        case RECV: case TEST: case PROBE: case IPROBE: case MPROBE: receive_data(x, x->kind); break;
        case LOCK: lock_peer(x); break;
        default: everybody(x);
    }
    pthread_join(thread, NULL);
}

static void second_member(relay_t * x)
{
    fz_pause(x->l);
    ask(x);
    switch (x->kind) {
        case SSEND: case LARGE: case DETACH: receive_data(x, RECV); break;
        case RECV: case TEST: case PROBE: case IPROBE: case MPROBE: send_data(x); break;
        case LOCK: MPI_Win_unlock(fz.rank, x->l->win); break;
        default: everybody(x);
    }
}

/* One lane of half of the seeds has the buffer for MPI_Bsend: it is to use it. */
static int draw_kind(fz_lane_t * l)
{
    int kind = fz_draw(l, l->id == fz.plan.bsend_lane ? 2 * KINDS : KINDS);

    return kind < KINDS ? kind : DETACH;
}

void fz_relay(fz_lane_t * l)
{
    int turns = 1 + fz_draw(l, 3), me = l->own.me;

    for (int i = 0; i < turns; i++) {
        relay_t x = {.l = l,.peer = me ^ 1,.kind = draw_kind(l),.how = fz_draw(l, 3) };
        x.bytes = fz_draw_bytes(l);
        if (x.kind == LARGE || x.kind == DETACH)
            x.bytes = fz.plan.max_bytes;
        x.key = fz_next(&l->rng);
        if (x.kind == LOCK) {
            fz_rma_begin(l);
            if (me % 2)
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, fz.rank, 0, l->win);
            MPI_Barrier(l->ctl);
        }
        if (x.peer >= l->own.n)
            everybody(&x);
        else if (me % 2 == 0)
            first_member(&x);
        else
            second_member(&x);
        /* the next turn must not lock before this turn has had the lock */
        if (x.kind == LOCK)
            MPI_Barrier(l->ctl);
    }
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The main scene: up to 16 messages between the members of a communicator, each sent and received
 * in its own way. All members draw the list of messages; a receiver checks source, tag, size,
 * contents and order of what it gets.
 *
 * Wildcards: receives that may match the same messages form a class, and all receives of a process
 * in a scene use the same wildcards, so that none takes another class's message. Messages of a
 * later scene cannot match: tags name the scene; with any-tag and a source, order keeps them apart;
 * with both, all members meet in a barrier at the end.
 *
 * Deadlock: sends that may block (and those in ready mode) are used only in scenes in which all
 * receives are posted first; otherwise all is issued before anything blocks. */
#include "fuzz.h"

#define MAX_MSGS 16
#define BSEND_BYTES (4 << 20)

enum { SEND, SSEND, RSEND, ISEND, ISSEND, IRSEND, BSEND, IBSEND, FREED_ISEND, SEND_KINDS };
enum { IRECV_FIRST, IRECV_LATER, RECV, PROBE, IPROBE, MPROBE, IMPROBE, RECV_KINDS };

typedef struct {
    int src, dst, tag, send, recv, taken;
    size_t bytes;
    uint64_t key;
} msg_t;

typedef struct {
    fz_buf_t *buf;
    MPI_Status st;
    int msg;                    /* the message for which it was posted; it may get another */
    uint64_t sum;               /* of the memory at completion */
} recv_t;

typedef struct {
    fz_lane_t *l;
    fz_comm_t *c;
    int wild, posted_first, ready;
    int msgs, recvs, reqs;
    msg_t msg[MAX_MSGS];
    recv_t recv[MAX_MSGS];      /* in the order of posting */
    MPI_Request req[2 * MAX_MSGS];
    int recv_of[2 * MAX_MSGS];  /* -1: a send */
    fz_buf_t *send_buf[2 * MAX_MSGS];
} exchange_t;

void fz_bsend_begin(fz_lane_t * l)
{
    l->bsend_used = 0;
    if (l->id != fz.plan.bsend_lane)
        return;
    l->bsend_mem = fz_alloc(BSEND_BYTES);
    MPI_Buffer_attach(l->bsend_mem, BSEND_BYTES);
}

/* Waits until all that is buffered has gone, which needs nothing more from this lane. */
void fz_bsend_end(fz_lane_t * l)
{
    void *p;
    int n;

    if (l->id != fz.plan.bsend_lane)
        return;
    MPI_Buffer_detach(&p, &n);
    FZ_CHECK(l, p == l->bsend_mem && n == BSEND_BYTES, "MPI_Buffer_detach gave another buffer");
    free(p);
}

static void refresh_bsend(fz_lane_t * l)
{
    if (l->bsend_used == 0 || (l->bsend_used < BSEND_BYTES / 2 && fz_own_draw(l, 4)))
        return;
    fz_bsend_end(l);
    fz_bsend_begin(l);
}

static int may_bsend(fz_lane_t * l, size_t bytes)
{
    size_t need = bytes + 8 * MPI_BSEND_OVERHEAD + 1024;

    if (l->id != fz.plan.bsend_lane || l->bsend_used + need > BSEND_BYTES)
        return 0;
    l->bsend_used += need;
    return 1;
}

/* 0 if this lane must not, or has no room. */
int fz_bsend(fz_lane_t * l, const fz_buf_t * b, int dst, int tag, MPI_Comm comm)
{
    if (!may_bsend(l, b->bytes))
        return 0;
    MPI_Bsend(b->addr, b->count, b->type, dst, tag, comm);
    return 1;
}

/* --- the plan ------------------------------------------------------------ */

static int draw_other_side(fz_lane_t * l, const fz_comm_t * c, int src)
{
    if (!c->second)
        return fz_draw(l, c->n);
    return src < c->second ? c->second + fz_draw(l, c->n - c->second) : fz_draw(l, c->second);
}

/* What a scene that posts receives late cannot use. */
static int tame_send(const exchange_t * x, int kind)
{
    if (!x->posted_first && kind <= RSEND)
        kind += ISEND;
    if (!x->ready && (kind == RSEND || kind == IRSEND))
        kind -= RSEND;          /* SEND and ISEND */
    return kind;
}

static void make_plan(exchange_t * x)
{
    fz_lane_t *l = x->l;
    int tags = 1 + fz_draw(l, 3);

    x->msgs = 1 + fz_draw(l, MAX_MSGS);
    for (int i = 0; i < x->msgs; i++) {
        msg_t *m = &x->msg[i];
        m->src = fz_draw(l, x->c->n);
        m->dst = draw_other_side(l, x->c, m->src);
        m->tag = fz_tag(l, fz_draw(l, tags));
        m->send = tame_send(x, fz_draw(l, SEND_KINDS));
        if (m->send == FREED_ISEND && x->c->n == 1 && fz.without.freed_self)
            m->send = ISEND;
        m->recv = x->posted_first ? IRECV_FIRST : fz_draw(l, RECV_KINDS);
        m->bytes = fz_draw_bytes(l);
        m->key = fz_mix(l->rng, (uint64_t) l->id, (uint64_t) i);
        m->taken = 0;
    }
}

static int same_class(const exchange_t * x, const msg_t * a, const msg_t * b)
{
    return a->dst == b->dst && (x->wild & FZ_ANY_SRC || a->src == b->src) &&
        (x->wild & FZ_ANY_TG || a->tag == b->tag);
}

/* --- receives ------------------------------------------------------------ */

static recv_t *new_recv(exchange_t * x, int msg)
{
    recv_t *r = &x->recv[x->recvs++];
    size_t bytes = 0;

    for (int i = 0; i < x->msgs; i++) {
        if (same_class(x, &x->msg[i], &x->msg[msg]) && x->msg[i].bytes > bytes)
            bytes = x->msg[i].bytes;
    }
    r->msg = msg;
    r->buf = fz_buf_new(x->l, bytes, 0);
    return r;
}

static int source_of(const exchange_t * x, int msg)
{
    return x->wild & FZ_ANY_SRC ? MPI_ANY_SOURCE : fz_rank(x->c, x->msg[msg].src);
}

static int tag_of(const exchange_t * x, int msg)
{
    return x->wild & FZ_ANY_TG ? MPI_ANY_TAG : x->msg[msg].tag;
}

static void complete_recv(recv_t * r, const MPI_Status * st)
{
    r->st = *st;
    r->sum = fz_buf_sum(r->buf);
}

static void irecv(exchange_t * x, int msg)
{
    recv_t *r = new_recv(x, msg);

    MPI_Irecv(r->buf->addr, r->buf->count, r->buf->type, source_of(x, msg), tag_of(x, msg),
              x->c->comm, &x->req[x->reqs]);
    fz_buf_free_type(r->buf);
    x->recv_of[x->reqs++] = (int) (r - x->recv);
}

static void check_probed(exchange_t * x, const MPI_Status * st, int msg)
{
    int bytes;

    MPI_Get_count(st, MPI_BYTE, &bytes);
    FZ_CHECK(x->l, bytes >= 0 && (size_t) bytes <= fz.plan.max_bytes, "a probe found %d bytes",
             bytes);
    FZ_CHECK(x->l, source_of(x, msg) == MPI_ANY_SOURCE || st->MPI_SOURCE == source_of(x, msg),
             "a probe found source %d", st->MPI_SOURCE);
}

static void probed_recv(exchange_t * x, int msg, int kind)
{
    MPI_Comm comm = x->c->comm;
    MPI_Status found, st;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Request req;
    int src = source_of(x, msg), tag = tag_of(x, msg), flag = 0;
    recv_t *r = new_recv(x, msg);
    fz_buf_t *b = r->buf;

    switch (kind) {
        case PROBE: MPI_Probe(src, tag, comm, &found); break;
        case MPROBE: MPI_Mprobe(src, tag, comm, &handle, &found); break;
        case IPROBE:
            while (!flag)
                MPI_Iprobe(src, tag, comm, &flag, &found);
            break;
        default:
            while (!flag)
                MPI_Improbe(src, tag, comm, &flag, &handle, &found);
    }
    check_probed(x, &found, msg);
    if (handle != MPI_MESSAGE_NULL && fz_own_draw(x->l, 2)) {
        MPI_Mrecv(b->addr, b->count, b->type, &handle, &st);
    } else if (handle != MPI_MESSAGE_NULL) {
        MPI_Imrecv(b->addr, b->count, b->type, &handle, &req);
        MPI_Wait(&req, &st);
    } else {
        MPI_Recv(b->addr, b->count, b->type, found.MPI_SOURCE, found.MPI_TAG, comm, &st);
    }
    complete_recv(r, &st);
    FZ_CHECK(x->l, st.MPI_SOURCE == found.MPI_SOURCE && st.MPI_TAG == found.MPI_TAG,
             "received source %d tag %d, but the probe had found %d and %d", st.MPI_SOURCE,
             st.MPI_TAG, found.MPI_SOURCE, found.MPI_TAG);
}

static void blocking_recv(exchange_t * x, int msg)
{
    recv_t *r = new_recv(x, msg);
    MPI_Status st;

    MPI_Recv(r->buf->addr, r->buf->count, r->buf->type, source_of(x, msg), tag_of(x, msg),
             x->c->comm, &st);
    complete_recv(r, &st);
}

static void post_irecvs(exchange_t * x, int kind)
{
    for (int i = 0; i < x->msgs; i++) {
        if (x->msg[i].dst == x->c->me && x->msg[i].recv == kind) {
            irecv(x, i);
            fz_pause(x->l);
        }
    }
}

static void receive_now(exchange_t * x)
{
    for (int i = 0; i < x->msgs; i++) {
        msg_t *m = &x->msg[i];
        if (m->dst != x->c->me || m->recv < RECV)
            continue;
        if (m->recv == RECV)
            blocking_recv(x, i);
        else
            probed_recv(x, i, m->recv);
    }
}

/* --- sends --------------------------------------------------------------- */

/* 1: done with the buffer; 0: *req says when */
static int send_it(exchange_t * x, const msg_t * m, const fz_buf_t * b, MPI_Request * req)
{
    int dst = fz_rank(x->c, m->dst), kind = m->send;
    MPI_Comm comm = x->c->comm;

    if ((kind == BSEND || kind == IBSEND) && !may_bsend(x->l, m->bytes))
        kind = ISEND;
    switch (kind) {
        case SEND: MPI_Send(b->addr, b->count, b->type, dst, m->tag, comm); return 1;
        case SSEND: MPI_Ssend(b->addr, b->count, b->type, dst, m->tag, comm); return 1;
        case RSEND: MPI_Rsend(b->addr, b->count, b->type, dst, m->tag, comm); return 1;
        case BSEND: MPI_Bsend(b->addr, b->count, b->type, dst, m->tag, comm); return 1;
        case ISSEND: MPI_Issend(b->addr, b->count, b->type, dst, m->tag, comm, req); return 0;
        case IRSEND: MPI_Irsend(b->addr, b->count, b->type, dst, m->tag, comm, req); return 0;
        case IBSEND: MPI_Ibsend(b->addr, b->count, b->type, dst, m->tag, comm, req); return 0;
        default: MPI_Isend(b->addr, b->count, b->type, dst, m->tag, comm, req); return 0;
    }
}

static void send(exchange_t * x, const msg_t * m)
{
    fz_buf_t *b = fz_buf_new(x->l, m->bytes, 0);
    MPI_Request req;
    int done;

    fz_buf_fill(b, m->key);
    done = send_it(x, m, b, &req);
    if (done) {
        fz_buf_free(b);
    } else if (m->send == FREED_ISEND) {
        MPI_Request_free(&req);
        fz_buf_free_type(b);
        b->next = x->l->later;
        x->l->later = b;
    } else {
        fz_buf_free_type(b);
        x->send_buf[x->reqs] = b;
        x->recv_of[x->reqs] = -1;
        x->req[x->reqs++] = req;
    }
}

/* --- the end ------------------------------------------------------------- */

static void done(void *arg, int i, const MPI_Status * st)
{
    exchange_t *x = arg;

    if (x->recv_of[i] >= 0)
        complete_recv(&x->recv[x->recv_of[i]], st);
    else
        fz_buf_free(x->send_buf[i]);
}

/* The first message of the source that this receive, in the order of posting, may get. */
static msg_t *expected(exchange_t * x, const recv_t * r)
{
    int src = fz_member(x->c, r->st.MPI_SOURCE);

    for (int i = 0; i < x->msgs; i++) {
        msg_t *m = &x->msg[i];
        if (!m->taken && m->src == src && same_class(x, m, &x->msg[r->msg]) &&
            (x->wild & FZ_ANY_TG || m->tag == r->st.MPI_TAG))
            return m;
    }
    return NULL;
}

static void check_recv(exchange_t * x, recv_t * r)
{
    msg_t *m = expected(x, r);
    int bytes;

    MPI_Get_count(&r->st, MPI_BYTE, &bytes);
    FZ_CHECK(x->l, m, "a message from %d with tag %d of %d bytes that nobody has sent",
             r->st.MPI_SOURCE, r->st.MPI_TAG, bytes);
    m->taken = 1;
    FZ_CHECK(x->l, m->tag == r->st.MPI_TAG && m->bytes == (size_t) bytes, "message %d of %d from "
             "%d: tag %d and %d bytes, not %d and %zu", (int) (m - x->msg), x->msgs,
             r->st.MPI_SOURCE, r->st.MPI_TAG, bytes, m->tag, m->bytes);
    FZ_CHECK(x->l, r->sum == fz_buf_sum(r->buf), "message %d of %d from %d, %d bytes in %d blocks, "
             "changed after its completion", (int) (m - x->msg), x->msgs, r->st.MPI_SOURCE, bytes,
             r->buf->blocks);
    fz_buf_check(x->l, r->buf, m->bytes, m->key, "message");
    fz_buf_free(r->buf);
}

void fz_exchange(fz_lane_t * l, fz_comm_t * c, int may_free)
{
    exchange_t x = {.l = l,.c = c };

    /* the same in all parts of a split communicator, because all of them share ctl */
    x.wild = fz_draw(l, 4);
    x.posted_first = fz_draw(l, 2);
    x.ready = x.posted_first && fz_draw(l, 3) == 0;
    if (!c->own)
        x.wild &= FZ_ANY_SRC;
    make_plan(&x);
    post_irecvs(&x, IRECV_FIRST);
    if (x.ready)
        MPI_Barrier(l->ctl);
    for (int i = 0; i < x.msgs; i++) {
        if (x.msg[i].src == c->me) {
            send(&x, &x.msg[i]);
            fz_pause(l);
        }
    }
    post_irecvs(&x, IRECV_LATER);
    receive_now(&x);
    if (may_free)
        MPI_Comm_free(&c->comm);
    fz_complete(l, x.reqs, x.req, done, &x);
    for (int i = 0; i < x.recvs; i++)
        check_recv(&x, &x.recv[i]);
    if (x.wild == (FZ_ANY_SRC | FZ_ANY_TG))
        MPI_Barrier(l->ctl);
    if (l->id == fz.plan.bsend_lane)
        refresh_bsend(l);
}

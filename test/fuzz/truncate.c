/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages that are longer than their receives, with MPI_ERRORS_RETURN: those receives fail, whatever
 * completes them, nothing is written behind their buffers, and all others get what was sent. */
#include "fuzz.h"

#define MOST 12
#define GUARD 64
#define UNTOUCHED 0x5a

enum { RECV, WAIT, TEST, MRECV, SENDRECV, TOGETHER, WAYS };

typedef struct {
    int way, tag, src, dst;
    size_t bytes, room;
    uint64_t key;
    unsigned char *in, *out;
    MPI_Request recv, send;
} msg_t;

static void is_right(fz_lane_t * l, const msg_t * m, int error, const MPI_Status * st)
{
    int class, n;

    MPI_Error_class(error, &class);
    FZ_CHECK(l, class == (m->bytes > m->room ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "%zu bytes from %d "
             "into a buffer of %zu, way %d: error class %d", m->bytes, m->src, m->room, m->way, class);
    for (size_t i = m->room; i < m->room + GUARD; i++)
        FZ_CHECK(l, m->in[i] == UNTOUCHED, "%zu bytes from %d into a buffer of %zu, way %d: byte %zu "
                 "is %#x", m->bytes, m->src, m->room, m->way, i, m->in[i]);
    if (class == MPI_SUCCESS) {
        MPI_Get_count(st, MPI_BYTE, &n);
        FZ_CHECK(l, (size_t) n == m->bytes &&
                 fz_holds(m->in, m->bytes, fz_mix(m->key, (uint64_t) m->src, 0)), "%zu bytes from %d, "
                 "way %d: %d came, or they are damaged", m->bytes, m->src, m->way, n);
    }
}

static void draw_msg(fz_lane_t * l, msg_t * m)
{
    int shift = fz_draw(l, l->own.n), longer = fz_draw(l, 2);

    m->dst = fz_dst(&l->own, shift);
    m->src = fz_src(&l->own, shift);
    m->tag = fz_tag(l, fz_draw(l, 2));
    m->way = fz_draw(l, WAYS);
    m->bytes = fz_draw_bytes(l);
    m->room = m->bytes;
    if (longer)                 /* nothing, half or all but one byte fits */
        m->room = fz_draw(l, 2) ? m->bytes - (m->bytes > 0) : m->bytes * (size_t) fz_draw(l, 2) / 2;
    m->key = fz_next(&l->rng);
    m->recv = m->send = MPI_REQUEST_NULL;
    m->in = fz_alloc(m->room + GUARD);
    m->out = fz_alloc(m->bytes);
    memset(m->in, UNTOUCHED, m->room + GUARD);
    fz_fill(m->out, m->bytes, fz_mix(m->key, (uint64_t) l->own.me, 0));
}

/* Sends, and receives or posts the receive, before the next message is looked at: receives are in the
 * order of the sends. */
static void play(fz_lane_t * l, msg_t * m, MPI_Comm comm)
{
    int room = (int) m->room, rc = MPI_SUCCESS;
    MPI_Message handle;
    MPI_Status st;

    if (m->way == SENDRECV) {
        rc = MPI_Sendrecv(m->out, (int) m->bytes, MPI_BYTE, m->dst, m->tag, m->in, room, MPI_BYTE,
                          m->src, m->tag, comm, &st);
        is_right(l, m, rc, &st);
        return;
    }
    if (fz_own_draw(l, 3))
        MPI_Isend(m->out, (int) m->bytes, MPI_BYTE, m->dst, m->tag, comm, &m->send);
    else
        MPI_Issend(m->out, (int) m->bytes, MPI_BYTE, m->dst, m->tag, comm, &m->send);
    fz_pause(l);
    switch (m->way) {
        case RECV:
            rc = MPI_Recv(m->in, room, MPI_BYTE, m->src, m->tag, comm, &st);
            is_right(l, m, rc, &st);
            break;
        case MRECV:
            /* errors of MPI_Mrecv itself go to MPI_COMM_WORLD */
            MPI_Mprobe(m->src, m->tag, comm, &handle, &st);
            MPI_Imrecv(m->in, room, MPI_BYTE, &handle, &m->recv);
            break;
        default:
            MPI_Irecv(m->in, room, MPI_BYTE, m->src, m->tag, comm, &m->recv);
    }
}

static void complete_one(fz_lane_t * l, msg_t * m)
{
    MPI_Status st;
    int rc = MPI_SUCCESS, flag = 0;

    if (m->way == WAIT)
        rc = MPI_Wait(&m->recv, &st);
    while (m->way == TEST && rc == MPI_SUCCESS && !flag)
        rc = MPI_Test(&m->recv, &flag, &st);
    if (m->way == WAIT || m->way == TEST)
        is_right(l, m, rc, &st);
}

/* What is left. MPI_Waitall says in the statuses whose receives failed, and may leave others
 * pending. */
static void complete_rest(fz_lane_t * l, msg_t * msg, int n)
{
    MPI_Request req[2 * MOST];
    MPI_Status st[2 * MOST];
    int rc, class, left = 0;

    for (int i = 0; i < n; i++) {
        req[2 * i] = msg[i].recv;
        req[2 * i + 1] = msg[i].send;
        left += msg[i].recv != MPI_REQUEST_NULL;
        left += msg[i].send != MPI_REQUEST_NULL;
    }
    while (left > 0) {
        rc = MPI_Waitall(2 * n, req, st);
        MPI_Error_class(rc, &class);
        FZ_CHECK(l, class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS, "MPI_Waitall: error class %d",
                 class);
        for (int i = 0; i < n; i++) {
            if (msg[i].recv != MPI_REQUEST_NULL && req[2 * i] == MPI_REQUEST_NULL) {
                is_right(l, &msg[i], rc == MPI_SUCCESS ? rc : st[2 * i].MPI_ERROR, &st[2 * i]);
                msg[i].recv = MPI_REQUEST_NULL;
                left--;
            }
            if (msg[i].send != MPI_REQUEST_NULL && req[2 * i + 1] == MPI_REQUEST_NULL) {
                FZ_CHECK(l, rc == MPI_SUCCESS || st[2 * i + 1].MPI_ERROR == MPI_SUCCESS, "a send of "
                         "%zu bytes to %d has error %#x", msg[i].bytes, msg[i].dst,
                         st[2 * i + 1].MPI_ERROR);
                msg[i].send = MPI_REQUEST_NULL;
                left--;
            }
        }
    }
}

void fz_truncate(fz_lane_t * l)
{
    int n = 1 + fz_draw(l, MOST);
    msg_t msg[MOST];
    MPI_Comm comm;

    MPI_Comm_dup(l->own.comm, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < n; i++) {
        draw_msg(l, &msg[i]);
        play(l, &msg[i], comm);
    }
    for (int i = 0; i < n; i++)
        complete_one(l, &msg[i]);
    complete_rest(l, msg, n);
    for (int i = 0; i < n; i++) {
        free(msg[i].in);
        free(msg[i].out);
    }
    MPI_Comm_free(&comm);
}

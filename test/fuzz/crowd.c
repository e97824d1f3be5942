/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Several threads of each process send and receive at once with the same communicator, and any of the
 * receiving threads may get any message: posted receives, matched probes and cancelled receives
 * compete for it. Every message must come exactly once, and what one thread receives of one sending
 * thread in the order in which it was sent.
 *
 * Deadlock: a thread issues its sends first and then receives as many messages as are its share, so
 * there is a message for each receive. All receives of a process match the same messages. */
#include "fuzz.h"

#define MOST 12                 /* messages of a sending thread */

enum { RECV, IRECV, PROBE, MPROBE, IMPROBE, CANCEL, WAYS };

typedef struct {
    uint32_t member, thread, i;
} head_t;

typedef struct {
    fz_comm_t *c;
    int threads, n, fan_in, shift, wild, share;
    size_t room;
    uint64_t key;
    char came[FZ_MAX_PROCS][FZ_MAX_HELPERS][MOST];
} crowd_t;

static int target_of(const crowd_t * x, int m)
{
    return x->fan_in ? x->shift : (m + x->shift) % x->c->n;
}

static size_t bytes_of(const crowd_t * x, head_t h)
{
    uint64_t r = fz_mix(x->key + h.member, h.thread, h.i);

    return sizeof(head_t) + r % (x->room - sizeof(head_t) + 1);
}

static int tag_of(const fz_lane_t * l, const crowd_t * x, head_t h)
{
    return fz_tag(l, x->wild & FZ_ANY_TG ? (int) (h.i % 3) : 0);
}

static void fill(const crowd_t * x, unsigned char *p, head_t h)
{
    memcpy(p, &h, sizeof(h));
    fz_fill(p + sizeof(h), bytes_of(x, h) - sizeof(h), fz_mix(x->key, h.member * 99 + h.thread, h.i));
}

static void send_all(fz_lane_t * l, const crowd_t * x, int thread, unsigned char *out,
                     MPI_Request * req)
{
    for (int i = 0; i < x->n; i++) {
        head_t h = { (uint32_t) x->c->me, (uint32_t) thread, (uint32_t) i };
        unsigned char *p = out + (size_t) i * x->room;
        int dst = target_of(x, x->c->me), bytes = (int) bytes_of(x, h);
        fill(x, p, h);
        if (fz_own_draw(l, 6) == 0)
            MPI_Issend(p, bytes, MPI_BYTE, dst, tag_of(l, x, h), x->c->comm, &req[i]);
        else
            MPI_Isend(p, bytes, MPI_BYTE, dst, tag_of(l, x, h), x->c->comm, &req[i]);
        if (i % 4 == 0)
            fz_pause(l);
    }
}

static void keep_status(void *arg, int i, const MPI_Status * st)
{
    (void) i;
    *(MPI_Status *) arg = *st;
}

static void receive_matched(fz_lane_t * l, const crowd_t * x, unsigned char *in, MPI_Message m,
                            MPI_Status * st)
{
    MPI_Request req;

    if (fz_own_draw(l, 2)) {
        MPI_Mrecv(in, (int) x->room, MPI_BYTE, &m, st);
        return;
    }
    MPI_Imrecv(in, (int) x->room, MPI_BYTE, &m, &req);
    fz_complete(l, 1, &req, keep_status, st);
}

/* Whether the receive got a message before it was cancelled. */
static int cancelled_recv(fz_lane_t * l, MPI_Request req, MPI_Status * st)
{
    int flag;

    fz_pause(l);
    MPI_Cancel(&req);
    MPI_Wait(&req, st);
    MPI_Test_cancelled(st, &flag);
    return !flag;
}

static void receive_one(fz_lane_t * l, const crowd_t * x, unsigned char *in, MPI_Status * st)
{
    int src = fz_src(x->c, x->shift), tag = fz_tag(l, 0), flag = 0;
    MPI_Comm comm = x->c->comm;
    MPI_Message m;
    MPI_Request req;

    if (x->wild & FZ_ANY_SRC)
        src = MPI_ANY_SOURCE;
    if (x->wild & FZ_ANY_TG)
        tag = MPI_ANY_TAG;
    switch (fz_own_draw(l, WAYS)) {
        case MPROBE:
            MPI_Mprobe(src, tag, comm, &m, MPI_STATUS_IGNORE);
            receive_matched(l, x, in, m, st);
            return;
        case IMPROBE:
            while (!flag)
                MPI_Improbe(src, tag, comm, &flag, &m, MPI_STATUS_IGNORE);
            receive_matched(l, x, in, m, st);
            return;
        case IRECV:
            MPI_Irecv(in, (int) x->room, MPI_BYTE, src, tag, comm, &req);
            fz_complete(l, 1, &req, keep_status, st);
            return;
        case CANCEL:
            MPI_Irecv(in, (int) x->room, MPI_BYTE, src, tag, comm, &req);
            if (cancelled_recv(l, req, st))
                return;
            break;
        case PROBE:            /* another thread may take what it found */
            MPI_Probe(src, tag, comm, MPI_STATUS_IGNORE);
            break;
    }
    MPI_Recv(in, (int) x->room, MPI_BYTE, src, tag, comm, st);
}

static void check(fz_lane_t * l, crowd_t * x, const unsigned char *in, const MPI_Status * st,
                  int last[FZ_MAX_PROCS][FZ_MAX_HELPERS], unsigned char *want)
{
    head_t h;
    int bytes;

    memcpy(&h, in, sizeof(h));
    MPI_Get_count(st, MPI_BYTE, &bytes);
    FZ_CHECK(l, h.member == (uint32_t) st->MPI_SOURCE && h.thread < (uint32_t) x->threads &&
             h.i < (uint32_t) x->n && target_of(x, st->MPI_SOURCE) == x->c->me,
             "%d bytes from %d with tag %d begin with member %u, thread %u, message %u", bytes,
             st->MPI_SOURCE, st->MPI_TAG, h.member, h.thread, h.i);
    FZ_CHECK(l, (size_t) bytes == bytes_of(x, h) && st->MPI_TAG == tag_of(l, x, h),
             "message %u of thread %u of %d has %d bytes and tag %d, not %zu and %d", h.i, h.thread,
             st->MPI_SOURCE, bytes, st->MPI_TAG, bytes_of(x, h), tag_of(l, x, h));
    fill(x, want, h);
    FZ_CHECK(l, !memcmp(in, want, (size_t) bytes), "message %u of thread %u of %d, %d bytes, is "
             "damaged", h.i, h.thread, st->MPI_SOURCE, bytes);
    FZ_CHECK(l, !__atomic_exchange_n(&x->came[h.member][h.thread][h.i], 1, __ATOMIC_RELAXED),
             "message %u of thread %u of %d came twice", h.i, h.thread, st->MPI_SOURCE);
    FZ_CHECK(l, (int) h.i > last[h.member][h.thread], "message %u of thread %u of %d came after %d",
             h.i, h.thread, st->MPI_SOURCE, last[h.member][h.thread]);
    last[h.member][h.thread] = (int) h.i;
}

static void take_part(fz_lane_t * l, int thread, void *arg)
{
    crowd_t *x = arg;
    int last[FZ_MAX_PROCS][FZ_MAX_HELPERS];
    unsigned char *mem = fz_alloc((size_t) (x->n + 2) * x->room);
    unsigned char *in = mem + (size_t) x->n * x->room, *want = in + x->room;
    MPI_Request req[MOST];
    MPI_Status st;

    memset(last, -1, sizeof(last));
    send_all(l, x, thread, mem, req);
    for (int i = 0; i < x->share; i++) {
        receive_one(l, x, in, &st);
        check(l, x, in, &st, last, want);
    }
    fz_complete(l, x->n, req, fz_completed_nothing, NULL);
    free(mem);
}

void fz_crowd(fz_lane_t * l, fz_comm_t * c)
{
    static const size_t rooms[] = { 16, 64, 200, 1500, 20000, 70000, 300000 };
    crowd_t x = {.c = c,.threads = 2 + fz_draw(l, FZ_MAX_HELPERS - 1) };

    x.n = 1 + fz_draw(l, MOST);
    x.fan_in = fz_draw(l, 2);
    x.shift = fz_draw(l, c->n);
    x.wild = fz_draw(l, 4);
    x.room = rooms[fz_draw(l, 7)];
    x.key = fz_next(&l->rng);
    if (!c->own)
        x.wild &= FZ_ANY_SRC;
    if (x.fan_in)
        x.wild |= FZ_ANY_SRC;
    if (x.room > fz.plan.max_bytes)
        x.room = fz.plan.max_bytes;
    for (int m = 0; m < c->n; m++)
        x.share += target_of(&x, m) == c->me ? x.n : 0;
    fz_threads(l, x.threads, take_part, &x);
    if (x.wild & FZ_ANY_TG)
        MPI_Barrier(l->ctl);
}

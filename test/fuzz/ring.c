/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Small scenes: sendrecv around the members, and cancelled receives, some of which a message
 * reaches at the same time. */
#include "fuzz.h"

static void check_status(fz_lane_t * l, const MPI_Status * st, int source, int tag, size_t bytes)
{
    int n;

    MPI_Get_count(st, MPI_BYTE, &n);
    FZ_CHECK(l, st->MPI_SOURCE == source && st->MPI_TAG == tag && n >= 0 && (size_t) n == bytes,
             "status has source %d, tag %d, %d bytes instead of %d, %d, %zu", st->MPI_SOURCE,
             st->MPI_TAG, n, source, tag, bytes);
}

static void sendrecv(fz_lane_t * l, fz_comm_t * c, int shift, int tag, uint64_t key)
{
    size_t bytes = fz_draw_bytes(l);
    int dst = fz_dst(c, shift), src = fz_src(c, shift);
    fz_buf_t *out = fz_buf_new(l, bytes, 0), *in = fz_buf_new(l, bytes, 0);
    MPI_Status st;

    fz_buf_fill(out, fz_mix(key, (uint64_t) c->me, 0));
    MPI_Sendrecv(out->addr, out->count, out->type, dst, tag, in->addr, in->count, in->type, src,
                 tag, c->comm, &st);
    fz_buf_free(out);
    check_status(l, &st, src, tag, bytes);
    fz_buf_check(l, in, bytes, fz_mix(key, (uint64_t) src, 0), "sendrecv");
    fz_buf_free(in);
}

static void replace(fz_lane_t * l, fz_comm_t * c, int shift, int tag, uint64_t key)
{
    size_t bytes = fz_draw_bytes(l);
    int dst = fz_dst(c, shift), src = fz_src(c, shift);
    fz_buf_t *b = fz_buf_new(l, bytes, 0);
    MPI_Status st;

    fz_buf_fill(b, fz_mix(key, (uint64_t) c->me, 0));
    MPI_Sendrecv_replace(b->addr, b->count, b->type, dst, tag, src, tag, c->comm, &st);
    check_status(l, &st, src, tag, bytes);
    fz_buf_check(l, b, bytes, fz_mix(key, (uint64_t) src, 0), "sendrecv_replace");
    fz_buf_free(b);
}

void fz_ring(fz_lane_t * l, fz_comm_t * c)
{
    int turns = 1 + fz_draw(l, 6);

    for (int i = 0; i < turns; i++) {
        int shift = fz_draw(l, c->n), tag = fz_tag(l, fz_draw(l, 3));
        uint64_t key = fz_mix(l->rng, 5, (uint64_t) i);
        if (fz_draw(l, 2))
            sendrecv(l, c, shift, tag, key);
        else
            replace(l, c, shift, tag, key);
    }
}

/* No message has this tag. */
static void cancel_idle(fz_lane_t * l, fz_comm_t * c)
{
    int n = 1 + fz_own_draw(l, 4), flag;
    MPI_Request req[4];
    fz_buf_t *b[4];
    MPI_Status st;

    for (int i = 0; i < n; i++) {
        b[i] = fz_buf_new(l, (size_t) fz_own_draw(l, 5000), 0);
        MPI_Irecv(b[i]->addr, b[i]->count, b[i]->type,
                  fz_own_draw(l, 2) ? MPI_ANY_SOURCE : fz_own_draw(l, c->n),
                  fz_tag(l, FZ_TAG_NEVER), c->comm, &req[i]);
    }
    fz_pause(l);
    for (int i = n - 1; i >= 0; i--) {
        MPI_Cancel(&req[i]);
        MPI_Wait(&req[i], &st);
        MPI_Test_cancelled(&st, &flag);
        FZ_CHECK(l, flag, "a receive without a message was not cancelled");
        fz_buf_check(l, b[i], 0, 0, "cancelled receive");
        fz_buf_free(b[i]);
    }
}

/* The message comes, but maybe not into the receive that is cancelled. */
static void cancel_race(fz_lane_t * l, fz_comm_t * c, int shift, uint64_t key)
{
    size_t bytes = fz_draw_bytes(l);
    int dst = fz_dst(c, shift), src = fz_src(c, shift), tag = fz_tag(l, 0), flag;
    int from = fz_own_draw(l, 2) ? MPI_ANY_SOURCE : src;
    fz_buf_t *out = fz_buf_new(l, bytes, 0), *in = fz_buf_new(l, bytes, 0);
    MPI_Request sreq, rreq;
    MPI_Status st;

    fz_buf_fill(out, fz_mix(key, (uint64_t) c->me, 0));
    MPI_Irecv(in->addr, in->count, in->type, from, tag, c->comm, &rreq);
    MPI_Isend(out->addr, out->count, out->type, dst, tag, c->comm, &sreq);
    fz_pause(l);
    MPI_Cancel(&rreq);
    MPI_Wait(&rreq, &st);
    MPI_Test_cancelled(&st, &flag);
    if (flag) {
        fz_buf_check(l, in, 0, 0, "cancelled receive");
        MPI_Recv(in->addr, in->count, in->type, src, tag, c->comm, &st);
    }
    check_status(l, &st, src, tag, bytes);
    fz_buf_check(l, in, bytes, fz_mix(key, (uint64_t) src, 0), "message after a cancel");
    fz_buf_free(in);
    MPI_Wait(&sreq, MPI_STATUS_IGNORE);
    fz_buf_free(out);
}

void fz_cancel(fz_lane_t * l, fz_comm_t * c)
{
    uint64_t key = fz_mix(l->rng, 6, 0);

    if (fz_draw(l, 2))
        cancel_idle(l, c);
    cancel_race(l, c, fz_draw(l, c->n), key);
    if (fz_draw(l, 2))
        cancel_idle(l, c);
}

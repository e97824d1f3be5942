/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* So many messages at once that queues and pools of the library run out of places: each member sends
 * some hundred to one other, or all to the same. Tags and sources may be wild; what is received must
 * then be in the order of the sends of each source. */
#include "fuzz.h"

#define MOST 1200
#define AT_ONCE 64              /* requests of fz_complete */
#define TAGS 3
#define UNTOUCHED 0x5a


typedef struct {
    fz_lane_t *l;
    fz_comm_t *c;
    int n, fan_in, shift, wild;
    int done;                   /* receives of the chunks that are complete */
    size_t room;
    uint64_t key;
    int recvs;                  /* of this process */
    fz_mem_t in, out;
    MPI_Request *req;           /* receives, then sends */
    MPI_Status *st;
} flood_t;

static int target_of(const flood_t * x, int m)
{
    return x->fan_in ? x->shift : (m + x->shift) % x->c->n;
}

/* Message i of member m: the same in all processes. */
static int tag_of(const flood_t * x, int m, int i)
{
    return fz_tag(x->l, (int) (fz_mix(x->key, (uint64_t) m, (uint64_t) i) % TAGS));
}

static size_t bytes_of(const flood_t * x, int m, int i)
{
    return fz_mix(x->key + 1, (uint64_t) m, (uint64_t) i) % (x->room + 1);
}

static uint64_t key_of(const flood_t * x, int m, int i)
{
    return fz_mix(x->key + 2, (uint64_t) m, (uint64_t) i);
}

static unsigned char *place(const fz_mem_t * mem, const flood_t * x, int i)
{
    return (unsigned char *) mem->p + (size_t) i * x->room;
}

/* The receives of one source in the order of its messages; sources take turns. */
static void post(flood_t * x)
{
    int r = 0;

    memset(x->in.p, UNTOUCHED, (size_t) x->recvs * x->room);
    for (int i = 0; i < x->n; i++) {
        for (int m = 0; m < x->c->n; m++) {
            if (target_of(x, m) != x->c->me)
                continue;
            MPI_Irecv(place(&x->in, x, r), (int) x->room, MPI_BYTE,
                      x->wild & FZ_ANY_SRC ? MPI_ANY_SOURCE : m,
                      x->wild & FZ_ANY_TG ? MPI_ANY_TAG : tag_of(x, m, i), x->c->comm, &x->req[r]);
            r++;
        }
    }
}

static void send(flood_t * x)
{
    int me = x->c->me, dst = target_of(x, me);

    for (int i = 0; i < x->n; i++) {
        unsigned char *p = place(&x->out, x, i);
        MPI_Request *req = &x->req[x->recvs + i];
        int bytes = (int) bytes_of(x, me, i), tag = tag_of(x, me, i);
        fz_fill(p, (size_t) bytes, key_of(x, me, i));
        if (fz_own_draw(x->l, 8) == 0)
            MPI_Issend(p, bytes, MPI_BYTE, dst, tag, x->c->comm, req);
        else
            MPI_Isend(p, bytes, MPI_BYTE, dst, tag, x->c->comm, req);
    }
}

static void completed(void *arg, int i, const MPI_Status * st)
{
    flood_t *x = arg;

    x->st[x->done + i] = *st;
}

static void complete(flood_t * x)
{
    for (x->done = 0; x->done < x->recvs + x->n; x->done += AT_ONCE) {
        int left = x->recvs + x->n - x->done;
        fz_complete(x->l, left < AT_ONCE ? left : AT_ONCE, x->req + x->done, completed, x);
    }
}

/* The first message that was not received yet of those that the receive may have got. */
static int expected(const flood_t * x, const char *taken, const MPI_Status * st)
{
    for (int i = 0; i < x->n; i++) {
        if (!taken[i] && (x->wild & FZ_ANY_TG || tag_of(x, st->MPI_SOURCE, i) == st->MPI_TAG))
            return i;
    }
    return -1;
}

static void check(const flood_t * x)
{
    char *taken = calloc((size_t) x->c->n, MOST);
    unsigned char *want = fz_alloc(x->room);

    FZ_CHECK(x->l, taken, "no memory");
    for (int r = 0; r < x->recvs; r++) {
        const MPI_Status *st = &x->st[r];
        int m = st->MPI_SOURCE, bytes;
        int i = expected(x, taken + (size_t) m * MOST, st);
        MPI_Get_count(st, MPI_BYTE, &bytes);
        FZ_CHECK(x->l, i >= 0, "a message from %d with tag %d that nobody has sent", m, st->MPI_TAG);
        taken[(size_t) m * MOST + (size_t) i] = 1;
        memset(want, UNTOUCHED, x->room);
        fz_fill(want, bytes_of(x, m, i), key_of(x, m, i));
        FZ_CHECK(x->l, st->MPI_TAG == tag_of(x, m, i) && (size_t) bytes == bytes_of(x, m, i) &&
                 !memcmp(want, place(&x->in, x, r), x->room),
                 "receive %d of %d: message %d of %d from %d, %d bytes, is another one or damaged",
                 r, x->recvs, i, x->n, m, bytes);
    }
    free(taken);
    free(want);
}

void fz_flood(fz_lane_t * l, fz_comm_t * c)
{
    static const size_t rooms[] = { 8, 64, 100, 1024, 1100, 5000 };
    flood_t x = {.l = l,.c = c,.wild = fz_draw(l, 4),.fan_in = fz_draw(l, 2) };
    int later = fz_draw(l, 2);

    x.n = (1 + fz_draw(l, MOST)) / (1 + fz.plan.threads / 4);
    x.shift = fz_draw(l, c->n);
    x.room = rooms[fz_draw(l, 6)];
    x.key = fz_next(&l->rng);
    if (!c->own)
        x.wild &= FZ_ANY_SRC;
    for (int m = 0; m < c->n; m++)
        x.recvs += target_of(&x, m) == c->me ? x.n : 0;
    x.in = fz_mem_new(l, (size_t) x.recvs * x.room);
    x.out = fz_mem_new(l, (size_t) x.n * x.room);
    x.req = fz_alloc(sizeof(*x.req) * (size_t) (x.recvs + x.n));
    x.st = fz_alloc(sizeof(*x.st) * (size_t) (x.recvs + x.n));
    if (!later)
        post(&x);
    send(&x);
    if (later)
        post(&x);
    complete(&x);
    check(&x);
    if (x.wild == (FZ_ANY_SRC | FZ_ANY_TG))
        MPI_Barrier(l->ctl);
    fz_mem_free(&x.in);
    fz_mem_free(&x.out);
    free(x.req);
    free(x.st);
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A receive from any source, where a message may come through shared memory or through the network, is
 * two receives in the library. Whichever meets a message first cuts the other off: neither takes a
 * message for the other afterwards, none is lost, and each process's messages come in order. Here the
 * senders are on both sides, and their messages, short and long, come before and after the receives,
 * some of which are cancelled, before any message was sent or while they arrive, and some of which have
 * gaps. At last no receive keeps its datatype. */
#include "mt.h"

#define EACH 4                  /* messages of each sender in a round */
#define LARGEST 60000           /* ints */
#define GAP (-77)

typedef struct {
    mt_thread_t *t;
    MPI_Comm comm;
    int receiver;
    long next[64];              /* of each sender's messages, the next to come */
} side_t;

typedef struct {
    int *buf;
    int has_gaps;
} room_t;

static MPI_Comm comm[MT_MAX_THREADS];

/* Of a sender's message: from none to what only a rendezvous sends. */
static int ints_of(const side_t * s, int sender, long index)
{
    static const int ints[] = { 0, 1, 2, 30, 300, 1500, 5000, 20000, LARGEST };
    return ints[mt_rng(s->t->id * 64 + sender, (int) index) % (sizeof(ints) / sizeof(ints[0]))];
}

static int value_of(const side_t * s, int sender, long index, int k)
{
    return (int) (index * 1000 + s->t->id * 64 + sender + k);
}

static MPI_Datatype type_with_gaps(void)
{
    MPI_Datatype one, type;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &one);
    MPI_Type_contiguous(1, one, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&one);
    return type;
}

/* What was received, in the order of the receives. */
static void note(side_t * s, const room_t * room, const MPI_Status * st)
{
    const int sender = st->MPI_SOURCE, step = room->has_gaps ? 2 : 1;
    int got, ints;

    MT_CHECK(sender >= 0 && sender < mt.size && sender != s->receiver, "sender %d", sender);
    const long index = s->next[sender]++;
    ints = ints_of(s, sender, index);
    MT_OK(MPI_Get_count(st, MPI_INT, &got));
    MT_CHECK(got == ints, "%d ints of sender %d's message %ld of %d", got, sender, index, ints);
    MT_CHECK(st->MPI_TAG == index % 7, "tag %d of sender %d's message %ld", st->MPI_TAG, sender, index);
    for (int k = 0; k < ints; k++) {
        MT_CHECK(room->buf[k * step] == value_of(s, sender, index, k),
                 "sender %d's message %ld has %d at %d", sender, index, room->buf[k * step], k);
        MT_CHECK(step == 1 || room->buf[k * step + 1] == GAP, "written into a gap");
    }
}

static void go(side_t * s)
{
    for (int p = 0; p < mt.size; p++) {
        if (p != s->receiver)
            MT_OK(MPI_Send(NULL, 0, MPI_INT, p, 100, s->comm));
    }
}

static void post(side_t * s, room_t * room, MPI_Datatype gaps, MPI_Request * r)
{
    room->has_gaps = mt_rand(&s->t->rng) % 2;
    for (int k = 0; k < 2 * LARGEST; k += 101)  /* the first ints and some others */
        room->buf[k] = GAP;
    if (room->has_gaps) {
        for (int k = 1; k < 2 * LARGEST; k += 2)
            room->buf[k] = GAP;
    }
    MT_OK(MPI_Irecv(room->buf, LARGEST, room->has_gaps ? gaps : MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                    s->comm, r));
}

static void cancel_some(side_t * s, int n, MPI_Request * r, char *asked)
{
    for (int k = 0; k < n; k++) {
        asked[k] = mt_rand(&s->t->rng) % 3 == 0;
        if (asked[k])
            MT_OK(MPI_Cancel(&r[k]));
    }
}

/* One message that no cancelled receive has taken. */
static void receive_one(side_t * s, room_t * room)
{
    MPI_Message message;
    MPI_Status st;

    room->has_gaps = 0;
    switch (mt_rand(&s->t->rng) % 3) {
        case 0:
            MT_OK(MPI_Recv(room->buf, LARGEST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &st));
            break;
        case 1:
            MT_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &message, &st));
            MT_OK(MPI_Mrecv(room->buf, LARGEST, MPI_INT, &message, &st));
            break;
        default:
            MT_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &st));
            MT_OK(MPI_Recv(room->buf, LARGEST, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, s->comm, &st));
    }
    note(s, room, &st);
}

/* early: the messages are sent before the receives are posted. sooner: the receives are cancelled
 * before a message is sent, so that each cancel succeeds. at_once: a receive is cancelled as soon as it
 * is posted, maybe to a queue of the library, which issues it only as it cancels it. */
static void receive_round(side_t * s, room_t * room, MPI_Request * r, MPI_Status * st, char *asked)
{
    const int n = EACH * (mt.size - 1), early = mt_rand(&s->t->rng) % 2;
    const int sooner = !early && mt_rand(&s->t->rng) % 2, at_once = early && mt_rand(&s->t->rng) % 2;
    MPI_Datatype gaps = type_with_gaps();
    int left = 0, cancelled;

    if (early) {
        go(s);
        mt_delay((unsigned) (mt_rand(&s->t->rng) % 20000));
    }
    for (int k = 0; k < n; k++) {
        post(s, &room[k], gaps, &r[k]);
        if (at_once)
            cancel_some(s, 1, &r[k], &asked[k]);
    }
    MT_OK(MPI_Type_free(&gaps));
    if (sooner)
        cancel_some(s, n, r, asked);
    if (!early)
        go(s);
    if (!sooner && !at_once) {
        mt_delay((unsigned) (mt_rand(&s->t->rng) % 20000));
        cancel_some(s, n, r, asked);
    }
    MT_OK(MPI_Waitall(n, r, st));
    for (int k = 0; k < n; k++) {
        MT_OK(MPI_Test_cancelled(&st[k], &cancelled));
        MT_CHECK(asked[k] || !cancelled, "cancelled, and nobody asked for it");
        MT_CHECK(!sooner || !asked[k] || cancelled, "not cancelled, though nothing was sent");
        if (cancelled)
            left++;
        else
            note(s, &room[k], &st[k]);
    }
    while (left-- > 0)
        receive_one(s, &room[0]);
}

static void send_round(side_t * s, int *buf, MPI_Request * r)
{
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, s->receiver, 100, s->comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < EACH; i++) {
        const long index = s->next[mt.rank]++;
        const int ints = ints_of(s, mt.rank, index);
        int *out = buf + i * LARGEST;

        for (int k = 0; k < ints; k++)
            out[k] = value_of(s, mt.rank, index, k);
        if (mt_rand(&s->t->rng) % 4)
            MT_OK(MPI_Isend(out, ints, MPI_INT, s->receiver, (int) (index % 7), s->comm, &r[i]));
        else
            MT_OK(MPI_Issend(out, ints, MPI_INT, s->receiver, (int) (index % 7), s->comm, &r[i]));
    }
    MT_OK(MPI_Waitall(EACH, r, MPI_STATUSES_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    side_t s = {.t = t,.comm = comm[t->id],.receiver = t->id % mt.size };
    const int n = EACH * (mt.size - 1);
    room_t *room = mt_alloc(sizeof(*room) * n);
    MPI_Request *r = mt_alloc(sizeof(*r) * n);
    MPI_Status *st = mt_alloc(sizeof(*st) * n);
    char *asked = mt_alloc(n);
    int *buf = mt_alloc(sizeof(int) * 2 * LARGEST * n);

    for (int k = 0; k < n; k++)
        room[k].buf = buf + (size_t) k * 2 * LARGEST;
    for (long i = 0; i < mt.iters; i++) {
        if (mt.rank == s.receiver)
            receive_round(&s, room, r, st, asked);
        else
            send_round(&s, buf, r);
    }
    free(buf);
    free(asked);
    free(st);
    free(r);
    free(room);
    return NULL;
}

/* Process 0 receives from each other one, and then from none. */
static void types_go(void)
{
    int in[2] = { 0, GAP }, cancelled;
    MPI_Datatype gaps;
    MPI_Request r;
    MPI_Status st;

    for (int p = 0; p < mt.size; p++) {
        if (mt.rank == 0) {
            gaps = type_with_gaps();
            MT_OK(MPI_Irecv(in, 1, gaps, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &r));
            if (p == 0)
                MT_OK(MPI_Cancel(&r));
            else
                MT_OK(MPI_Send(NULL, 0, MPI_INT, p, 1, MPI_COMM_WORLD));
            MT_OK(MPI_Wait(&r, &st));
            MT_OK(MPI_Test_cancelled(&st, &cancelled));
            MT_CHECK(cancelled == (p == 0), "cancelled or not");
            MT_CHECK(in[0] == p && in[1] == GAP, "received %d in place of %d", in[0], p);
            mt_type_free(&gaps);
        } else if (mt.rank == p) {
            MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MT_OK(MPI_Send(&p, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
        }
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 30);
    MT_CHECK(mt.size <= 64, "64 processes at most");
    mt_run_with_comms(worker, comm);
    types_go();
    return mt_finish();
}

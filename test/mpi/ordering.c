/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Non-overtaking: messages of one thread on one communicator and tag are received in the order
 * sent, for any mix of send calls and sizes (eager and rendezvous), by named and by wildcard
 * receives, while the other threads keep the library busy.
 *   own tags: thread i to thread i, both directions at a time, receives posted ahead
 *   one tag:  all threads to one receiving thread, order checked for each sending thread */
#include "mt.h"

#define SEND_SLOTS 6
#define RECV_SLOTS 4
#define MAX_BYTES (1 << 20)
#define SHARED_TAG 77

static MPI_Comm own_comm[MT_MAX_THREADS];
static MPI_Comm shared_comm;
static atomic_int shared_open;

static int message_bytes(int stream, long seq, int least)
{
    uint64_t h = mt_rng(stream, (int) seq);
    int kind = (int) (h % 64), lo = 1;
    if (kind == 0)
        lo = MAX_BYTES / 2 + (int) (h >> 8) % (MAX_BYTES / 2);
    else if (kind < 6)
        lo = 4096 + (int) ((h >> 8) % 60000);
    else if (kind < 32)
        lo = 1 + (int) ((h >> 8) % 1024);
    else
        lo = 1 + (int) ((h >> 8) % 16);
    return lo < least ? least : lo;
}

static void fill(unsigned char *b, int bytes, int stream, long seq)
{
    int32_t head[2] = { stream, (int32_t) seq };
    b[bytes - 1] = (unsigned char) (seq * 7 + 3);
    if (bytes >= 9)
        memcpy(b, head, sizeof(head));
    else
        b[0] = (unsigned char) seq;
}

static void check(const unsigned char *b, int stream, long seq, MPI_Status * st, int least)
{
    int got, want = message_bytes(stream, seq, least);
    int32_t head[2];
    MPI_Get_count(st, MPI_BYTE, &got);
    MT_CHECK(got == want, "stream %d message %ld: %d bytes instead of %d", stream, seq, got, want);
    if (got < 9) {
        MT_CHECK(b[0] == (unsigned char) seq, "stream %d: message %ld overtaken", stream, seq);
        return;
    }
    memcpy(head, b, sizeof(head));
    MT_CHECK(head[0] == stream && head[1] == (int32_t) seq,
             "stream %d: message %ld expected, %d of stream %d came", stream, seq, head[1],
             head[0]);
    MT_CHECK(b[got - 1] == (unsigned char) (seq * 7 + 3), "stream %d: damaged message", stream);
}

static void send_one(int kind, void *b, int bytes, int tag, MPI_Comm comm, MPI_Request * r)
{
    *r = MPI_REQUEST_NULL;
    switch (kind) {
        case 0:
            MPI_Send(b, bytes, MPI_BYTE, mt.peer, tag, comm);
            break;
        case 1:
            MPI_Issend(b, bytes, MPI_BYTE, mt.peer, tag, comm, r);
            break;
        case 2:
            MPI_Send_init(b, bytes, MPI_BYTE, mt.peer, tag, comm, r);
            MPI_Start(r);
            break;
        case 3:
            MPI_Sendrecv(b, bytes, MPI_BYTE, mt.peer, tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, tag,
                         comm, MPI_STATUS_IGNORE);
            break;
        case 4:
            MPI_Ssend(b, bytes, MPI_BYTE, mt.peer, tag, comm);
            break;
        default:
            MPI_Isend(b, bytes, MPI_BYTE, mt.peer, tag, comm, r);
            break;
    }
}

static void finish_send(MPI_Request * r, int kind)
{
    MPI_Wait(r, MPI_STATUS_IGNORE);
    if (kind == 2)
        MPI_Request_free(r);
}

static void send_stream(uint64_t * rng, int stream, int tag, MPI_Comm comm, int least)
{
    unsigned char *buf[SEND_SLOTS];
    MPI_Request req[SEND_SLOTS];
    int kind[SEND_SLOTS];
    for (int s = 0; s < SEND_SLOTS; s++)
        buf[s] = mt_alloc(MAX_BYTES);
    for (long i = 0; i < mt.iters; i++) {
        int s = (int) (i % SEND_SLOTS), bytes = message_bytes(stream, i, least);
        if (i >= SEND_SLOTS)
            finish_send(&req[s], kind[s]);
        fill(buf[s], bytes, stream, i);
        kind[s] = (int) (mt_rand(rng) % 10);
        send_one(kind[s], buf[s], bytes, tag, comm, &req[s]);
    }
    for (int s = 0; s < SEND_SLOTS; s++) {
        if (s < mt.iters)
            finish_send(&req[s], kind[s]);
        free(buf[s]);
    }
}

/* mode: 0 named, 1 any source, 2 any tag, 3 both */
static void recv_stream(int stream, int tag, MPI_Comm comm, int mode)
{
    unsigned char *buf[RECV_SLOTS];
    MPI_Request req[RECV_SLOTS];
    int source = mode & 1 ? MPI_ANY_SOURCE : mt.peer;
    int rtag = mode & 2 ? MPI_ANY_TAG : tag;
    long posted = 0;
    for (int s = 0; s < RECV_SLOTS; s++)
        buf[s] = mt_alloc(MAX_BYTES);
    for (long i = 0; i < mt.iters; i++) {
        MPI_Status st;
        for (; posted < mt.iters && posted < i + RECV_SLOTS; posted++)
            MPI_Irecv(buf[posted % RECV_SLOTS], MAX_BYTES, MPI_BYTE, source, rtag, comm,
                      &req[posted % RECV_SLOTS]);
        MPI_Wait(&req[i % RECV_SLOTS], &st);
        MT_CHECK(st.MPI_SOURCE == mt.peer && st.MPI_TAG == tag, "wrong source or tag");
        check(buf[i % RECV_SLOTS], stream, i, &st, 1);
    }
    for (int s = 0; s < RECV_SLOTS; s++)
        free(buf[s]);
}

static void *own_tags(void *arg)
{
    mt_thread_t *t = arg;
    int mode = t->id / 2 % 4;
    MPI_Comm comm = mode & 2 ? own_comm[t->id] : MPI_COMM_WORLD;
    if ((mt.rank + t->id) % 2 == 0)
        send_stream(&t->rng, t->id, t->id, comm, 1);
    else
        recv_stream(t->id, t->id, comm, mode);
    return NULL;
}

static void receive_all_shared(void)
{
    unsigned char *b = mt_alloc(MAX_BYTES);
    long next[MT_MAX_THREADS] = { 0 };
    for (long i = 0; i < mt.iters * mt.threads; i++) {
        MPI_Request r;
        MPI_Status st;
        int32_t stream;
        MPI_Irecv(b, MAX_BYTES, MPI_BYTE, i % 3 ? mt.peer : MPI_ANY_SOURCE,
                  i % 2 ? SHARED_TAG : MPI_ANY_TAG, shared_comm, &r);
        MPI_Wait(&r, &st);
        memcpy(&stream, b, sizeof(stream));
        MT_CHECK(stream >= 0 && stream < mt.threads, "no such stream: %d", stream);
        check(b, stream, next[stream]++, &st, 9);
    }
    free(b);
    atomic_store(&shared_open, 0);
}

/* The receiver's other threads: traffic with themselves on the same VCI. */
static void keep_busy(int id)
{
    int out = 0, in;
    while (atomic_load(&shared_open)) {
        MPI_Request r[2];
        MPI_Irecv(&in, 1, MPI_INT, mt.rank, id, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&out, 1, MPI_INT, mt.rank, id, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MT_CHECK(in == out++, "lost its own message");
        usleep(50);
    }
}

static void *one_tag(void *arg)
{
    mt_thread_t *t = arg;
    if (mt.rank % 2 == 0)
        send_stream(&t->rng, t->id, SHARED_TAG, shared_comm, 9);
    else if (t->id == 0)
        receive_all_shared();
    else
        keep_busy(t->id);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 300);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own_comm[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared_comm);
    mt_run(mt.threads, own_tags);
    atomic_store(&shared_open, 1);
    mt_run(mt.threads, one_tag);
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_free(&own_comm[i]);
    MPI_Comm_free(&shared_comm);
    return mt_finish();
}

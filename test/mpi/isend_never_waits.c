/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Isend returns though the peer receives nothing.  The threads of process 0 start more sends to
 * process 1 than the network holds; process 1 stays outside MPI until all of them have returned.
 * So the test never ends if a send waits for room.  With 3 processes it is process 2 that releases
 * process 1, when it has received a message that process 0 sent last: so a stalled peer must not
 * delay messages to another one either.  Afterwards every message must arrive once, unharmed and
 * in order: short, long, noncontiguous and synchronous ones, with requests that are waited for or
 * freed at once.  -t 1 runs with MPI_THREAD_SINGLE. */
#include "mt.h"
#include "latch.h"

#define MAX_BYTES 40000
#define KINDS 6
#define GO 1000

enum { SHORT, LONG, FEW_BLOCKS, MANY_BLOCKS, SYNC, SHORT_FREED };

typedef struct {
    int kind, bytes;
    unsigned char fill;
} message_t;

static MPI_Comm comm[MT_MAX_THREADS];
static MPI_Datatype few_blocks, many_blocks;
static atomic_int started;
static atomic_long held_back;   /* short sends that were not complete at once */

static message_t message(int stream, long seq)
{
    uint64_t h = mt_rng(stream, (int) seq);
    message_t m = { (int) (h % KINDS), 8 + (int) ((h >> 8) % 40), (unsigned char) (h >> 32) };
    switch (m.kind) {
        case LONG:
            m.bytes = 4096 + (int) ((h >> 8) % (MAX_BYTES - 4096));
            break;
        case FEW_BLOCKS:
            m.bytes = 3 * 1000;
            break;
        case MANY_BLOCKS:
            m.bytes = 100 * 40;
            break;
    }
    return m;
}

static unsigned char *start_send(int stream, long seq, MPI_Request * r)
{
    message_t m = message(stream, seq);
    int noncontig = m.kind == FEW_BLOCKS || m.kind == MANY_BLOCKS;
    size_t space = noncontig ? 2 * (size_t) m.bytes : (size_t) m.bytes;
    int64_t head = seq;
    unsigned char *b = mt_alloc(space);

    memset(b, m.fill, space);
    memcpy(b, &head, sizeof(head));
    if (noncontig)
        MT_OK(MPI_Isend(b, 1, m.kind == FEW_BLOCKS ? few_blocks : many_blocks, 1, stream,
                        comm[stream], r));
    else if (m.kind == SYNC)
        MT_OK(MPI_Issend(b, m.bytes, MPI_BYTE, 1, stream, comm[stream], r));
    else
        MT_OK(MPI_Isend(b, m.bytes, MPI_BYTE, 1, stream, comm[stream], r));
    return b;
}

/* By the last thread of process 0 that has started its sends. */
static void release_peer(void)
{
    if (atomic_fetch_add(&started, 1) + 1 < mt.threads)
        return;
    if (mt.size == 3)
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 2, GO, MPI_COMM_WORLD));
    else
        open_latch();
}

static void *sender(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Request *r = mt_alloc((size_t) mt.iters * sizeof(*r));
    unsigned char **buf = mt_alloc((size_t) mt.iters * sizeof(*buf));

    for (long i = 0; i < mt.iters; i++)
        buf[i] = start_send(t->id, i, &r[i]);
    for (long i = 0; i < mt.iters; i++) {
        int kind = message(t->id, i).kind, flag = 1;
        if (kind == SHORT)
            MT_OK(MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE));
        if (!flag)
            atomic_fetch_add(&held_back, 1);
        if (kind == SHORT_FREED)
            MT_OK(MPI_Request_free(&r[i]));
    }
    release_peer();
    MT_OK(MPI_Waitall((int) mt.iters, r, MPI_STATUSES_IGNORE));
    /* An acknowledgement of the last message: the buffers of freed requests are free, too. */
    MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, GO + t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (long i = 0; i < mt.iters; i++)
        free(buf[i]);
    free(buf);
    free(r);
    return NULL;
}

static void *receiver(void *arg)
{
    mt_thread_t *t = arg;
    unsigned char *b = mt_alloc(MAX_BYTES);

    for (long i = 0; i < mt.iters; i++) {
        message_t m = message(t->id, i);
        MPI_Status st;
        int64_t head;
        int got;
        MT_OK(MPI_Recv(b, MAX_BYTES, MPI_BYTE, i % 2 ? 0 : MPI_ANY_SOURCE, t->id, comm[t->id],
                       &st));
        MPI_Get_count(&st, MPI_BYTE, &got);
        memcpy(&head, b, sizeof(head));
        MT_CHECK(head == i, "stream %d: message %ld expected, %ld came", t->id, i, (long) head);
        MT_CHECK(got == m.bytes, "stream %d message %ld: %d bytes instead of %d", t->id, i, got,
                 m.bytes);
        for (int k = (int) sizeof(head); k < got; k++)
            MT_CHECK(b[k] == m.fill, "stream %d message %ld: byte %d damaged", t->id, i, k);
    }
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, GO + t->id, MPI_COMM_WORLD));
    free(b);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, wanted;

    mt_options(argc, argv, 4, 1000);
    wanted = mt.threads == 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(NULL, NULL, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt.size);
    MT_CHECK(mt.size == 2 || mt.size == 3, "run with 2 or 3 processes");
    MT_CHECK(provided >= wanted, "no MPI_THREAD_MULTIPLE");
    MT_OK(MPI_Type_vector(3, 1000, 2000, MPI_BYTE, &few_blocks));
    MT_OK(MPI_Type_vector(100, 40, 80, MPI_BYTE, &many_blocks));
    MT_OK(MPI_Type_commit(&few_blocks));
    MT_OK(MPI_Type_commit(&many_blocks));
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    make_latch();
    if (mt.rank == 1)
        wait_latch();
    if (mt.rank == 2) {
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        open_latch();
    }
    mt_thread_t self = { 0, 0 };
    if (mt.rank < 2 && mt.threads == 1)
        (mt.rank ? receiver : sender) (&self);
    else if (mt.rank < 2)
        mt_run(mt.threads, mt.rank ? receiver : sender);
    /* If the network had room for all of it, the test would show nothing. */
    if (mt.rank == 0 && getenv("FI_OFI_RXM_TX_SIZE") && mt_library_has("ch4:ofi"))
        MT_CHECK(atomic_load(&held_back) > 0, "the network had room for all sends: raise -n");
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
    MPI_Type_free(&few_blocks);
    MPI_Type_free(&many_blocks);
    return mt_finish();
}

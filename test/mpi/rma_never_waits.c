/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Put, MPI_Accumulate and MPI_Rput return though the target does nothing.  The threads of process 0
 * start more operations on process 1 than the network holds; process 1 stays outside MPI until all of
 * them have returned.  So the test never ends if an operation waits for room.  Afterwards a flush must
 * find all of them done, each in its place.  -t 1 runs with MPI_THREAD_SINGLE. */
#include "mt.h"
#include "latch.h"

#define SLOT 16384              /* bytes of the target for each operation */
#define KINDS 6

enum { SHORT, LONG, FEW_BLOCKS, MANY_BLOCKS, SUM, REQUEST };

typedef struct {
    int kind, bytes;
    unsigned char fill;
} operation_t;

static MPI_Win win;
static MPI_Datatype few_blocks, many_blocks;
static unsigned char *memory;
static atomic_int started;

static operation_t operation(int stream, long seq)
{
    uint64_t h = mt_rng(stream, (int) seq);
    operation_t o = { (int) (h % KINDS), 8 + (int) ((h >> 8) % 40), (unsigned char) (h >> 32) };
    switch (o.kind) {
        case LONG:
        case REQUEST:
            if (h >> 63)
                o.bytes = SLOT;
            break;
        case FEW_BLOCKS:
            o.bytes = 3 * 1000;
            break;
        case MANY_BLOCKS:
            o.bytes = 100 * 40;
            break;
        case SUM:
            o.bytes = SLOT;
            break;
    }
    if (o.kind == LONG)
        o.bytes = SLOT;
    return o;
}

static MPI_Aint place(int stream, long seq)
{
    return ((MPI_Aint) stream * mt.iters + seq) * SLOT;
}

static unsigned char *start(int stream, long seq, MPI_Request * r)
{
    operation_t o = operation(stream, seq);
    MPI_Aint at = place(stream, seq);
    MPI_Datatype type = o.kind == FEW_BLOCKS ? few_blocks : many_blocks;
    unsigned char *b = mt_alloc(SLOT);

    memset(b, o.fill, SLOT);
    *r = MPI_REQUEST_NULL;
    switch (o.kind) {
        case SHORT:
        case LONG:
            MT_OK(MPI_Put(b, o.bytes, MPI_BYTE, 1, at, o.bytes, MPI_BYTE, win));
            break;
        case FEW_BLOCKS:
        case MANY_BLOCKS:
            MT_OK(MPI_Put(b, 1, type, 1, at, 1, type, win));
            break;
        case SUM:
            MT_OK(MPI_Accumulate(b, o.bytes, MPI_BYTE, 1, at, o.bytes, MPI_BYTE, MPI_BOR, win));
            break;
        default:
            MT_OK(MPI_Rput(b, o.bytes, MPI_BYTE, 1, at, o.bytes, MPI_BYTE, win, r));
    }
    return b;
}

static void *origin(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Request *r = mt_alloc((size_t) mt.iters * sizeof(*r));
    unsigned char **buf = mt_alloc((size_t) mt.iters * sizeof(*buf));

    for (long i = 0; i < mt.iters; i++)
        buf[i] = start(t->id, i, &r[i]);
    if (atomic_fetch_add(&started, 1) + 1 == mt.threads)
        open_latch();
    MT_OK(MPI_Waitall((int) mt.iters, r, MPI_STATUSES_IGNORE));
    MT_OK(MPI_Win_flush(1, win));
    for (long i = 0; i < mt.iters; i++)
        free(buf[i]);
    free(buf);
    free(r);
    return NULL;
}

/* What the operation leaves at byte k of its place. */
static unsigned char expected(const operation_t * o, int k)
{
    int covered = k < o->bytes;

    if (o->kind == FEW_BLOCKS)
        covered = k < 5000 && k % 2000 < 1000;
    else if (o->kind == MANY_BLOCKS)
        covered = k < 8000 && k % 80 < 40;
    return covered ? o->fill : 0;
}

static void check_memory(void)
{
    for (int stream = 0; stream < mt.threads; stream++) {
        for (long i = 0; i < mt.iters; i++) {
            operation_t o = operation(stream, i);
            const unsigned char *b = memory + place(stream, i);
            for (int k = 0; k < SLOT; k++)
                MT_CHECK(b[k] == expected(&o, k), "stream %d operation %ld (kind %d): byte %d is %d",
                         stream, i, o.kind, k, b[k]);
        }
    }
}

static void make_window(void)
{
    MPI_Aint bytes = mt.rank == 1 ? (MPI_Aint) mt.threads * mt.iters * SLOT : 0;

    MT_OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memset(memory, 0, (size_t) bytes);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock_all(0, win));
    MT_OK(MPI_Win_flush_all(win));
}

int main(int argc, char **argv)
{
    int provided, wanted;

    mt_options(argc, argv, 4, 300);
    wanted = mt.threads == 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(NULL, NULL, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt.size);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_CHECK(provided >= wanted, "no MPI_THREAD_MULTIPLE");
    MT_OK(MPI_Type_vector(3, 1000, 2000, MPI_BYTE, &few_blocks));
    MT_OK(MPI_Type_vector(100, 40, 80, MPI_BYTE, &many_blocks));
    MT_OK(MPI_Type_commit(&few_blocks));
    MT_OK(MPI_Type_commit(&many_blocks));
    make_window();
    make_latch();
    mt_thread_t self = { 0, 0 };
    if (mt.rank == 1)
        wait_latch();
    else if (mt.threads == 1)
        origin(&self);
    else
        mt_run(mt.threads, origin);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 1)
        check_memory();
    MT_OK(MPI_Win_free(&win));
    MPI_Type_free(&few_blocks);
    MPI_Type_free(&many_blocks);
    return mt_finish();
}

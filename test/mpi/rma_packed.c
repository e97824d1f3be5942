/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Puts and gets of noncontiguous data, several before a flush, so that they need more buffers to pack
 * in than there may be and some are issued during the flush.  SPARSE has gaps after each element and is
 * packed; DENSE and BOTH have long blocks, at the origin and at both ends, and are not.  Each element
 * arrives in its place, and a get leaves the gaps alone.  The same with many small ones, each of which
 * takes a buffer.  While those of one window are under way, another window is flushed, and an operation
 * with a request, an active message that is packed in such a buffer, ends before the flush. */
#include "mt.h"

#define N 25000                 /* elements of an operation: 200 KB */
#define ROW 30000               /* elements of the target for each operation */
#define ROOM (2 * N)            /* of the origin */
#define OPS 3
#define MANY 50                 /* small operations, of FEW elements */
#define FEW 8
#define MIDDLE 1000             /* of one with a request */
#define GAP (-1L)

enum { SPARSE, DENSE, BOTH, KINDS };

typedef struct {
    MPI_Datatype origin, target;
    int count;                  /* of target */
} types_t;

static MPI_Win win, other;
static types_t types[KINDS];
static MPI_Datatype small, middle;

static int at_origin(int kind, int i)
{
    return kind == SPARSE ? 2 * i : i / 2500 * 3000 + i % 2500;
}

static int at_target(int kind, int i)
{
    return kind == BOTH ? i / 5000 * 6000 + i % 5000 : i;
}

static MPI_Datatype vector(int n, int blocks, int stride)
{
    MPI_Datatype type;
    MT_OK(MPI_Type_vector(blocks, n / blocks, stride, MPI_LONG, &type));
    MT_OK(MPI_Type_commit(&type));
    return type;
}

static MPI_Aint row(int id, int k)
{
    return (MPI_Aint) (id * OPS + k) * ROW;
}

static long value(int id, long round, int kind, int k, int i)
{
    return (((round * KINDS + kind) * OPS + k) * MT_MAX_THREADS + id) * N + i;
}

/* A put, which needs a buffer, and a flush of the window that may have none. */
static void use_other(int id, long round)
{
    long out[2 * FEW], in[FEW];

    for (int i = 0; i < 2 * FEW; i++)
        out[i] = value(id, round, SPARSE, 0, i);
    MT_OK(MPI_Put(out, 1, small, mt.peer, id * FEW, FEW, MPI_LONG, other));
    MT_OK(MPI_Win_flush(mt.peer, other));
    MT_OK(MPI_Get(in, FEW, MPI_LONG, mt.peer, id * FEW, FEW, MPI_LONG, other));
    MT_OK(MPI_Win_flush(mt.peer, other));
    for (int i = 0; i < FEW; i++)
        MT_CHECK(in[i] == out[2 * i], "round %ld, other window, element %d: %ld instead of %ld", round,
                 i, in[i], out[2 * i]);
}

static void put(int id, long round, int kind, long *data)
{
    const types_t *t = &types[kind];

    for (int k = 0; k < OPS; k++) {
        for (int i = 0; i < N; i++)
            data[k * ROOM + at_origin(kind, i)] = value(id, round, kind, k, i);
        MT_OK(MPI_Put(data + k * ROOM, 1, t->origin, mt.peer, row(id, k), t->count, t->target, win));
    }
    use_other(id, round);
    MT_OK(MPI_Win_flush(mt.peer, win));
}

/* The rows as they are at the target. */
static void check_rows(int id, long round, int kind, long *data)
{
    for (int k = 0; k < OPS; k++)
        MT_OK(MPI_Get(data + k * ROOM, ROW, MPI_LONG, mt.peer, row(id, k), ROW, MPI_LONG, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    for (int k = 0; k < OPS; k++) {
        for (int i = 0; i < N; i++) {
            long got = data[k * ROOM + at_target(kind, i)], want = value(id, round, kind, k, i);
            MT_CHECK(got == want, "round %ld, kind %d, put %d, element %d: %ld instead of %ld", round,
                     kind, k, i, got, want);
        }
    }
}

static void get(int id, long round, int kind, long *data)
{
    const types_t *t = &types[kind];
    int gaps = 0;

    for (int i = 0; i < OPS * ROOM; i++)
        data[i] = GAP;
    for (int k = 0; k < OPS; k++)
        MT_OK(MPI_Get(data + k * ROOM, 1, t->origin, mt.peer, row(id, k), t->count, t->target, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    for (int k = 0; k < OPS; k++) {
        for (int i = 0; i < N; i++) {
            long got = data[k * ROOM + at_origin(kind, i)], want = value(id, round, kind, k, i);
            MT_CHECK(got == want, "round %ld, kind %d, get %d, element %d: %ld instead of %ld", round,
                     kind, k, i, got, want);
        }
    }
    for (int i = 0; i < OPS * ROOM; i++)
        gaps += data[i] == GAP;
    MT_CHECK(gaps == OPS * (ROOM - N), "round %ld, kind %d: a get changed %d gaps", round, kind,
             OPS * (ROOM - N) - gaps);
}

/* More operations than buffers: each is complete with one, which it keeps until the flush. */
static void many(int id, long round, long *data)
{
    long *got = data + MANY * 2 * FEW;

    for (int i = 0; i < MANY * 2 * FEW; i++) {
        data[i] = value(id, round, SPARSE, 0, i);
        got[i] = GAP;
    }
    for (int k = 0; k < MANY; k++)
        MT_OK(MPI_Put(data + k * 2 * FEW, 1, small, mt.peer, row(id, 0) + k * FEW, FEW, MPI_LONG, win));
    use_other(id, round);
    MT_OK(MPI_Win_flush(mt.peer, win));
    for (int k = 0; k < MANY; k++)
        MT_OK(MPI_Get(got + k * 2 * FEW, 1, small, mt.peer, row(id, 0) + k * FEW, FEW, MPI_LONG, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    for (int i = 0; i < MANY * 2 * FEW; i++) {
        long want = i % 2 ? GAP : data[i];
        MT_CHECK(got[i] == want, "round %ld, small ones, element %d: %ld instead of %ld", round, i,
                 got[i], want);
    }
}

/* The small ones before it have all the buffers, and keep them until the flush. */
static void with_request(int id, long round, long *data)
{
    long *out = data + MANY * 2 * FEW;
    MPI_Request r;

    for (int i = 0; i < MANY * 2 * FEW + 2 * MIDDLE; i++)
        data[i] = value(id, round, DENSE, 0, i);
    for (int k = 0; k < MANY; k++)
        MT_OK(MPI_Put(data + k * 2 * FEW, 1, small, mt.peer, row(id, 0) + k * FEW, FEW, MPI_LONG, win));
    MT_OK(MPI_Rput(out, 1, middle, mt.peer, row(id, 1), MIDDLE, MPI_LONG, win, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MT_OK(MPI_Win_flush(mt.peer, win));
    MT_OK(MPI_Get(out, MIDDLE, MPI_LONG, mt.peer, row(id, 1), MIDDLE, MPI_LONG, win));
    MT_OK(MPI_Get(data, MANY * FEW, MPI_LONG, mt.peer, row(id, 0), MANY * FEW, MPI_LONG, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    for (int i = 0; i < MANY * FEW + MIDDLE; i++) {
        const int is_small = i < MANY * FEW;
        long got = is_small ? data[i] : out[i - MANY * FEW];
        long want = value(id, round, DENSE, 0, 2 * i);
        MT_CHECK(got == want, "round %ld, with a request, element %d: %ld instead of %ld", round, i,
                 got, want);
    }
}

static void *worker(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    long *data = mt_alloc(OPS * ROOM * sizeof(long));

    for (long round = 0; round < mt.iters; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            put(id, round, kind, data);
            check_rows(id, round, kind, data);
            get(id, round, kind, data);
        }
        many(id, round, data);
        with_request(id, round, data);
    }
    free(data);
    return NULL;
}

int main(int argc, char **argv)
{
    void *mem, *other_mem;
    MPI_Aint size, other_size;

    mt_init(argc, argv, 1, 10);
    size = (MPI_Aint) mt.threads * OPS * ROW * (MPI_Aint) sizeof(long);
    small = vector(FEW, FEW, 2);
    middle = vector(MIDDLE, MIDDLE, 2);
    types[SPARSE] = (types_t) { vector(N, N, 2), MPI_LONG, N };
    types[DENSE] = (types_t) { vector(N, 10, 3000), MPI_LONG, N };
    types[BOTH] = (types_t) { vector(N, 10, 3000), vector(N, 5, 6000), 1 };

    mem = mt_alloc((size_t) size);
    MT_OK(MPI_Win_create(mem, size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    other_size = (MPI_Aint) mt.threads * FEW * (MPI_Aint) sizeof(long);
    MT_OK(MPI_Win_allocate(other_size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &other_mem,
                           &other));
    MT_OK(MPI_Win_lock_all(0, win));
    MT_OK(MPI_Win_lock_all(0, other));
    mt_run(mt.threads, worker);
    MT_OK(MPI_Win_unlock_all(other));
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&other));
    MT_OK(MPI_Win_free(&win));
    for (int kind = 0; kind < KINDS; kind++)
        MT_OK(MPI_Type_free(&types[kind].origin));
    MT_OK(MPI_Type_free(&types[BOTH].target));
    MT_OK(MPI_Type_free(&middle));
    MT_OK(MPI_Type_free(&small));
    free(mem);
    return mt_finish();
}

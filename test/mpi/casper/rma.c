/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One-sided operations on windows that ghosts serve: each process is origin at every process, itself
 * included, at the same time, with displacement units and sizes that differ and derived datatypes on
 * both sides; then windows of parts of the world, made and freed many times. -n: rounds. */
#include "../mt.h"

#define CELLS 64                /* longs for each origin in the memory of each target */

static MPI_Win win;
static long *mem;

/* Odd ranks count in bytes, even ones in longs. */
static int unit_of(int rank)
{
    return rank % 2 ? 1 : (int) sizeof(long);
}

static MPI_Aint disp(int target, long cell)
{
    return (MPI_Aint) (cell * (long) sizeof(long)) / unit_of(target);
}

static long first(int origin)
{
    return (long) origin * CELLS;
}

static void open_win(MPI_Comm comm, int size, int unit)
{
    MPI_Aint bytes = (MPI_Aint) ((size + 1) * CELLS * sizeof(long));
    MT_OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &mem, &win));
    memset(mem, 0, (size_t) bytes);
    MT_OK(MPI_Barrier(comm));
}

static void put_and_get(int target)
{
    long out[4], in[4] = { 0 };
    for (int i = 0; i < 4; i++)
        out[i] = 1000 * mt.rank + 10 * target + i;
    MT_OK(MPI_Put(out, 4, MPI_LONG, target, disp(target, first(mt.rank)), 4, MPI_LONG, win));
    MT_OK(MPI_Win_flush(target, win));
    MT_OK(MPI_Get(in, 4, MPI_LONG, target, disp(target, first(mt.rank)), 4, MPI_LONG, win));
    MT_OK(MPI_Win_flush_local(target, win));
    MT_CHECK(memcmp(in, out, sizeof(out)) == 0, "put and get at %d: %ld", target, in[0]);
}

/* Every second long of the origin goes to every third of the target, and comes back in order. */
static void derived(int target)
{
    MPI_Datatype two, three;
    long out[16], in[8] = { 0 };
    MT_OK(MPI_Type_vector(8, 1, 2, MPI_LONG, &two));
    MT_OK(MPI_Type_vector(8, 1, 3, MPI_LONG, &three));
    MT_OK(MPI_Type_commit(&two));
    MT_OK(MPI_Type_commit(&three));
    for (int i = 0; i < 16; i++)
        out[i] = 100 * mt.rank + i;
    MT_OK(MPI_Put(out, 1, two, target, disp(target, first(mt.rank) + 8), 1, three, win));
    MT_OK(MPI_Type_free(&two));
    MT_OK(MPI_Win_flush(target, win));
    MT_OK(MPI_Get(in, 8, MPI_LONG, target, disp(target, first(mt.rank) + 8), 1, three, win));
    MT_OK(MPI_Type_free(&three));
    MT_OK(MPI_Win_flush(target, win));
    for (int i = 0; i < 8; i++)
        MT_CHECK(in[i] == out[2 * i], "derived types at %d: %ld, not %ld", target, in[i], out[2 * i]);
}

static void with_requests(int target)
{
    long out = 7 * mt.rank + target, one = 1, in = -1, old = -1;
    MPI_Aint at = disp(target, first(mt.rank) + 40);
    MPI_Request req;
    int flag = 0;
    MT_OK(MPI_Rput(&out, 1, MPI_LONG, target, at, 1, MPI_LONG, win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Win_flush(target, win));
    MT_OK(MPI_Raccumulate(&one, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM, win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Rget_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM,
                              win, &req));
    while (!flag)
        MT_OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
    MT_CHECK(old == out + 1, "request forms at %d: %ld, not %ld", target, old, out + 1);
    MT_OK(MPI_Win_flush(target, win));
    MT_OK(MPI_Rget(&in, 1, MPI_LONG, target, at, 1, MPI_LONG, win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_CHECK(in == out + 2, "request forms at %d: %ld, not %ld", target, in, out + 2);
}

/* The last cells are for all origins at once: what they add must all arrive. */
static void shared_cells(int target, int size)
{
    long one = 1, mine = mt.rank + 1, old, max, swapped;
    MPI_Aint at = disp(target, first(size));
    MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, at, MPI_SUM, win));
    MT_OK(MPI_Win_flush(target, win));
    MT_CHECK(old >= 1, "an accumulate came after the fetch that follows it");
    MT_OK(MPI_Get_accumulate(&mine, 1, MPI_LONG, &max, 1, MPI_LONG, target,
                             disp(target, first(size) + 1), 1, MPI_LONG, MPI_MAX, win));
    do {        /* add one, by compare and swap */
        MT_OK(MPI_Fetch_and_op(NULL, &old, MPI_LONG, target, disp(target, first(size) + 2),
                               MPI_NO_OP, win));
        MT_OK(MPI_Win_flush(target, win));
        mine = old + 1;
        MT_OK(MPI_Compare_and_swap(&mine, &old, &swapped, MPI_LONG, target,
                                   disp(target, first(size) + 2), win));
        MT_OK(MPI_Win_flush(target, win));
    } while (swapped != old);
}

static void check_shared_cells(int size, long rounds)
{
    const long *cell = mem + first(size);
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.rank, 0, win));
    MT_CHECK(cell[0] == 2 * size * rounds, "%ld of %ld additions", cell[0], 2 * size * rounds);
    MT_CHECK(cell[1] == size, "maximum %ld of %d", cell[1], size);
    MT_CHECK(cell[2] == size * rounds, "%ld of %ld swaps", cell[2], size * rounds);
    MT_OK(MPI_Win_unlock(mt.rank, win));
}

static void everybody_at_everybody(void)
{
    open_win(MPI_COMM_WORLD, mt.size, unit_of(mt.rank));
    MT_OK(MPI_Win_lock_all(0, win));
    for (long i = 0; i < mt.iters; i++) {
        for (int k = 0; k < mt.size; k++) {
            int target = (mt.rank + k) % mt.size;
            put_and_get(target);
            derived(target);
            with_requests(target);
            shared_cells(target, mt.size);
        }
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    check_shared_cells(mt.size, mt.iters);
    MT_OK(MPI_Win_free(&win));
}

/* More data than goes in one message, with an operation in the same window just behind it. */
static void large(void)
{
    enum { LONGS = 300000 };
    long *out = mt_alloc(LONGS * sizeof(long)), one = 1;
    MT_OK(MPI_Win_allocate((LONGS + 1) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                           &mem, &win));
    memset(mem, 0, (LONGS + 1) * sizeof(long));
    for (int i = 0; i < LONGS; i++)
        out[i] = mt.rank + i;
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(out, LONGS, MPI_LONG, (mt.rank + 1) % mt.size, 0, LONGS, MPI_LONG, win));
    for (int i = 0; i < mt.size; i++)
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, i, LONGS, 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < LONGS; i++)
        MT_CHECK(mem[i] == (mt.rank + mt.size - 1) % mt.size + i, "long %d is %ld", i, mem[i]);
    MT_CHECK(mem[LONGS] == mt.size, "%ld of %d", mem[LONGS], mt.size);
    memset(out, 0, LONGS * sizeof(long));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Get(out, LONGS, MPI_LONG, (mt.rank + 1) % mt.size, 0, LONGS, MPI_LONG, win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < LONGS; i++)
        MT_CHECK(out[i] == mt.rank + i, "long %d came back as %ld", i, out[i]);
    free(out);
    MT_OK(MPI_Win_free(&win));
}

/* Two windows of each half of the world at a time; one process of each has no memory. */
static void parts(void)
{
    MPI_Comm half;
    MPI_Win w[2];
    int *m[2], rank, size, one = 1;
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, -mt.rank, &half));
    MT_OK(MPI_Comm_rank(half, &rank));
    MT_OK(MPI_Comm_size(half, &size));
    for (int k = 0; k < 2; k++) {
        MT_OK(MPI_Win_allocate(rank ? (MPI_Aint) sizeof(int) * (k + 1) : 0, sizeof(int),
                               MPI_INFO_NULL, half, &m[k], &w[k]));
        if (rank)
            m[k][k] = 0;
    }
    MT_OK(MPI_Barrier(half));
    for (int k = 0; k < 2; k++) {
        for (int i = 1; i < size; i++) {
            MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, i, 0, w[k]));
            MT_OK(MPI_Accumulate(&one, 1, MPI_INT, i, k, 1, MPI_INT, MPI_SUM, w[k]));
            MT_OK(MPI_Win_unlock(i, w[k]));
        }
    }
    MT_OK(MPI_Barrier(half));
    for (int k = 0; k < 2; k++) {
        if (rank)
            MT_CHECK(m[k][k] == size, "window %d: %d of %d", k, m[k][k], size);
        MT_OK(MPI_Win_free(&w[k]));
    }
    MT_OK(MPI_Comm_free(&half));
}

static void check_attributes(void)
{
    int flag, *flavor, *model, *unit;
    MPI_Aint *size;
    void *base;
    MPI_Group mine, world;
    open_win(MPI_COMM_WORLD, mt.size, unit_of(mt.rank));
    MT_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
    MT_CHECK(flag && base == mem, "MPI_WIN_BASE");
    MT_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
    MT_CHECK(flag && *size == (mt.size + 1) * CELLS * (MPI_Aint) sizeof(long), "MPI_WIN_SIZE");
    MT_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
    MT_CHECK(flag && *unit == unit_of(mt.rank), "MPI_WIN_DISP_UNIT");
    MT_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
    MT_CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE, "MPI_WIN_CREATE_FLAVOR");
    MT_OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
    MT_CHECK(flag && *model == MPI_WIN_UNIFIED, "MPI_WIN_MODEL");
    MT_OK(MPI_Win_get_group(win, &mine));
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Group_compare(mine, world, &flag));
    MT_CHECK(flag == MPI_IDENT, "the group of the window");
    MT_OK(MPI_Group_free(&mine));
    MT_OK(MPI_Group_free(&world));
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    check_attributes();
    everybody_at_everybody();
    large();
    for (long i = 0; i < 2 * mt.iters; i++)
        parts();
    return mt_finish();
}

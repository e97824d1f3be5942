/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Fence and post-start-complete-wait on windows that ghosts serve, with their assertions, and with
 * MPI_Win_test in place of the wait. -n: rounds. */
#include "../mt.h"

static MPI_Win win;
static long *mem;

static void by_fence(long round)
{
    long out = 100 * round + mt.rank;
    int to = (mt.rank + 1) % mt.size, from = (mt.rank + mt.size - 1) % mt.size;
    MT_OK(MPI_Win_fence(round % 2 ? MPI_MODE_NOPRECEDE : 0, win));
    for (int i = 0; i < mt.size; i++)
        MT_OK(MPI_Accumulate(&out, 1, MPI_LONG, i, 1, 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Put(&out, 1, MPI_LONG, to, 0, 1, MPI_LONG, win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    MT_CHECK(mem[0] == 100 * round + from, "fence %ld: %ld", round, mem[0]);
    MT_CHECK(mem[1] == 100 * round * mt.size + mt.size * (mt.size - 1) / 2, "fence %ld: sum %ld",
             round, mem[1]);
    mem[1] = 0;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void wait_for_end(long round)
{
    int flag = 0;
    if (round % 2) {
        MT_OK(MPI_Win_wait(win));
        return;
    }
    while (!flag)
        MT_OK(MPI_Win_test(win, &flag));
}

/* All but me are my origins and my targets. */
static void by_post(MPI_Group others, long round)
{
    const int last = mt.rank == mt.size - 1 ? mt.size - 2 : mt.size - 1;        /* of the others */
    long out = 1000 * round + mt.rank, in = -1;
    MT_OK(MPI_Win_post(others, 0, win));
    MT_OK(MPI_Win_start(others, 0, win));
    for (int i = 0; i < mt.size; i++) {
        if (i == mt.rank)
            continue;
        MT_OK(MPI_Put(&out, 1, MPI_LONG, i, 2 + mt.rank, 1, MPI_LONG, win));
        MT_OK(MPI_Accumulate(&out, 1, MPI_LONG, i, 1, 1, MPI_LONG, MPI_MAX, win));
        MT_OK(MPI_Get(&in, 1, MPI_LONG, i, 2 + mt.size, 1, MPI_LONG, win));
    }
    MT_OK(MPI_Win_complete(win));
    wait_for_end(round);
    MT_CHECK(in == 4711, "get: %ld", in);
    for (int i = 0; i < mt.size; i++)
        MT_CHECK(i == mt.rank || mem[2 + i] == 1000 * round + i, "round %ld: %ld from %d", round,
                 mem[2 + i], i);
    MT_CHECK(mem[1] == 1000 * round + last, "round %ld: the most is %ld", round, mem[1]);
    mem[1] = 0;
}

/* One target, one origin, and the target is not an origin: MPI_Win_test says no until the end. */
static void test_does_not_wait(void)
{
    MPI_Group world, one;
    int flag, partner = mt.rank == 0 ? mt.size - 1 : 0;
    long out = 5;
    if (mt.rank != 0 && mt.rank != mt.size - 1)
        return;
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Group_incl(world, 1, &partner, &one));
    if (mt.rank == 0) {
        MT_OK(MPI_Win_post(one, 0, win));
        MT_OK(MPI_Win_test(win, &flag));
        MT_CHECK(!flag, "MPI_Win_test before the origin has begun");
        MT_OK(MPI_Send(NULL, 0, MPI_INT, partner, 1, MPI_COMM_WORLD));
        for (flag = 0; !flag;)
            MT_OK(MPI_Win_test(win, &flag));
        MT_CHECK(mem[0] == 5, "data: %ld", mem[0]);
    } else {
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Win_start(one, 0, win));
        MT_OK(MPI_Put(&out, 1, MPI_LONG, partner, 0, 1, MPI_LONG, win));
        MT_OK(MPI_Win_complete(win));
    }
    MT_OK(MPI_Group_free(&one));
    MT_OK(MPI_Group_free(&world));
}

int main(int argc, char **argv)
{
    MPI_Group world, others;
    mt_init(argc, argv, 1, 50);
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Group_excl(world, 1, &mt.rank, &others));
    MT_OK(MPI_Win_allocate((3 + mt.size) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                           &mem, &win));
    memset(mem, 0, (3 + mt.size) * sizeof(long));
    mem[2 + mt.size] = 4711;
    for (long i = 0; i < mt.iters; i++)
        by_fence(i);
    for (long i = 0; i < mt.iters; i++)
        by_post(others, i);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    test_does_not_wait();
    MT_OK(MPI_Group_free(&others));
    MT_OK(MPI_Group_free(&world));
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

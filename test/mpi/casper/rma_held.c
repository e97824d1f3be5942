/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* An accumulate with a datatype so long that it travels in two messages: its origin does not call MPI
 * between them. Accumulates of another origin at the same target, and at another one of the same ghost,
 * are right beside it (nothing shows that they are not held up: see testlist). The origins, 0 and 2,
 * share memory that MPI knows nothing of, and wait for each other there; the targets, 1 and 3, are at
 * another node and compute. Then all in order. -n: rounds. */
#include "../mt.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

enum { BLOCKS = 600, LIMIT = 30, ARRIVES_US = 200000 };

static MPI_Win win;
static long *mem;
static _Atomic int *done, *begun;       /* rounds that the quick origin has ended, the slow one begun */

static void share_flag(void)
{
    char name[64];
    int key = mt.rank == 0 ? (int) getpid() : 0, fd;
    MT_OK(MPI_Bcast(&key, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(name, sizeof(name), "/dev/shm/rma_held-%d", key);
    fd = open(name, O_RDWR | O_CREAT, 0600);
    MT_CHECK(fd >= 0 && ftruncate(fd, 4096) == 0, "cannot make %s", name);
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MT_CHECK(done != MAP_FAILED, "mmap");
    begun = done + 1;
    close(fd);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        unlink(name);
}

/* Without a call of MPI, and without the processor, which the ghosts need. */
static void wait_for_round(_Atomic int *counter, int round)
{
    time_t begin = time(NULL);
    while (atomic_load(counter) < round) {
        MT_CHECK(time(NULL) - begin < LIMIT, "round %d: the quick origin is held up", round);
        usleep(100);
    }
}

/* Every second long: the description of the datatype does not fit into one message. */
static MPI_Datatype long_type(void)
{
    MPI_Datatype type;
    int *at = mt_alloc(BLOCKS * sizeof(int));
    for (int i = 0; i < BLOCKS; i++)
        at[i] = 2 * i + (i % 7 == 0);
    MT_OK(MPI_Type_create_indexed_block(BLOCKS, 1, at, MPI_LONG, &type));
    MT_OK(MPI_Type_commit(&type));
    free(at);
    return type;
}

static void slow(MPI_Datatype type, int round)
{
    long *ones = mt_alloc(BLOCKS * sizeof(long));
    for (int i = 0; i < BLOCKS; i++)
        ones[i] = 1;
    MT_OK(MPI_Accumulate(ones, BLOCKS, MPI_LONG, 1, 0, 1, type, MPI_SUM, win));
    atomic_store(begun, round);
    wait_for_round(done, round);
    MT_OK(MPI_Win_flush(1, win));
    free(ones);
}

static void quick(int round)
{
    long one = 1, old;
    wait_for_round(begun, round);
    usleep(ARRIVES_US);         /* the ghost has the first message of the slow origin meanwhile */
    for (int target = 1; target < 4; target += 2) {
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, target, 2 * BLOCKS + 5, 1, MPI_LONG, MPI_SUM, win));
        MT_OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, 2 * BLOCKS + 6, MPI_SUM, win));
        MT_OK(MPI_Win_flush(target, win));
        MT_CHECK(old == round - 1, "round %d: %ld at %d", round, old, target);
    }
    atomic_store(done, round);
}

static void check_sums(void)
{
    long sum = 0;
    for (int i = 0; i < 2 * BLOCKS + 2; i++)
        sum += mem[i];
    MT_CHECK(sum == (mt.rank == 1 ? mt.iters * BLOCKS : 0), "sum %ld", sum);
    MT_CHECK(mt.rank % 2 == 0 || (mem[2 * BLOCKS + 5] == mt.iters && mem[2 * BLOCKS + 6] == mt.iters),
             "%ld, %ld", mem[2 * BLOCKS + 5], mem[2 * BLOCKS + 6]);
}

/* Those of one origin keep their order: a long one that adds, then a short one that replaces. */
static void in_order(MPI_Datatype type)
{
    long *ones = mt_alloc(BLOCKS * sizeof(long)), last;
    for (int i = 0; i < BLOCKS; i++)
        ones[i] = 1;
    for (int i = 0; mt.rank == 0 && i < 20; i++) {
        last = 1000 + i;
        MT_OK(MPI_Accumulate(ones, BLOCKS, MPI_LONG, 3, 0, 1, type, MPI_SUM, win));
        MT_OK(MPI_Accumulate(&last, 1, MPI_LONG, 3, 1, 1, MPI_LONG, MPI_REPLACE, win));
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_CHECK(mt.rank != 3 || mem[1] == 1019, "the last one left %ld", mem[1]);
    free(ones);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 3);
    MT_CHECK(mt.size == 4, "run with 4 users");
    share_flag();
    MPI_Datatype type = long_type();
    MT_OK(MPI_Win_allocate((2 * BLOCKS + 10) * sizeof(long), sizeof(long), MPI_INFO_NULL,
                           MPI_COMM_WORLD, &mem, &win));
    memset(mem, 0, (2 * BLOCKS + 10) * sizeof(long));
    MT_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 1; round <= mt.iters; round++) {
        if (mt.rank == 0)
            slow(type, round);
        else if (mt.rank == 2)
            quick(round);
        else
            wait_for_round(done, round);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    check_sums();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    in_order(type);
    MT_OK(MPI_Type_free(&type));
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Any number of accumulates may wait at the target for an older one of the same origin (MPI-4.0 section
 * 12.7.2: they have an order), however small the stack is on which it carries them out. The first one
 * has a datatype so large that its data follow only when the target has answered; -n short ones have
 * come before, as the target is outside MPI until all were started. */
#include "mt.h"
#include "steps.h"

#define BLOCKS 30000            /* of the large datatype */
#define LONGS (2 * BLOCKS + 2)

enum { STARTED, STEPS };

static MPI_Win win;

/* With gaps that are not regular, so its description has a part for each block. */
static int place(int block)
{
    return 2 * block + (block % 7 == 3);
}

static MPI_Datatype many_blocks(void)
{
    int *at = mt_alloc(BLOCKS * sizeof(*at));
    MPI_Datatype type;

    for (int i = 0; i < BLOCKS; i++)
        at[i] = place(i);
    MT_OK(MPI_Type_create_indexed_block(BLOCKS, 1, at, MPI_LONG, &type));
    MT_OK(MPI_Type_commit(&type));
    free(at);
    return type;
}

static void start(MPI_Datatype type)
{
    long one = 1, *ones = mt_alloc(BLOCKS * sizeof(*ones));

    for (int i = 0; i < BLOCKS; i++)
        ones[i] = 1;
    MT_OK(MPI_Accumulate(ones, BLOCKS, MPI_LONG, 1, 0, 1, type, MPI_SUM, win));
    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win));
    step_done(STARTED, 1);
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    free(ones);
}

/* A fence, as it makes progress on the window's VCI. */
static void carry_out(void)
{
    step_wait(STARTED, 1);
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

static void check(const long *mem)
{
    MT_CHECK(mem[0] == mt.iters + 1, "element 0 is %ld instead of %ld", mem[0], mt.iters + 1);
    for (int i = 1; i < BLOCKS; i++)
        MT_CHECK(mem[place(i)] == 1, "block %d is %ld", i, mem[place(i)]);
}

int main(int argc, char **argv)
{
    long *mem;
    MPI_Datatype type;

    mt_init(argc, argv, 1, 120000);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    mem = mt_alloc(LONGS * sizeof(*mem));
    type = many_blocks();
    MT_OK(MPI_Win_create(mem, LONGS * sizeof(*mem), sizeof(*mem), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &win));
    steps_share(STEPS);
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    if (mt.rank == 0) {
        start(type);
    } else {
        carry_out();
        check(mem);
    }
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Type_free(&type));
    free(mem);
    return mt_finish();
}

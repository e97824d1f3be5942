/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ, with the files of src/ch4 themselves, where a thread has two cells for the operations that it
 * posts: it uses them again, whichever thread gives them back, and enters the VCI if it has none. The
 * order of a thread's operations holds, each operation is what its thread has written, none is left,
 * and no cell is lost. */

#define MPIDI_OP_POOL_BLOCK 1
#define MPIDI_OP_POOL_CELLS 2
#include "client_section.h"

#define OPS 3

static int next_of[CLIENT_THREADS];     /* the operation of each thread that comes next */

/* tag: thread and operation */
static void issued(int tag)
{
    assert(tag / OPS < CLIENT_THREADS && next_of[tag / OPS] == tag % OPS);
    next_of[tag / OPS]++;
}

static void *issues(void *arg)
{
    issue_all(arg, OPS);
    return NULL;
}

static void *polls(void *arg)
{
    begin(arg);
    poll();
    flush();
    return NULL;
}

/* How many cells of a thread are free, which then are in no queue any more. */
static int free_cells(pool_t *pool)
{
    int n = 0;

    take_returned(pool);
    for (MPIDI_op_cell_t *cell = pool->free; cell; cell = cell->next)
        n++;
    return n;
}

int main(void)
{
    void *(*const body[])(void *) = { issues, issues, polls };

    client_begin();
    client_team(3, body);
    for (int i = 1; i <= 2; i++) {
        assert(next_of[i] == OPS && "an operation is left");
        assert(!locals[i].record.op_pool ||
               free_cells(locals[i].record.op_pool) == locals[i].record.op_pool->cells);
    }
    return 0;
}

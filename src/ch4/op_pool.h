/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_OP_POOL_H_INCLUDED
#define MPIDI_OP_POOL_H_INCLUDED

/* Memory for posted operations that have no request: a pool for each thread, so that posting takes no
 * lock. Whichever thread issues an operation gives its cell back to the pool that it came from. When a
 * thread ends, its pool, with all cells that are still posted, passes with its record to another one
 * (thread.h). */

#include "op.h"

/* The cells of one block, and the most that a pool allocates. test/model has fewer. */
#ifndef MPIDI_OP_POOL_BLOCK
#define MPIDI_OP_POOL_BLOCK 64
#define MPIDI_OP_POOL_CELLS 1024
#endif

struct MPIDI_op_pool;

typedef struct MPIDI_op_cell {
    MPIDI_posted_t posted;
    struct MPIDI_op_pool *pool;
    struct MPIDI_op_cell *next; /* in the pool's list of free cells */
} MPIDI_op_cell_t;

/* Returns a cell of the calling thread's pool, or NULL if MPIDI_OP_POOL_CELLS are in use or there is no
 * memory. Waits for no thread, but may allocate a block. Any thread. */
MPIDI_op_cell_t *MPIDI_op_pool_get(void);

/* Give a cell back. Any thread; wait-free. */
void MPIDI_op_pool_put(MPIDI_op_cell_t * cell);

/* Free all pools. In MPI_Finalize, by the one thread in MPI, when nothing is posted. */
void MPIDI_op_pool_finalize(void);

#endif /* MPIDI_OP_POOL_H_INCLUDED */

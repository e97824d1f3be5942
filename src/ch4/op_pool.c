/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/op_pool.h"
#include "threads/thread.h"

typedef struct MPIDI_op_block {
    struct MPIDI_op_block *next;
    MPIDI_op_cell_t cell[MPIDI_OP_POOL_BLOCK];
} block_t;

/* The owner's but for `returned`, into which other threads push. */
typedef struct MPIDI_op_pool {
    tsm_swp_t returned;
    MPIDI_op_cell_t *free;
    block_t *blocks;
    int cells;
} pool_t;

static pool_t *new_pool(void)
{
    pool_t *pool = (calloc) (1, sizeof(*pool));

    if (pool)
        tsm_swp_init(&pool->returned);
    return pool;
}

static void free_cell(pool_t * pool, MPIDI_op_cell_t * cell)
{
    cell->next = pool->free;
    pool->free = cell;
}

static void grow(pool_t * pool)
{
    block_t *block;

    if (pool->cells + MPIDI_OP_POOL_BLOCK > MPIDI_OP_POOL_CELLS ||
        !(block = (malloc) (sizeof(*block))))
        return;
    block->next = pool->blocks;
    pool->blocks = block;
    pool->cells += MPIDI_OP_POOL_BLOCK;
    for (int i = 0; i < MPIDI_OP_POOL_BLOCK; i++) {
        block->cell[i].pool = pool;
        free_cell(pool, &block->cell[i]);
    }
}

static void take_returned(pool_t * pool)
{
    tsm_swp_node_t *node;

    while ((node = tsm_swp_pop(&pool->returned)) != NULL)
        free_cell(pool, MPL_container_of(node, MPIDI_op_cell_t, posted.node));
}

MPIDI_op_cell_t *MPIDI_op_pool_get(void)
{
    MPIDI_thread_t *self = MPIDI_thread_self();
    pool_t *pool = self->op_pool;
    MPIDI_op_cell_t *cell;

    if (!pool && !(pool = self->op_pool = new_pool()))
        return NULL;
    if (!pool->free)
        take_returned(pool);
    if (!pool->free)
        grow(pool);
    cell = pool->free;
    if (cell)
        pool->free = cell->next;
    return cell;
}

void MPIDI_op_pool_put(MPIDI_op_cell_t * cell)
{
    tsm_swp_push(&cell->pool->returned, &cell->posted.node);
}

static void free_pool(MPIDI_thread_t * thread)
{
    pool_t *pool = thread->op_pool;
    block_t *block = pool ? pool->blocks : NULL;

    while (block) {
        block_t *next = block->next;
        (free) (block);
        block = next;
    }
    (free) (pool);
    thread->op_pool = NULL;
}

void MPIDI_op_pool_finalize(void)
{
    MPIDI_thread_foreach(free_pool);
}

#endif

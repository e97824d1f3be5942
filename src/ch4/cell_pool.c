/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Pools of cells of one size, in place of MPICH's mpidu_genq_private_pool.c, whose header is the
 * interface: the headers of messages that wait, buffers of early messages.
 *
 * MPICH frees a block of cells as soon as none is in use. A program whose threads receive in windows
 * then maps and unmaps the same memory for each window, and a new block has a page fault for each page,
 * as all its cells are linked at once. Here a free cell that was used last is used next, a new block is
 * touched cell by cell, and a block is given back when the program has done without it for a while:
 * of the blocks that were empty during the whole time of REAP_AFTER frees, half are released (as the
 * depot of Bonwick and Adams, "Magazines and Vmem", USENIX 2001, section 3.3, trims its working set).
 *
 * A pool belongs to one VCI, whose holder calls. Allocation and release take constant time, but for
 * the walk over the blocks after REAP_AFTER frees. */

#include "mpidimpl.h"
#include "mpidu_genq_private_pool.h"
#include "utlist.h"

#define REAP_AFTER 4096

typedef struct block block_t;

/* In front of the cell; as large as the strictest alignment. */
typedef struct cell {
    block_t *block;
    struct cell *next;          /* while it is free */
} cell_t;

struct block {
    char *memory;
    cell_t *free;               /* used before */
    intptr_t touched, used;     /* cells */
    block_t *prev, *next;
};

typedef struct {
    intptr_t cell_size, block_cells, max_blocks;        /* 0: no limit */
    MPIDU_genq_malloc_fn malloc_fn;
    MPIDU_genq_free_fn free_fn;
    block_t *blocks;            /* those with room, the latest to get it first; then the others */
    intptr_t num_blocks, empty, fewest_empty;
    int until_reap;
} pool_t;

int MPIDU_genq_private_pool_create_unsafe(intptr_t cell_size, intptr_t num_cells_in_block,
                                          intptr_t max_num_cells, MPIDU_genq_malloc_fn malloc_fn,
                                          MPIDU_genq_free_fn free_fn,
                                          MPIDU_genq_private_pool_t * pool)
{
    int mpi_errno = MPI_SUCCESS;
    pool_t *p = MPL_malloc(sizeof(*p), MPL_MEM_OTHER);

    num_cells_in_block = MPL_MAX(num_cells_in_block, 1);        /* may be a control variable */
    MPIR_ERR_CHKANDJUMP(!p, mpi_errno, MPI_ERR_OTHER, "**nomem");
    *p = (pool_t) {
        .cell_size = cell_size + sizeof(cell_t),.block_cells = num_cells_in_block,
        .max_blocks = max_num_cells / num_cells_in_block,
        .malloc_fn = malloc_fn,.free_fn = free_fn,.until_reap = REAP_AFTER
    };

  fn_exit:
    *pool = p;
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static void release_block(pool_t * p, block_t * b)
{
    DL_DELETE(p->blocks, b);
    p->num_blocks--;
    p->free_fn(b->memory);
    MPL_free(b);
}

int MPIDU_genq_private_pool_destroy_unsafe(MPIDU_genq_private_pool_t pool)
{
    pool_t *p = pool;

    while (p->blocks)
        release_block(p, p->blocks);
    MPL_free(p);
    return MPI_SUCCESS;
}

static int has_room(const pool_t * p, const block_t * b)
{
    return b->used < p->block_cells;
}

static int add_block(pool_t * p)
{
    int mpi_errno = MPI_SUCCESS;
    block_t *b = NULL;

    MPIR_ERR_CHKANDJUMP(p->max_blocks && p->num_blocks >= p->max_blocks, mpi_errno, MPI_ERR_OTHER,
                        "**nomem");
    b = MPL_calloc(1, sizeof(*b), MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!b, mpi_errno, MPI_ERR_OTHER, "**nomem");
    b->memory = p->malloc_fn(p->block_cells * p->cell_size);
    MPIR_ERR_CHKANDJUMP(!b->memory, mpi_errno, MPI_ERR_OTHER, "**nomem");
    DL_PREPEND(p->blocks, b);
    p->num_blocks++;
    p->empty++;

  fn_exit:
    return mpi_errno;
  fn_fail:
    MPL_free(b);
    goto fn_exit;
}

static cell_t *take(const pool_t * p, block_t * b)
{
    cell_t *cell = b->free;

    if (cell) {
        b->free = cell->next;
    } else {
        cell = (void *) (b->memory + b->touched++ * p->cell_size);
        cell->block = b;
    }
    return cell;
}

/* *cell: NULL if there is no memory, or the pool has reached its limit. */
int MPIDU_genq_private_pool_alloc_cell(MPIDU_genq_private_pool_t pool, void **cell)
{
    pool_t *p = pool;
    int mpi_errno = MPI_SUCCESS;
    block_t *b;

    *cell = NULL;
    if (unlikely(!p->blocks || !has_room(p, p->blocks))) {
        mpi_errno = add_block(p);
        MPIR_ERR_CHECK(mpi_errno);
    }
    b = p->blocks;
    *cell = take(p, b) + 1;
    if (b->used++ == 0 && --p->empty < p->fewest_empty)
        p->fewest_empty = p->empty;
    if (unlikely(!has_room(p, b))) {
        DL_DELETE(p->blocks, b);
        DL_APPEND(p->blocks, b);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Release half of the blocks that nobody has needed since the last time; one block stays. */
static void reap(pool_t * p)
{
    intptr_t surplus = (p->fewest_empty + 1) / 2;
    block_t *b, *next;

    DL_FOREACH_SAFE(p->blocks, b, next) {
        if (surplus == 0 || p->num_blocks == 1)
            break;
        if (b->used == 0) {
            release_block(p, b);
            p->empty--;
            surplus--;
        }
    }
    p->fewest_empty = p->empty;
    p->until_reap = REAP_AFTER;
}

/* cell: NULL does nothing. */
int MPIDU_genq_private_pool_free_cell(MPIDU_genq_private_pool_t pool, void *cell)
{
    pool_t *p = pool;
    cell_t *c = (cell_t *) cell - 1;
    block_t *b;

    if (!cell)
        return MPI_SUCCESS;
    b = c->block;
    c->next = b->free;
    b->free = c;
    if (unlikely(!has_room(p, b))) {
        DL_DELETE(p->blocks, b);
        DL_PREPEND(p->blocks, b);
    }
    if (--b->used == 0)
        p->empty++;
    if (unlikely(--p->until_reap == 0))
        reap(p);
    return MPI_SUCCESS;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_TARGETS_H_INCLUDED
#define MPIDI_TARGETS_H_INCLUDED

/* The targets of a window for which MPICH keeps a state, by rank. An operation looks its target up
 * before it takes a VCI, and operations to different targets use different VCIs, so no lock of a VCI
 * protects the lookup; MPICH's hash table breaks there. A lookup here is three loads and no lock.
 *
 *   MPIDI_targets_find      the target of a rank, or NULL
 *   MPIDI_targets_add       add one, unless another thread was first
 *   MPIDI_targets_remove    take one out and free it
 *   MPIDI_targets_free_all  free all of them
 *   MPIDI_targets_destroy   free the table; no targets are left
 *
 * Find and add: any thread, at any time; lock-free. A target that is found stays until it is removed.
 * The others: while no thread uses a target that they free, as MPI demands at the end of an epoch and
 * of a window.
 *
 * rank: 0 to size - 1; MPICH's bindings return early for MPI_PROC_NULL.
 *
 * A table is as large as the window's communicator, in blocks that appear when they are needed. Table,
 * block and target are published by a compare-and-swap with release and read with acquire. Targets
 * are allocated with MPL_malloc and belong to the table. Included by mpidpre.h, after op.h. */

#define MPIDI_TARGETS_BLOCK 64

typedef struct {
    TSM_ATOMIC(void *) target[MPIDI_TARGETS_BLOCK];
} MPIDI_targets_block_t;

typedef struct {
    int blocks;
    TSM_ATOMIC(MPIDI_targets_block_t *) block[];
} MPIDI_targets_table_t;

typedef TSM_ATOMIC(MPIDI_targets_table_t *) MPIDI_targets_t;

MPL_STATIC_INLINE_PREFIX void *MPIDI_targets_find(MPIDI_targets_t * targets, int rank)
{
    MPIDI_targets_table_t *table = tsm_load(targets, TSM_ACQUIRE);
    MPIDI_targets_block_t *block = NULL;

    if (table)
        block = tsm_load(&table->block[rank / MPIDI_TARGETS_BLOCK], TSM_ACQUIRE);
    return block ? tsm_load(&block->target[rank % MPIDI_TARGETS_BLOCK], TSM_ACQUIRE) : NULL;
}

/* Return the table, made if there is none. */
MPL_STATIC_INLINE_PREFIX MPIDI_targets_table_t *MPIDI_targets_table_(MPIDI_targets_t * targets,
                                                                     int size)
{
    MPIDI_targets_table_t *table = tsm_load(targets, TSM_ACQUIRE);
    MPIDI_targets_table_t *found = NULL;
    int blocks = (size + MPIDI_TARGETS_BLOCK - 1) / MPIDI_TARGETS_BLOCK;

    if (table)
        return table;
    table = MPL_calloc(1, sizeof(*table) + blocks * sizeof(table->block[0]), MPL_MEM_RMA);
    MPIR_Assert(table);
    table->blocks = blocks;
    if (tsm_cas(targets, &found, table, TSM_ACQ_REL, TSM_ACQUIRE))
        return table;
    MPL_free(table);
    return found;
}

/* Return a block of the table, made if there is none. */
MPL_STATIC_INLINE_PREFIX MPIDI_targets_block_t *MPIDI_targets_block_(MPIDI_targets_table_t * table,
                                                                     int i)
{
    MPIDI_targets_block_t *block = tsm_load(&table->block[i], TSM_ACQUIRE);
    MPIDI_targets_block_t *found = NULL;

    if (block)
        return block;
    block = MPL_calloc(1, sizeof(*block), MPL_MEM_RMA);
    MPIR_Assert(block);
    if (tsm_cas(&table->block[i], &found, block, TSM_ACQ_REL, TSM_ACQUIRE))
        return block;
    MPL_free(block);
    return found;
}

/* size: ranks of the window. Returns the rank's target: the given one, which is the table's from now
 * on, or that of a thread that was first, and then the given one is freed. */
MPL_STATIC_INLINE_PREFIX void *MPIDI_targets_add(MPIDI_targets_t * targets, int size, int rank,
                                                 void *target)
{
    MPIDI_targets_table_t *table = MPIDI_targets_table_(targets, size);
    MPIDI_targets_block_t *block = MPIDI_targets_block_(table, rank / MPIDI_TARGETS_BLOCK);
    void *found = NULL;

    if (tsm_cas(&block->target[rank % MPIDI_TARGETS_BLOCK], &found, target, TSM_ACQ_REL,
                TSM_ACQUIRE))
        return target;
    MPL_free(target);
    return found;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_targets_remove(MPIDI_targets_t * targets, int rank)
{
    MPIDI_targets_table_t *table = tsm_load(targets, TSM_ACQUIRE);
    MPIDI_targets_block_t *block = tsm_load(&table->block[rank / MPIDI_TARGETS_BLOCK], TSM_ACQUIRE);

    MPL_free(tsm_swap(&block->target[rank % MPIDI_TARGETS_BLOCK], NULL, TSM_ACQUIRE));
}

MPL_STATIC_INLINE_PREFIX void MPIDI_targets_free_all(MPIDI_targets_t * targets)
{
    MPIDI_targets_table_t *table = tsm_load(targets, TSM_ACQUIRE);

    for (int i = 0; table && i < table->blocks; i++) {
        if (tsm_load(&table->block[i], TSM_ACQUIRE)) {
            for (int k = 0; k < MPIDI_TARGETS_BLOCK; k++)
                MPIDI_targets_remove(targets, i * MPIDI_TARGETS_BLOCK + k);
        }
    }
}

MPL_STATIC_INLINE_PREFIX void MPIDI_targets_destroy(MPIDI_targets_t * targets)
{
    MPIDI_targets_table_t *table = tsm_load(targets, TSM_ACQUIRE);

    for (int i = 0; table && i < table->blocks; i++)
        MPL_free(tsm_load(&table->block[i], TSM_ACQUIRE));
    MPL_free(table);
    tsm_store(targets, NULL, TSM_RELAXED);
}

#endif /* MPIDI_TARGETS_H_INCLUDED */

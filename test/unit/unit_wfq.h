/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What the tests of the multi-producer multi-consumer queue share: the queue with small segments, so
 * that it uses many, and memory that can run out. Include unit_perturb.h before it. */

#ifndef UNIT_WFQ_H_INCLUDED
#define UNIT_WFQ_H_INCLUDED

#include "unit.h"


/* Fails when no allocation is left. */
static _Atomic long allocations_left;
static inline void *limited_malloc(size_t bytes);

#define TSM_WFQ_MALLOC(bytes_) limited_malloc(bytes_)
#define TSM_WFQ_FREE(p_) free(p_)
#define TSM_WFQ_CELLS 8
/* With none, a thread that fails once asks for help. */
static int patience;
#define PATIENCE_DEFAULT 8
#define TSM_WFQ_PATIENCE patience
#include "queue/tsm_wfq.h"

#define PLENTY (1L << 40)

static inline void *limited_malloc(size_t bytes)
{
    return tsm_fetch_add(&allocations_left, -1, TSM_RELAXED) > 0 ? malloc(bytes) : NULL;
}

static inline int setup(void **state)
{
    (void) state;
    tsm_store(&allocations_left, PLENTY, TSM_RELAXED);
    patience = PATIENCE_DEFAULT;
    return 0;
}

/* The items of a single thread. */
static int numbers[1000];

static inline tsm_wfq_handle_t *attached(tsm_wfq_t *queue)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(queue);

    if (handle == NULL)
        abort();
    return handle;
}

static inline void enqueue_range(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, int first, int end)
{
    for (int i = first; i < end; i++)
        assert_int_equal(tsm_wfq_enqueue(queue, handle, &numbers[i]), 0);
}

static inline void dequeue_range(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, int first, int end)
{
    for (int i = first; i < end; i++)
        assert_ptr_equal(tsm_wfq_dequeue(queue, handle), &numbers[i]);
}

/* Segments that the queue keeps behind the last index. */
static inline size_t reserve(const tsm_wfq_t *queue)
{
    return (size_t) (queue->margin / TSM_WFQ_CELLS);
}

#endif /* UNIT_WFQ_H_INCLUDED */

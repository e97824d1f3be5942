/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Cells of the multi-producer multi-consumer queue: two threads visit the same ones, as a dequeuer
 * and a helper do, while a third one makes requests to enqueue. After a visit a cell is final, so
 * both see the same in each; and each item is in one cell. */

#include "client_wfq.h"

#define ITEMS 2
#define CELLS 4

static tsm_wfq_t queue;
static tsm_wfq_handle_t *asker, *visitor[2];
static int item[ITEMS];
static int *seen[2][CELLS];

static void *asks(void *arg)
{
    (void) arg;
    for (int i = 0; i < ITEMS; i++) {
        item[i] = 1;
        int rc = tsm_wfq_enq_begin_(&queue, asker);
        assert(rc == 0);
        rc = tsm_wfq_enq_slow_(&queue, asker, &item[i], tsm_wfq_index_(&queue, asker));
        assert(rc == 0);
        tsm_wfq_end_(asker);
    }
    return NULL;
}

static void *visits(void *arg)
{
    const int me = (int) (intptr_t) arg;
    tsm_wfq_place_t place = visitor[me]->head;

    for (uint64_t i = 0; i < CELLS; i++) {
        visitor[me]->enq_peer = 0;
        seen[me][i] = tsm_wfq_visit_(&queue, visitor[me], tsm_wfq_cell_(&place, i), i);
        assert(seen[me][i] == NULL || *seen[me][i] == 1);
    }
    return NULL;
}

/* How often the item is in a cell. */
static int count(const int *p)
{
    const uint64_t tail = tsm_load(&queue.tail, TSM_RELAXED);
    tsm_wfq_place_t place = visitor[0]->head;
    int n = 0;

    for (uint64_t i = 0; i < tail; i++)
        n += tsm_load(&tsm_wfq_cell_(&place, i)->item, TSM_RELAXED) == (const void *) p;
    return n;
}

static void *(*const bodies[])(void *) = { visits, visits, asks };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 3, 16);

    assert(rc == 0);
    asker = tsm_wfq_attach(&queue);
    for (int i = 0; i < 2; i++) {
        visitor[i] = tsm_wfq_attach(&queue);
        tsm_wfq_begin_(&queue, visitor[i], &visitor[i]->head);
    }
    client_team(3, bodies);
    for (int i = 0; i < CELLS; i++)
        assert(seen[0][i] == seen[1][i]);
    for (int i = 0; i < ITEMS; i++)
        assert(count(&item[i]) == 1);
    for (int i = 0; i < 2; i++) {
        tsm_wfq_end_(visitor[i]);
        tsm_wfq_detach(visitor[i]);
    }
    tsm_wfq_detach(asker);
    tsm_wfq_destroy(&queue);
    return 0;
}

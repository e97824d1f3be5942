/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Two multi-producer multi-consumer queues: each of two threads enqueues into its own and dequeues
 * from the other's. They are linearizable, so not both can find the other queue empty. The third
 * queue operation of each, from its own queue, moves on in the list of segments. */

#include "client_wfq.h"

static tsm_wfq_t queue[2];
static int item[2];
static int *got[2];

static void *crosses(void *arg)
{
    int me = (int) (intptr_t) arg;
    tsm_wfq_handle_t *mine = tsm_wfq_attach(&queue[me]);
    tsm_wfq_handle_t *other = tsm_wfq_attach(&queue[!me]);

    item[me] = 1;
    int rc = tsm_wfq_enqueue(&queue[me], mine, &item[me]);
    assert(rc == 0);
    got[me] = tsm_wfq_dequeue(&queue[!me], other);
    assert(got[me] == NULL || *got[me] == 1);
    tsm_wfq_detach(mine);
    tsm_wfq_detach(other);
    return NULL;
}

/* With the first segment full or with room in it. */
static void begin(int q, int used)
{
    static int before;
    tsm_wfq_handle_t *handle;
    int rc = tsm_wfq_init(&queue[q], 2, 4);

    assert(rc == 0);
    handle = tsm_wfq_attach(&queue[q]);
    for (int i = 0; i < used; i++) {
        rc = tsm_wfq_enqueue(&queue[q], handle, &before);
        assert(rc == 0);
        int *p = tsm_wfq_dequeue(&queue[q], handle);
        assert(p == &before);
    }
    tsm_wfq_detach(handle);
}

static void *(*const bodies[])(void *) = { crosses, crosses };

int main(void)
{
    begin(0, 0);
    begin(1, 1);
    client_team(2, bodies);
    assert(got[0] != NULL || got[1] != NULL);
    tsm_wfq_destroy(&queue[0]);
    tsm_wfq_destroy(&queue[1]);
    return 0;
}

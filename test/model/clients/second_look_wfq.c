/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with the wait-free queue and the ticket lock: see client_look.h. */

#include "client_wfq.h"

#include "lock/tsm_ticket.h"
#include "client_look.h"

static tsm_ticket_t lock;

static tsm_wfq_t queue;
static tsm_wfq_handle_t *handle[2], *holder;
static int item[2];

static void push(int i)
{
    int rc = tsm_wfq_enqueue(&queue, handle[i], &item[i]);

    assert(rc == 0);
    (void) rc;
}

static int pop(void)
{
    return tsm_wfq_dequeue(&queue, holder) != NULL;
}

static int has_posted(void)
{
    return !tsm_wfq_is_empty(&queue);
}

static void take_all(void)
{
    for (uint64_t most = tsm_wfq_length(&queue); most > 0 && pop(); most--)
        taken++;
}

static int lock_try(int me)
{
    (void) me;
    return tsm_ticket_try(&lock);
}

static void lock_acquire(int me)
{
    (void) me;
    tsm_ticket_acquire(&lock);
}

static void lock_release(int me)
{
    (void) me;
    tsm_ticket_release(&lock);
}

static void *(*const bodies[])(void *) = { look_posts, look_posts, look_enters, look_tries };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 3, 8);

    assert(rc == 0);
    (void) rc;
    handle[0] = tsm_wfq_attach(&queue);
    handle[1] = tsm_wfq_attach(&queue);
    holder = tsm_wfq_attach(&queue);
    tsm_ticket_init(&lock);
    tsm_store(&look, TSM_SECOND_LOOK_NONE, TSM_RELAXED);
    client_team(client_pick(4, 3), bodies);
    assert(taken == 2);
    tsm_wfq_detach(handle[0]);
    tsm_wfq_detach(handle[1]);
    tsm_wfq_detach(holder);
    tsm_wfq_destroy(&queue);
    return 0;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Internals of ticket and MCS: the order of hand-over, wrap-around, parking, the link window. */

#include "unit.h"

#include <sched.h>

#include "lock/tsm_mcs.h"
#include "lock/tsm_ticket.h"

#define WAITERS 8

/* The threads that got the lock, in order; written with the lock held. */
typedef struct record {
    int order[WAITERS];
    int count;
} record_t;

typedef struct ticket_waiter {
    tsm_ticket_t *lock;
    record_t *record;
    int id;
} ticket_waiter_t;

static void *ticket_waiter_main(void *arg)
{
    ticket_waiter_t *waiter = arg;

    tsm_ticket_acquire(waiter->lock);
    waiter->record->order[waiter->record->count++] = waiter->id;
    tsm_ticket_release(waiter->lock);
    return NULL;
}

static void record_check(const record_t *record)
{
    assert_int_equal(record->count, WAITERS);
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(record->order[i], i);
}

/* Let the waiters queue one by one behind us, then release. */
static void ticket_fifo(uint32_t first)
{
    tsm_ticket_t lock = TSM_TICKET_INITIALIZER;
    ticket_waiter_t waiter[WAITERS];
    pthread_t thread[WAITERS];
    record_t record = { .count = 0 };

    tsm_store(&lock.next, first, TSM_RELAXED);
    tsm_store(&lock.serving, first, TSM_RELAXED);
    tsm_ticket_acquire(&lock);
    for (int i = 0; i < WAITERS; i++) {
        waiter[i] = (ticket_waiter_t) { &lock, &record, i };
        assert_int_equal(pthread_create(&thread[i], NULL, ticket_waiter_main, &waiter[i]), 0);
        while (tsm_load(&lock.next, TSM_RELAXED) != first + (uint32_t) i + 2)
            sched_yield();
    }
    assert_int_equal(tsm_ticket_try(&lock), 0);
    tsm_ticket_release(&lock);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(thread[i], NULL);
    record_check(&record);
    assert_int_equal(tsm_ticket_try(&lock), 1);
    tsm_ticket_release(&lock);
}

static void test_ticket_fifo(void **state)
{
    (void) state;
    ticket_fifo(0);
}

static void test_ticket_wraps(void **state)
{
    (void) state;
    for (uint32_t back = 0; back <= WAITERS + 2; back++)
        ticket_fifo(UINT32_MAX - back);
}

typedef struct mcs_waiter {
    tsm_mcs_t *lock;
    record_t *record;
    int id;
    tsm_mcs_node_t node;
} mcs_waiter_t;

static void *mcs_waiter_main(void *arg)
{
    mcs_waiter_t *waiter = arg;

    tsm_mcs_acquire(waiter->lock, &waiter->node);
    waiter->record->order[waiter->record->count++] = waiter->id;
    tsm_mcs_release(waiter->lock, &waiter->node);
    return NULL;
}

/* As above; with parked set, let every waiter fall asleep first. */
static void mcs_fifo(int parked)
{
    tsm_mcs_t lock = TSM_MCS_INITIALIZER;
    tsm_mcs_node_t node, other;
    mcs_waiter_t waiter[WAITERS];
    pthread_t thread[WAITERS];
    record_t record = { .count = 0 };

    tsm_mcs_acquire(&lock, &node);
    for (int i = 0; i < WAITERS; i++) {
        waiter[i].lock = &lock;
        waiter[i].record = &record;
        waiter[i].id = i;
        tsm_store(&waiter[i].node.status, TSM_MCS_WAITING, TSM_RELAXED);
        assert_int_equal(pthread_create(&thread[i], NULL, mcs_waiter_main, &waiter[i]), 0);
        while (tsm_load(&lock.tail, TSM_RELAXED) != &waiter[i].node)
            sched_yield();
    }
    for (int i = 0; parked && i < WAITERS; i++) {
        while (tsm_load(&waiter[i].node.status, TSM_RELAXED) != TSM_MCS_PARKED)
            sched_yield();
    }
    assert_int_equal(tsm_mcs_try(&lock, &other), 0);
    tsm_mcs_release(&lock, &node);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(thread[i], NULL);
    record_check(&record);
    assert_int_equal(tsm_mcs_try(&lock, &other), 1);
    tsm_mcs_release(&lock, &other);
    assert_null(tsm_load(&lock.tail, TSM_RELAXED));
}

static void test_mcs_fifo(void **state)
{
    (void) state;
    mcs_fifo(0);
}

static void test_mcs_fifo_parked(void **state)
{
    (void) state;
    for (long i = unit_scaled(20); i > 0; i--)
        mcs_fifo(TSM_HAVE_FUTEX);
}

typedef struct mcs_holder {
    tsm_mcs_t lock;
    tsm_mcs_node_t node;
} mcs_holder_t;

static void *mcs_release_main(void *arg)
{
    mcs_holder_t *holder = arg;

    tsm_mcs_release(&holder->lock, &holder->node);
    return NULL;
}

/* A release that finds a successor between its swap and its link waits for the link. */
static void test_mcs_link_window(void **state)
{
    mcs_holder_t holder = { .lock = TSM_MCS_INITIALIZER };
    tsm_mcs_node_t late;
    pthread_t thread;

    (void) state;
    tsm_mcs_acquire(&holder.lock, &holder.node);
    tsm_store(&late.next, NULL, TSM_RELAXED);
    tsm_store(&late.status, TSM_MCS_WAITING, TSM_RELAXED);
    assert_ptr_equal(tsm_swap(&holder.lock.tail, &late, TSM_ACQ_REL), &holder.node);
    assert_int_equal(pthread_create(&thread, NULL, mcs_release_main, &holder), 0);
    for (int i = 0; i < 100; i++)
        sched_yield();
    assert_int_equal(tsm_load(&late.status, TSM_RELAXED), TSM_MCS_WAITING);
    tsm_store(&holder.node.next, &late, TSM_RELEASE);
    pthread_join(thread, NULL);
    assert_int_equal(tsm_load(&late.status, TSM_RELAXED), TSM_MCS_GRANTED);
    tsm_mcs_release(&holder.lock, &late);
    assert_null(tsm_load(&holder.lock.tail, TSM_RELAXED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticket_fifo),
        cmocka_unit_test(test_ticket_wraps),
        cmocka_unit_test(test_mcs_fifo),
        cmocka_unit_test(test_mcs_fifo_parked),
        cmocka_unit_test(test_mcs_link_window),
    };
    return cmocka_run_group_tests_name("fifo", tests, NULL, NULL);
}

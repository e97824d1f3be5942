/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The multi-producer multi-consumer queue while a thread is held inside a call: the others go on, help
 * it, and spare what it still needs. The test makes each step of the held thread. */

#include "unit_wfq.h"

/* A thread that is held between any two of its steps: the test makes its steps with its own handle, and
 * those of a thread that spoils the cells the held one wants. */
typedef struct staged {
    tsm_wfq_t queue;
    tsm_wfq_handle_t *held;
    tsm_wfq_handle_t *other;
    tsm_wfq_handle_t *late;
} staged_t;

static void stage(staged_t *staged, size_t cap)
{
    assert_int_equal(tsm_wfq_init(&staged->queue, 3, cap), 0);
    staged->held = attached(&staged->queue);
    staged->other = attached(&staged->queue);
    staged->late = attached(&staged->queue);
}

static void unstage(staged_t *staged)
{
    assert_null(tsm_wfq_dequeue(&staged->queue, staged->other));
    tsm_wfq_detach(staged->held);
    tsm_wfq_detach(staged->other);
    tsm_wfq_detach(staged->late);
    tsm_wfq_destroy(&staged->queue);
}

/* One after the other: the queue goes through many segments, and works. */
static void pass_range(tsm_wfq_t *queue, tsm_wfq_handle_t *from, tsm_wfq_handle_t *to)
{
    for (int i = 0; i < 300; i++) {
        enqueue_range(queue, from, i, i + 1);
        dequeue_range(queue, to, i, i + 1);
    }
}

/* The held thread's call ends, and the queue is as good as before. */
static void end_held(staged_t *staged)
{
    tsm_wfq_end_(staged->held);
    enqueue_range(&staged->queue, staged->held, 0, 300);
    dequeue_range(&staged->queue, staged->held, 0, 300);
    unstage(staged);
}

/* Between its index and its item: the others go on, and it has to try again. */
static void test_held_enqueuer(void **state)
{
    (void) state;
    for (int before = 0; before < TSM_WFQ_CELLS; before++) {
        staged_t staged;
        tsm_wfq_cell_t *cell;
        uint64_t index;

        stage(&staged, 100);
        enqueue_range(&staged.queue, staged.other, 0, before);
        assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.held), 0);
        index = tsm_wfq_index_(&staged.queue, staged.held);
        assert_int_equal(index, before);
        enqueue_range(&staged.queue, staged.other, before, 300);
        dequeue_range(&staged.queue, staged.other, 0, 300);
        assert_null(tsm_wfq_dequeue(&staged.queue, staged.other));
        /* its segment is still there, though all the others have left it */
        cell = tsm_wfq_cell_(&staged.held->tail, index);
        assert_ptr_equal(tsm_load(&cell->item, TSM_RELAXED), &staged.queue);
        assert_int_equal(tsm_wfq_enq_slow_(&staged.queue, staged.held, &numbers[0], index), 0);
        tsm_wfq_end_(staged.held);
        dequeue_range(&staged.queue, staged.other, 0, 1);
        enqueue_range(&staged.queue, staged.held, 0, 1);
        dequeue_range(&staged.queue, staged.other, 0, 1);
        unstage(&staged);
    }
}

/* The held thread asks for help to enqueue item; its cell has been spoiled. Returns its index. */
static uint64_t ask_to_enqueue(staged_t *staged, int *item)
{
    uint64_t index;

    assert_int_equal(tsm_wfq_enq_begin_(&staged->queue, staged->held), 0);
    index = tsm_wfq_index_(&staged->queue, staged->held);
    enqueue_range(&staged->queue, staged->other, 0, 1);
    dequeue_range(&staged->queue, staged->other, 0, 1);
    tsm_wfq_enq_ask_(staged->held, item, index);
    return index;
}

static int is_pending(staged_t *staged)
{
    return (tsm_load(&staged->held->enq_state, TSM_RELAXED) |
            tsm_load(&staged->held->deq_state, TSM_RELAXED)) & TSM_WFQ_PENDING;
}

/* After its request: dequeuers find cells for it whose enqueuers were late. */
static void test_helped_enqueuer(void **state)
{
    (void) state;
    for (int withdraws = 0; withdraws < 2; withdraws++) {
        staged_t staged;
        uint64_t index;
        void *item;

        stage(&staged, 100);
        index = ask_to_enqueue(&staged, &numbers[500]);
        assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.late), 0);
        for (int i = 0; i < 3; i++)
            tsm_wfq_index_(&staged.queue, staged.late);
        enqueue_range(&staged.queue, staged.other, 1, 2);
        assert_true(is_pending(&staged));
        item = tsm_wfq_dequeue(&staged.queue, staged.other);
        assert_ptr_equal(item, &numbers[500]);
        assert_false(is_pending(&staged));
        dequeue_range(&staged.queue, staged.other, 1, 2);
        tsm_wfq_end_(staged.late);
        if (withdraws)
            assert_int_equal(tsm_wfq_enq_withdraw_(staged.held, index), 0);
        tsm_wfq_enq_finish_(&staged.queue, staged.held, &numbers[500]);
        end_held(&staged);
    }
}

/* A dequeuer whose cell goes to another request stays with its peer until that one is served, or is
 * done in another way. */
static void test_owed_help(void **state)
{
    (void) state;
    for (int done = 0; done < 2; done++) {
        staged_t staged;
        tsm_wfq_cell_t *cell[2];
        uint64_t id, i[2], asked, enq;

        stage(&staged, 100);
        id = ask_to_enqueue(&staged, &numbers[500]);
        asked = tsm_load(&staged.held->enq_state, TSM_RELAXED);
        assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.late), 0);
        for (int k = 0; k < 2; k++) {
            i[k] = tsm_wfq_index_(&staged.queue, staged.late);
            cell[k] = tsm_wfq_cell_(&staged.late->tail, i[k]);
            assert_ptr_equal(tsm_wfq_spoil_(&staged.queue, cell[k]), &staged.queue);
        }
        staged.other->enq_peer = 0;
        enq = tsm_wfq_name_(&staged.queue, staged.late, id);
        tsm_store(&cell[0]->enq, enq, TSM_RELAXED);
        assert_int_equal(tsm_wfq_offer_(&staged.queue, staged.other, cell[0], i[0]), enq);
        assert_int_equal(staged.other->enq_owed, asked);
        assert_int_equal(staged.other->enq_peer, 0);
        if (done)
            assert_int_equal(tsm_wfq_enq_withdraw_(staged.held, id), 1);
        enq = done ? TSM_WFQ_CLOSED : tsm_wfq_name_(&staged.queue, staged.held, id);
        assert_int_equal(tsm_wfq_offer_(&staged.queue, staged.other, cell[1], i[1]), enq);
        assert_int_equal(staged.other->enq_owed, 0);
        assert_int_not_equal(staged.other->enq_peer, 0);
        tsm_wfq_end_(staged.late);
        if (!done) {
            assert_ptr_equal(tsm_wfq_dequeue(&staged.queue, staged.other), &numbers[500]);
            tsm_wfq_enq_finish_(&staged.queue, staged.held, &numbers[500]);
        }
        tsm_wfq_end_(staged.held);
        unstage(&staged);
    }
}

/* Help in a cell behind the tail, which two dequeuers for one item have reached. */
static void test_helped_behind_tail(void **state)
{
    staged_t staged;
    uint64_t i = 0;
    void *item = NULL;

    (void) state;
    stage(&staged, 100);
    ask_to_enqueue(&staged, &numbers[500]);
    tsm_wfq_begin_(&staged.queue, staged.other, &staged.other->head);
    for (int n = 0; n < 3 && item == NULL; n++) {
        i = tsm_fetch_add(&staged.queue.head, 1, TSM_SEQ_CST);
        assert_true(i >= tsm_load(&staged.queue.tail, TSM_RELAXED));
        item = tsm_wfq_visit_(&staged.queue, staged.other,
                              tsm_wfq_cell_(&staged.other->head, i), i);
    }
    tsm_wfq_end_(staged.other);
    assert_ptr_equal(item, &numbers[500]);
    assert_int_equal(tsm_load(&staged.queue.tail, TSM_RELAXED), i + 1);
    tsm_wfq_enq_finish_(&staged.queue, staged.held, &numbers[500]);
    end_held(&staged);
}

/* After a request without room: it is withdrawn, and no thread helps it later. */
static void test_withdrawn(void **state)
{
    staged_t staged;
    uint64_t index;
    int n = 0;

    (void) state;
    stage(&staged, 2);
    assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.held), 0);
    index = tsm_wfq_index_(&staged.queue, staged.held);
    while (tsm_wfq_enqueue(&staged.queue, staged.other, &numbers[n]) == 0)
        n++;
    while (tsm_wfq_make_room_(&staged.queue, staged.held))
        index = tsm_wfq_index_(&staged.queue, staged.held);
    assert_int_equal(tsm_wfq_enq_slow_(&staged.queue, staged.held, &numbers[500], index), ENOMEM);
    tsm_wfq_end_(staged.held);
    dequeue_range(&staged.queue, staged.late, 0, n);
    assert_null(tsm_wfq_dequeue(&staged.queue, staged.late));
    pass_range(&staged.queue, staged.held, staged.late);
    unstage(&staged);
}

/* Between its index and its item: only that item waits for it. */
static void test_held_dequeuer(void **state)
{
    staged_t staged;
    tsm_wfq_cell_t *cell;
    uint64_t index;

    (void) state;
    stage(&staged, 100);
    enqueue_range(&staged.queue, staged.other, 0, 300);
    dequeue_range(&staged.queue, staged.other, 0, 20);
    tsm_wfq_begin_(&staged.queue, staged.held, &staged.held->head);
    index = tsm_fetch_add(&staged.queue.head, 1, TSM_SEQ_CST);
    dequeue_range(&staged.queue, staged.other, 21, 300);
    assert_null(tsm_wfq_dequeue(&staged.queue, staged.other));
    cell = tsm_wfq_cell_(&staged.held->head, index);
    assert_ptr_equal(tsm_wfq_visit_(&staged.queue, staged.held, cell, index), &numbers[20]);
    tsm_wfq_end_(staged.held);
    unstage(&staged);
}

/* After its request, with this many items behind it: threads that dequeue serve it; the queue may have
 * moved on by several segments since. */
static void test_helped_dequeuer(void **state)
{
    (void) state;
    for (int items = 1; items < 40; items += items < 6 ? 1 : 11) {
        staged_t staged;
        uint64_t index;
        int *item, got = 0;

        stage(&staged, 100);
        assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.late), 0);
        tsm_wfq_index_(&staged.queue, staged.late);
        enqueue_range(&staged.queue, staged.other, 0, items);
        tsm_wfq_begin_(&staged.queue, staged.held, &staged.held->head);
        index = tsm_fetch_add(&staged.queue.head, 1, TSM_SEQ_CST);
        assert_null(tsm_wfq_visit_(&staged.queue, staged.held,
                                   tsm_wfq_cell_(&staged.held->head, index), index));
        tsm_wfq_end_(staged.late);
        tsm_wfq_deq_ask_(staged.held, index);
        for (int last = -1; (item = tsm_wfq_dequeue(&staged.queue, staged.other)) != NULL; got++) {
            assert_true(item - numbers > last && item - numbers <= last + 2);
            last = (int) (item - numbers);
        }
        tsm_wfq_hunt_(&staged.queue, staged.held, staged.held, index, staged.held->head.seg);
        item = tsm_wfq_deq_finish_(&staged.queue, staged.held);
        if (item != NULL)
            assert_int_equal(got, items - 1);
        else
            assert_int_equal(got, items);
        /* the first dequeues help each peer once */
        assert_true(item != NULL || items < 3);
        end_held(&staged);
    }
}

/* Cells whose enqueuers never arrive, and nothing behind them: "empty" for the request, and then at
 * once for the others. */
static void test_empty_behind(void **state)
{
    staged_t staged;

    (void) state;
    patience = 0;
    stage(&staged, 100);
    assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.late), 0);
    for (int i = 0; i < 5; i++)
        tsm_wfq_index_(&staged.queue, staged.late);
    assert_null(tsm_wfq_dequeue(&staged.queue, staged.other));
    assert_true(tsm_wfq_is_drained_(&staged.queue));
    tsm_wfq_end_(staged.late);
    pass_range(&staged.queue, staged.late, staged.other);
    unstage(&staged);
}

/* Anywhere in a call: no segment from its guard on is freed, so the cap is reached; the calls of the
 * others return, and succeed once it goes on. */
static void test_held_guard(void **state)
{
    staged_t staged;
    int n = 0;

    (void) state;
    stage(&staged, 5);
    tsm_wfq_begin_(&staged.queue, staged.held, &staged.held->head);
    while (tsm_wfq_enqueue(&staged.queue, staged.other, &numbers[n]) == 0) {
        dequeue_range(&staged.queue, staged.other, n, n + 1);
        n++;
    }
    assert_int_equal(n, 5 * TSM_WFQ_CELLS);
    assert_null(tsm_wfq_dequeue(&staged.queue, staged.other));
    tsm_wfq_end_(staged.held);
    pass_range(&staged.queue, staged.other, staged.other);
    unstage(&staged);
}

/* Between appending a segment and publishing it, and a cleaner anywhere: the others go on. */
static void test_held_appender(void **state)
{
    staged_t staged;
    tsm_wfq_segment_t *last, *next;
    uint64_t room;

    (void) state;
    stage(&staged, 100);
    tsm_wfq_begin_(&staged.queue, staged.held, &staged.held->tail);
    last = tsm_load(&staged.queue.last, TSM_RELAXED);
    room = tsm_load(&staged.queue.room, TSM_RELAXED);
    next = tsm_wfq_get_(&staged.queue);
    tsm_wfq_fill_(next, last->id + 1);
    tsm_store(&last->next, next, TSM_SEQ_CST);
    tsm_store(&staged.queue.cleaning, 1, TSM_RELAXED);
    enqueue_range(&staged.queue, staged.other, 0, 300);
    dequeue_range(&staged.queue, staged.other, 0, 300);
    assert_false(tsm_cas(&staged.queue.room, &room, room + 1, TSM_SEQ_CST, TSM_SEQ_CST));
    assert_ptr_not_equal(tsm_load(&staged.queue.last, TSM_RELAXED), last);
    tsm_store(&staged.queue.cleaning, 0, TSM_RELAXED);
    tsm_wfq_end_(staged.held);
    pass_range(&staged.queue, staged.held, staged.held);
    assert_true(tsm_load(&staged.queue.segments, TSM_RELAXED) <=
                reserve(&staged.queue) + 3 + TSM_WFQ_POOL);
    unstage(&staged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_held_enqueuer, setup),
        cmocka_unit_test_setup(test_helped_enqueuer, setup),
        cmocka_unit_test_setup(test_owed_help, setup),
        cmocka_unit_test_setup(test_helped_behind_tail, setup),
        cmocka_unit_test_setup(test_withdrawn, setup),
        cmocka_unit_test_setup(test_held_dequeuer, setup),
        cmocka_unit_test_setup(test_helped_dequeuer, setup),
        cmocka_unit_test_setup(test_empty_behind, setup),
        cmocka_unit_test_setup(test_held_guard, setup),
        cmocka_unit_test_setup(test_held_appender, setup),
    };
    return cmocka_run_group_tests_name("wfq_help", tests, NULL, NULL);
}

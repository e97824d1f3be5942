/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The mailbox. */

#include "unit_aborts.h"
#include "unit_fault.h"

#include <sched.h>
#include <string.h>

#include "mailbox/tsm_mailbox.h"

#define SLOTS 8

/* A mailbox whose next ticket is `first`, as after that many messages. */
static void box_at(tsm_mailbox_t *box, tsm_mailbox_slot_t *slot, uint32_t capacity, uint64_t first)
{
    tsm_mailbox_init(box, slot, capacity);
    tsm_store(&box->tail, first, TSM_RELAXED);
    tsm_store(&box->head, first, TSM_RELAXED);
    for (uint64_t t = first; t < first + capacity; t++) {
        tsm_store(&slot[t % capacity].state, tsm_mailbox_state_(box, t, TSM_MAILBOX_EMPTY),
                  TSM_RELAXED);
    }
}

/* Fill it, drain it; words of message i are i, i + 1 and so on. */
static void fill_and_drain(tsm_mailbox_t *box, uint32_t capacity, uint32_t n)
{
    uint64_t words[TSM_MAILBOX_WORDS];

    for (uint32_t i = 0; i < capacity; i++) {
        for (uint32_t k = 0; k < n; k++)
            words[k] = i + k;
        assert_int_equal(tsm_mailbox_try_send(box, words, n), 1);
        assert_false(tsm_mailbox_is_empty(box));
        assert_false(tsm_mailbox_is_idle(box));
    }
    assert_int_equal(tsm_mailbox_try_send(box, words, n), 0);
    for (uint32_t i = 0; i < capacity; i++) {
        memset(words, 0xa5, sizeof(words));
        if (i % 2)
            tsm_mailbox_receive(box, words, n);
        else
            assert_int_equal(tsm_mailbox_try_receive(box, words, n), 1);
        for (uint32_t k = 0; k < n; k++)
            assert_int_equal(words[k], i + k);
    }
    assert_int_equal(tsm_mailbox_try_receive(box, words, n), 0);
    assert_true(tsm_mailbox_is_empty(box));
    assert_true(tsm_mailbox_is_idle(box));
}

static void test_capacity(void **state)
{
    tsm_mailbox_slot_t slot[SLOTS];
    tsm_mailbox_t box;

    (void) state;
    for (uint32_t capacity = 1; capacity <= SLOTS; capacity *= 2) {
        tsm_mailbox_init(&box, slot, capacity);
        for (uint32_t round = 0; round < 30; round++)
            fill_and_drain(&box, capacity, 1 + round % TSM_MAILBOX_WORDS);
    }
}

/* The round has 30 bits in the state, the ticket more. */
static void test_rounds_wrap(void **state)
{
    tsm_mailbox_slot_t slot[SLOTS];
    tsm_mailbox_t box;

    (void) state;
    for (uint32_t capacity = 1; capacity <= SLOTS; capacity *= 2) {
        for (int bits = 28; bits <= 33; bits++) {
            box_at(&box, slot, capacity, ((uint64_t) capacity << bits) - 5);
            for (uint32_t round = 0; round < 10; round++)
                fill_and_drain(&box, capacity, 3);
        }
    }
}

/* A message that is still being written hides those behind it and loses none. */
static void test_window(void **state)
{
    tsm_mailbox_slot_t slot[SLOTS];
    tsm_mailbox_t box;
    uint64_t word;

    (void) state;
    for (uint64_t before = 0; before < 3; before++) {
        for (uint64_t behind = 0; behind < 4; behind++) {
            uint64_t next = 0, total = before + 1 + behind;
            tsm_mailbox_init(&box, slot, SLOTS);
            for (word = 0; word < before; word++)
                tsm_mailbox_send(&box, &word, 1);
            uint64_t ticket = tsm_mailbox_ticket_(&box);
            for (word = before + 1; word < total; word++)
                tsm_mailbox_send(&box, &word, 1);
            for (; next < before; next++) {
                assert_int_equal(tsm_mailbox_try_receive(&box, &word, 1), 1);
                assert_int_equal(word, next);
            }
            assert_true(tsm_mailbox_is_empty(&box));
            assert_false(tsm_mailbox_is_idle(&box));
            assert_int_equal(tsm_mailbox_try_receive(&box, &word, 1), 0);
            tsm_mailbox_put_(&box, ticket, &before, 1);
            for (; next < total; next++) {
                assert_int_equal(tsm_mailbox_try_receive(&box, &word, 1), 1);
                assert_int_equal(word, next);
            }
            assert_true(tsm_mailbox_is_idle(&box));
        }
    }
}

/* Many senders, one receiver; each sender's messages arrive in order. */
typedef struct traffic {
    tsm_mailbox_slot_t slot[SLOTS];
    tsm_mailbox_t box;
    int senders;
    long each;
    uint64_t next[UNIT_TEAM_MAX];       /* receiver's: the number expected from each sender */
    long plain[UNIT_TEAM_MAX];          /* written before the send, read after the receipt */
    long broken;
} traffic_t;

static traffic_t traffic;

static void traffic_init(int senders, uint32_t capacity, long each)
{
    memset(&traffic, 0, sizeof(traffic));
    box_at(&traffic.box, traffic.slot, capacity, ((uint64_t) capacity << 30) - 100);
    traffic.senders = senders;
    traffic.each = each;
}

static void traffic_send(int id)
{
    for (long i = 0; i < traffic.each; i++) {
        uint64_t words[3] = { (uint64_t) id, (uint64_t) i, ~(uint64_t) i };
        if (i == 0)
            traffic.plain[id] = id + 1;
        if ((id + i) % 3) {
            tsm_mailbox_send(&traffic.box, words, 3);
        } else {
            while (!tsm_mailbox_try_send(&traffic.box, words, 3))
                sched_yield();
        }
    }
}

static void traffic_receive_one(long i)
{
    uint64_t words[3];

    if (i % 5) {
        tsm_mailbox_receive(&traffic.box, words, 3);
    } else {
        while (!tsm_mailbox_try_receive(&traffic.box, words, 3))
            sched_yield();
    }
    if (words[1] != traffic.next[words[0]]++ || words[2] != ~words[1])
        traffic.broken++;
    if (traffic.plain[words[0]] != (long) words[0] + 1)
        traffic.broken++;
}

static void traffic_receive(void)
{
    for (long i = 0; i < traffic.senders * traffic.each; i++)
        traffic_receive_one(i);
}

static void traffic_body(int id, void *arg)
{
    long *hold = arg;

    if (hold != NULL && id == hold[0])
        unit_hold_in = hold[1];
    if (id == traffic.senders)
        traffic_receive();
    else
        traffic_send(id);
}

static void traffic_check(void)
{
    assert_int_equal(traffic.broken, 0);
    for (int s = 0; s < traffic.senders; s++)
        assert_int_equal(traffic.next[s], traffic.each);
    assert_true(tsm_mailbox_is_idle(&traffic.box));
}

static void test_traffic(void **state)
{
    (void) state;
    for (uint32_t capacity = 1; capacity <= SLOTS; capacity *= 8) {
        for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
            int n = unit_team_sizes[s] < UNIT_TEAM_MAX ? unit_team_sizes[s] : UNIT_TEAM_MAX - 1;
            traffic_init(n, capacity, unit_scaled(n < 8 ? 40000 : 15000) / n);
            unit_team(n + 1, traffic_body, NULL);
            traffic_check();
        }
    }
}

/* A sender or the receiver is held between any two steps. */
static void test_held_thread(void **state)
{
    (void) state;
    for (long who = 2; who <= 3; who++) {
        for (long step = 1; step <= 40; step++) {
            long hold[2] = { who, step };
            traffic_init(3, step % 2 ? 1 : 4, 20);
            unit_team(4, traffic_body, hold);
            traffic_check();
        }
    }
}

static void go_body(int id, void *arg)
{
    (void) arg;
    if (id == 8)
        traffic_receive();
    else
        traffic_send(id);
}

/* Senders that end as soon as their last message is in. */
static void test_come_and_go(void **state)
{
    const long batches = unit_scaled(200);

    (void) state;
    traffic_init(8, 4, 3);
    for (long b = 0; b < batches; b++) {
        unit_team(9, go_body, NULL);
        traffic_check();
        memset(traffic.next, 0, sizeof(traffic.next));
    }
}

typedef struct sleeper {
    tsm_mailbox_slot_t slot[2];
    tsm_mailbox_t box;
    uint64_t word;
} sleeper_t;

static void *sleeper_main(void *arg)
{
    sleeper_t *sleeper = arg;

    tsm_mailbox_receive(&sleeper->box, &sleeper->word, 1);
    return NULL;
}

static void test_wakes_a_sleeper(void **state)
{
    sleeper_t sleeper;
    pthread_t thread;

    (void) state;
    tsm_mailbox_init(&sleeper.box, sleeper.slot, 2);
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t parked = tsm_mailbox_state_(&sleeper.box, i, TSM_MAILBOX_PARKED);
        assert_int_equal(pthread_create(&thread, NULL, sleeper_main, &sleeper), 0);
        while (TSM_HAVE_FUTEX && tsm_load(&sleeper.slot[i % 2].state, TSM_RELAXED) != parked)
            sched_yield();
        assert_int_equal(tsm_mailbox_try_send(&sleeper.box, &i, 1), 1);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(sleeper.word, i);
    }
}

static void *sender_main(void *arg)
{
    sleeper_t *sleeper = arg;
    uint64_t word = 7;

    tsm_mailbox_send(&sleeper->box, &word, 1);
    tsm_store(&sleeper->slot[1].state, 1, TSM_RELEASE);         /* not in use here: "it is in" */
    return NULL;
}

static void test_full_blocks(void **state)
{
    sleeper_t sleeper;
    pthread_t thread;
    uint64_t word = 6;

    (void) state;
    tsm_mailbox_init(&sleeper.box, sleeper.slot, 1);
    tsm_store(&sleeper.slot[1].state, 0, TSM_RELAXED);
    tsm_mailbox_send(&sleeper.box, &word, 1);
    assert_int_equal(pthread_create(&thread, NULL, sender_main, &sleeper), 0);
    unit_sleep_ms(5);
    assert_int_equal(tsm_load(&sleeper.slot[1].state, TSM_ACQUIRE), 0);
    for (uint64_t i = 6; i <= 7; i++) {
        tsm_mailbox_receive(&sleeper.box, &word, 1);
        assert_int_equal(word, i);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(tsm_mailbox_is_idle(&sleeper.box));
}

static void odd_capacity(void *arg)
{
    sleeper_t *sleeper = arg;

    tsm_mailbox_init(&sleeper->box, sleeper->slot, 3);
}

static void no_capacity(void *arg)
{
    sleeper_t *sleeper = arg;

    tsm_mailbox_init(&sleeper->box, sleeper->slot, 0);
}

static void too_long(void *arg)
{
    uint64_t words[TSM_MAILBOX_WORDS + 1] = { 0 };
    sleeper_t *sleeper = arg;

    tsm_mailbox_send(&sleeper->box, words, TSM_MAILBOX_WORDS + 1);
}

static void test_misuse(void **state)
{
    sleeper_t sleeper;

    (void) state;
    tsm_mailbox_init(&sleeper.box, sleeper.slot, 2);
    unit_aborts(odd_capacity, &sleeper);
    unit_aborts(no_capacity, &sleeper);
    unit_aborts(too_long, &sleeper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_rounds_wrap),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_full_blocks),
        cmocka_unit_test(test_wakes_a_sleeper),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_held_thread),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}

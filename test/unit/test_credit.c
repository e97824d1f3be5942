/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What a ghost may send before it is asked for it (src/casper/csp_credit.h): never more than the limit
 * but where it must, and all credit comes back, but for a part. */

#include "unit.h"

#include "../../src/casper/csp_credit.c"

#define GHOSTS 5
#define MOST_MESSAGES 100000

/* Messages of ghost 0 that ghost 1 still has. */
static uint64_t message[MOST_MESSAGES];
static int messages;
static uint64_t cost;           /* of all these */
static csp_credit_t sender, receiver;

static void open_both(int ghosts)
{
    assert_true(csp_credit_open(&sender, ghosts));
    assert_true(csp_credit_open(&receiver, ghosts));
    messages = 0;
    cost = 0;
}

static void close_both(void)
{
    csp_credit_close(&sender);
    csp_credit_close(&receiver);
}

static int post(uint64_t bytes, int must)
{
    const uint64_t owed = sender.peer[1].owed;
    int goes = csp_credit_take(&sender, 1, bytes, must);

    if (goes) {
        csp_credit_undo(&sender, 1, bytes);
        assert_true(sender.peer[1].owed == owed);
        csp_credit_take(&sender, 1, bytes, must);
        assert_true(messages < MOST_MESSAGES);
        message[messages++] = bytes;
        cost += bytes + FIXED;
    }
    return goes;
}

/* Returns how often credit came back. */
static int give_back(void)
{
    uint64_t amount;
    int n = 0;

    for (int to; (to = csp_credit_next(&receiver, &amount)) >= 0; n++) {
        assert_int_equal(to, 0);
        csp_credit_refill(&sender, 1, amount);
    }
    return n;
}

static void receive(int i)
{
    csp_credit_free(&receiver, 0, message[i]);
    cost -= message[i] + FIXED;
    message[i] = message[--messages];
}

/* The limits of a few ghosts and of many. */
static void test_limit(void **state)
{
    (void) state;
    for (int ghosts = 2; ghosts < 2000; ghosts = 3 * ghosts / 2 + 1) {
        open_both(ghosts);
        assert_true(sender.most >= LEAST);
        assert_true(sender.most == LEAST || sender.most * ((uint64_t) ghosts - 1) <= ALL_OTHERS);
        close_both();
    }
}

static void test_used_up(void **state)
{
    (void) state;
    open_both(GHOSTS);
    while (post(65536, 0))
        assert_true(cost <= sender.most);
    while (post(0, 0)) {
    }
    assert_true(csp_credit_is_spent(&sender, 1));
    assert_false(csp_credit_is_spent(&sender, 2));
    assert_true(csp_credit_take(&sender, 2, 65536, 0));
    assert_true(post(1024, 1));
    assert_true(csp_credit_is_spent(&sender, 1));
    while (messages > 0)
        receive(messages - 1);
    assert_true(give_back() > 0);
    assert_false(csp_credit_is_spent(&sender, 1));
    assert_true(post(65536, 0));
    close_both();
}

/* Whatever the order, what is owed covers what is there, and no more than a part too much. */
static void test_random(void **state)
{
    uint64_t rng = 1;

    (void) state;
    open_both(GHOSTS);
    for (int i = 0; i < 300000; i++) {
        rng = rng * 6364136223846793005u + 1442695040888963407u;
        uint64_t r = rng >> 33;
        if (r % 5 < 3 && messages < MOST_MESSAGES)
            post(r / 5 % 3 ? r % 65537 : r % 1025, 0);
        else if (messages > 0)
            receive((int) (r / 5 % (uint64_t) messages));
        if (r % 7 == 0)
            give_back();
        assert_true(sender.peer[1].owed <= sender.most);
        assert_int_equal(sender.peer[1].owed, cost + receiver.peer[0].freed);
        if (messages > 2000) {
            while (messages > 100)
                receive(messages - 1);
        }
    }
    while (messages > 0)
        receive(messages - 1);
    give_back();
    assert_true(sender.peer[1].owed < sender.most / PARTS);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_used_up),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The ring: bounded, many producers, one consumer. */

#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_perturb.h"
#include "queue/tsm_ring.h"

typedef struct message {
    tsm_ring_slot_t slot;       /* first, so that a slot is its message */
    uint32_t producer;
    uint64_t number;
    uint64_t body[6];           /* follows from the other two; plain: publish must publish it */
} message_t;

#define SIZE ((uint32_t) sizeof(message_t))

/* Where the tests begin: the turns have 32 bits. */
static const uint64_t starts[] = {
    0, UINT64_C(0x7ffffff3), UINT64_C(0xfffffff3), UINT64_C(0xffffffff), UINT64_C(0x4fffffff8)
};
#define STARTS (sizeof(starts) / sizeof(starts[0]))

static const uint32_t ring_slots[] = { 8, 16, 64 };
#define RINGS (sizeof(ring_slots) / sizeof(ring_slots[0]))

typedef struct rig {
    tsm_ring_t *ring;
    tsm_ring_writer_t writer;
    tsm_ring_reader_t reader;
    uint64_t sent, received;
} rig_t;

/* As after so many messages, all given back. */
static void ring_start_at(tsm_ring_t *ring, uint32_t slots, uint64_t position)
{
    tsm_ring_init(ring, slots, SIZE);
    tsm_store(&ring->tail, position, TSM_RELAXED);
    tsm_store(&ring->head, position, TSM_RELAXED);
    for (uint64_t i = position < slots ? position : slots; i > 0; i--)
        tsm_ring_publish(tsm_ring_slot_(ring, slots, SIZE, position - i), position - i);
}

static void rig_start(rig_t *rig, uint32_t slots, uint64_t position)
{
    size_t size = tsm_ring_size(slots, SIZE);

    memset(rig, 0, sizeof(*rig));
    rig->ring = aligned_alloc(TSM_CACHELINE, size);
    assert_non_null(rig->ring);
    memset((void *) rig->ring, 0xff, size);
    ring_start_at(rig->ring, slots, position);
    tsm_ring_writer_init(&rig->writer, rig->ring, slots, SIZE);
    tsm_ring_reader_init(&rig->reader, rig->ring, slots, SIZE);
    rig->reader.next = rig->reader.published = position;
}

static void rig_end(rig_t *rig)
{
    free(rig->ring);
}

static void message_fill(message_t *message, uint32_t producer, uint64_t number)
{
    message->producer = producer;
    message->number = number;
    for (int i = 0; i < 6; i++)
        message->body[i] = number * 6 + (uint64_t) i + ((uint64_t) producer << 48);
}

static int message_is_whole(const message_t *message)
{
    for (int i = 0; i < 6; i++) {
        if (message->body[i] !=
            message->number * 6 + (uint64_t) i + ((uint64_t) message->producer << 48))
            return 0;
    }
    return 1;
}

static int send(tsm_ring_writer_t *writer, uint32_t producer, uint64_t number)
{
    uint64_t position;
    message_t *message = (message_t *) tsm_ring_claim(writer, &position);

    if (message == NULL)
        return 0;
    message_fill(message, producer, number);
    tsm_ring_publish(&message->slot, position);
    return 1;
}

/* How many it accepts; what is_full says is true as long as nobody else comes. */
static uint64_t rig_fill(rig_t *rig)
{
    uint64_t before = rig->sent;

    while (!tsm_ring_is_full(&rig->writer)) {
        assert_true(send(&rig->writer, 7, rig->sent));
        rig->sent++;
    }
    assert_false(send(&rig->writer, 7, rig->sent));
    return rig->sent - before;
}

static message_t *rig_take(rig_t *rig)
{
    tsm_ring_slot_t *seen = tsm_ring_look(&rig->reader);
    message_t *message = (message_t *) tsm_ring_take(&rig->reader);

    assert_non_null(message);
    assert_ptr_equal(&message->slot, seen);
    assert_int_equal(message->number, rig->received++);
    assert_true(message_is_whole(message));
    return message;
}

static void rig_drain(rig_t *rig)
{
    while (rig->received < rig->sent) {
        rig_take(rig);
        tsm_ring_give_back(&rig->reader);
    }
    assert_null(tsm_ring_take(&rig->reader));
}

/* Each test of one thread runs at each start and with each size. */
static void everywhere(void (*test)(rig_t *rig, uint32_t slots))
{
    for (size_t r = 0; r < RINGS; r++) {
        for (size_t s = 0; s < STARTS; s++) {
            rig_t rig;
            rig_start(&rig, ring_slots[r], starts[s]);
            test(&rig, ring_slots[r]);
            rig_end(&rig);
        }
    }
}

static void empty(rig_t *rig, uint32_t slots)
{
    for (uint32_t i = 0; i < 3 * slots; i++) {
        assert_null(tsm_ring_take(&rig->reader));
        assert_null(tsm_ring_look(&rig->reader));
        assert_null(tsm_ring_take(&rig->reader));
        assert_false(tsm_ring_is_full(&rig->writer));
        assert_true(send(&rig->writer, 1, rig->sent++));
        rig_take(rig);
        assert_null(tsm_ring_take(&rig->reader));
        tsm_ring_give_back(&rig->reader);
    }
}

static void test_empty(void **state)
{
    (void) state;
    everywhere(empty);
}

/* The memory may have been a ring before. */
static void test_init_again(void **state)
{
    rig_t rig;

    (void) state;
    rig_start(&rig, 8, 0);
    for (int round = 0; round < 3; round++) {
        assert_null(tsm_ring_take(&rig.reader));
        assert_int_equal(rig_fill(&rig), 8);
        if (round == 0)         /* as the kernel gives memory */
            memset((void *) rig.ring, 0, tsm_ring_size(8, SIZE));
        else
            tsm_ring_init(rig.ring, 8, SIZE);
        tsm_ring_writer_init(&rig.writer, rig.ring, 8, SIZE);
        tsm_ring_reader_init(&rig.reader, rig.ring, 8, SIZE);
    }
    rig_end(&rig);
}

/* Each message has a slot of its own, and they lie one behind the other. */
static void order(rig_t *rig, uint32_t slots)
{
    uint64_t first = tsm_load(&rig->ring->tail, TSM_RELAXED);

    for (uint64_t n = 1; n <= slots; n++) {
        for (uint64_t i = 0; i < n; i++) {
            uint64_t position;
            message_t *message = (message_t *) tsm_ring_claim(&rig->writer, &position);
            if (message == NULL) {      /* the last ones may not have been published */
                assert_true(i > slots - slots / 8);
                break;
            }
            assert_int_equal(position, first + rig->sent);
            assert_ptr_equal(message, (message_t *) (rig->ring + 1) + position % slots);
            message_fill(message, 3, rig->sent++);
            tsm_ring_publish(&message->slot, position);
        }
        rig_drain(rig);
    }
}

static void test_order(void **state)
{
    (void) state;
    everywhere(order);
}

/* A full ring refuses, as often as one asks, and takes as much again once it is drained. */
static void full(rig_t *rig, uint32_t slots)
{
    for (int round = 0; round < 5; round++) {
        assert_int_equal(rig_fill(rig), slots);
        for (int i = 0; i < 3; i++) {
            assert_true(tsm_ring_is_full(&rig->writer));
            assert_false(send(&rig->writer, 7, rig->sent));
        }
        rig_drain(rig);
    }
}

static void test_full(void **state)
{
    (void) state;
    everywhere(full);
}

/* Slots come back an eighth of the ring at a time. */
static void eighths(rig_t *rig, uint32_t slots)
{
    rig_fill(rig);
    for (int round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < slots / 8; i++) {
            assert_true(tsm_ring_is_full(&rig->writer));
            assert_false(send(&rig->writer, 7, rig->sent));
            rig_take(rig);
            tsm_ring_give_back(&rig->reader);
        }
        assert_false(tsm_ring_is_full(&rig->writer));
        assert_int_equal(rig_fill(rig), slots / 8);
    }
    rig_drain(rig);
}

static void test_eighths(void **state)
{
    (void) state;
    everywhere(eighths);
}

/* Against a count: batches of all lengths, so that the ring is empty, full, and in between. */
static void wrap(rig_t *rig, uint32_t slots)
{
    uint32_t random = 1;
    uint64_t head = 0;          /* given back so that producers know */

    for (long left = unit_scaled(4000); left > 0; left--) {
        random = random * 1664525u + 1013904223u;
        uint32_t n = (random >> 8) % (slots + 2), open = 0;
        for (uint32_t i = 0; i < n; i++) {
            int fits = rig->sent - head < slots;
            assert_int_equal(tsm_ring_is_full(&rig->writer), !fits);
            assert_int_equal(send(&rig->writer, 7, rig->sent), fits);
            rig->sent += (uint64_t) fits;
        }
        for (n = (random >> 20) % (slots + 2); n > 0 && rig->received < rig->sent; n--, open++)
            rig_take(rig);
        for (; open > 0; open--)
            tsm_ring_give_back(&rig->reader);
        if (rig->received - head >= slots / 8)
            head = rig->received;
        assert_int_equal(tsm_load(&rig->ring->head, TSM_RELAXED) + rig->sent,
                         tsm_load(&rig->ring->tail, TSM_RELAXED) + head);
    }
    rig_drain(rig);
}

static void test_wrap(void **state)
{
    (void) state;
    everywhere(wrap);
}

/* Two messages are open, and one is given back: both stay what they are, whichever it was. */
static void nested(rig_t *rig, uint32_t slots)
{
    uint32_t most = slots / 8 + 2;

    for (int newest_first = 0; newest_first < 2; newest_first++) {
        message_t *message[64 / 8 + 2];
        rig_fill(rig);
        for (uint32_t i = 0; i < most; i++)
            message[i] = rig_take(rig);
        for (uint32_t i = 0; i < most; i++) {
            assert_int_equal(rig_fill(rig), 0);
            message_t *last = message[newest_first ? most - 1 - i : i];
            assert_true(message_is_whole(last));
            assert_int_equal(last->number, rig->received - (newest_first ? i + 1 : most - i));
            tsm_ring_give_back(&rig->reader);
        }
        assert_int_equal(rig_fill(rig), most);
        rig_drain(rig);
    }
}

static void test_nested(void **state)
{
    (void) state;
    everywhere(nested);
}

/* A producer stops between claim and publish: the messages before it come, those behind it wait,
 * and the others send until the ring is full. */
static void stopped_behind(rig_t *rig, uint32_t slots, uint32_t before)
{
    uint64_t position = 0;

    for (uint32_t i = 0; i < before; i++)
        assert_true(send(&rig->writer, 7, rig->sent++));
    message_t *stopped = (message_t *) tsm_ring_claim(&rig->writer, &position);
    uint64_t number = rig->sent++;
    assert_int_equal(rig_fill(rig), slots - before - 1);

    for (uint32_t i = 0; i < before; i++) {
        rig_take(rig);
        tsm_ring_give_back(&rig->reader);
    }
    uint32_t unpublished = before % (slots / 8);
    assert_int_equal(rig_fill(rig), before - unpublished);
    for (int i = 0; i < 3; i++)
        assert_null(tsm_ring_take(&rig->reader));

    message_fill(stopped, 7, number);
    tsm_ring_publish(&stopped->slot, position);
    rig_drain(rig);
}

static void stopped(rig_t *rig, uint32_t slots)
{
    for (uint32_t before = 0; before < slots; before += slots / 8) {
        stopped_behind(rig, slots, before);
        stopped_behind(rig, slots, slots - 1);
    }
}

static void test_stopped_producer(void **state)
{
    (void) state;
    everywhere(stopped);
}

/* A view that begins when the ring has been in use for long. */
static void late_writer(rig_t *rig, uint32_t slots)
{
    tsm_ring_writer_t late;

    rig_fill(rig);
    tsm_ring_writer_init(&late, rig->ring, slots, SIZE);
    assert_true(tsm_ring_is_full(&late));
    assert_false(send(&late, 7, rig->sent));
    rig_drain(rig);
    tsm_ring_writer_init(&late, rig->ring, slots, SIZE);
    for (uint32_t i = 0; i < slots; i++)
        assert_true(send(i % 2 ? &late : &rig->writer, 7, rig->sent++));
    assert_true(tsm_ring_is_full(&late));
    assert_true(tsm_ring_is_full(&rig->writer));
    rig_drain(rig);
}

static void test_late_writer(void **state)
{
    (void) state;
    everywhere(late_writer);
}

/* A producer may have read a tail that is out of date, and then a head that is beyond it: the ring
 * is not full, the claim must look again. */
static void late_tail(rig_t *rig, uint32_t slots)
{
    uint64_t tail = tsm_load(&rig->ring->tail, TSM_RELAXED);

    for (uint32_t i = 1; i < 4 * slots; i++)
        assert_true(tsm_ring_has_room_(&rig->writer, tail, tail + i));
}

static void test_late_tail(void **state)
{
    (void) state;
    everywhere(late_tail);
}

/* Traffic: each consumer has the lock while it takes a few messages and gives them back. */
#define OPEN 3
#define CONSUMERS_MAX 2

typedef struct traffic {
    rig_t rig;
    int producers;
    uint64_t each;
    uint64_t left;              /* this and the next two: of the consumer that has the lock */
    uint64_t next[UNIT_TEAM_MAX];       /* expected from each producer */
    long broken;
    pthread_mutex_t lock;
    long refused;               /* of the only producer: no slot, though not full */
} traffic_t;

static traffic_t traffic;

static void produce(int producer)
{
    for (uint64_t i = 0; i < traffic.each; i++) {
        int full_before = tsm_ring_is_full(&traffic.rig.writer);
        while (!send(&traffic.rig.writer, (uint32_t) producer, i)) {
            if (!full_before && traffic.producers == 1)
                traffic.refused++;
            sched_yield();
            full_before = 1;
        }
    }
}

static int consume_some(rig_t *rig)
{
    message_t *message[OPEN], *taken;
    int n = 0;

    while (n < OPEN && (taken = (message_t *) tsm_ring_take(&rig->reader)) != NULL) {
        if (taken->producer >= (uint32_t) traffic.producers ||
            taken->number != traffic.next[taken->producer]++)
            traffic.broken++;
        message[n++] = taken;
    }
    traffic.left -= (uint64_t) n;
    for (int i = n; i > 0; i--) {
        traffic.broken += !message_is_whole(message[i - 1]);
        tsm_ring_give_back(&rig->reader);
    }
    return n;
}

static void consume(void)
{
    for (uint64_t left = 1; left > 0;) {
        pthread_mutex_lock(&traffic.lock);
        int n = consume_some(&traffic.rig);
        left = traffic.left;
        pthread_mutex_unlock(&traffic.lock);
        if (n == 0)
            sched_yield();
    }
}

static void traffic_body(int id, void *arg)
{
    (void) arg;
    if (id >= traffic.producers)
        consume();
    else
        produce(id);
}

/* The turns go through zero half way. */
static void traffic_run(uint32_t slots, int producers, int consumers, long messages)
{
    memset(&traffic, 0, sizeof(traffic));
    traffic.producers = producers;
    traffic.each = (uint64_t) (unit_scaled(messages) / producers) + 1;
    traffic.left = traffic.each * (uint64_t) producers;
    rig_start(&traffic.rig, slots, (UINT64_C(1) << 32) - traffic.left / 2);
    pthread_mutex_init(&traffic.lock, NULL);
    unit_team(producers + consumers, traffic_body, NULL);
    pthread_mutex_destroy(&traffic.lock);
    assert_int_equal(traffic.broken, 0);
    assert_int_equal(traffic.refused, 0);
    for (int p = 0; p < producers; p++)
        assert_int_equal(traffic.next[p], traffic.each);
    assert_null(tsm_ring_take(&traffic.rig.reader));
    rig_end(&traffic.rig);
}

static void test_traffic(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
        for (size_t r = 0; r < RINGS; r++) {
            int consumers = 1 + (int) (r % CONSUMERS_MAX);
            int n = unit_team_sizes[s] < UNIT_TEAM_MAX ? unit_team_sizes[s] :
                UNIT_TEAM_MAX - consumers;
            /* a busy machine takes long for a yield, and a small ring yields often */
            traffic_run(ring_slots[r], n, consumers, 1000 * (long) ring_slots[r]);
            unit_perturb_one_in = 7;
            traffic_run(ring_slots[r], n, consumers, 1000);
            unit_perturb_one_in = 0;
        }
    }
}

/* Processes with the ring at different addresses. */
#define CHILDREN 2

static tsm_ring_t *ring_map(int file, size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Sends through a mapping of its own. The exit status, since asserts are the parent's. */
static int child_main(int file, uint32_t slots, int id, const tsm_ring_t *parents, uint64_t each)
{
    tsm_ring_t *ring = ring_map(file, tsm_ring_size(slots, SIZE));
    tsm_ring_writer_t writer;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ring == NULL || ring == parents)
        return 1;
    tsm_ring_writer_init(&writer, ring, slots, SIZE);
    for (uint64_t i = 0; i < each; i++) {
        while (!send(&writer, (uint32_t) id, i))
            sched_yield();
    }
    return 0;
}

/* What comes from the children, and goes to next[]. */
static long receive(tsm_ring_reader_t *reader, uint64_t left, uint64_t next[CHILDREN])
{
    long broken = 0;

    while (left > 0) {
        message_t *message = (message_t *) tsm_ring_take(reader);
        if (message == NULL) {
            sched_yield();
            continue;
        }
        broken += !message_is_whole(message) || message->producer >= CHILDREN ||
            message->number != next[message->producer % CHILDREN]++;
        tsm_ring_give_back(reader);
        left--;
    }
    return broken;
}

static void processes(uint32_t slots, uint64_t each)
{
    size_t size = tsm_ring_size(slots, SIZE);
    int file = memfd_create("ring", 0), status;
    uint64_t next[CHILDREN] = { 0 };
    tsm_ring_reader_t reader;
    pid_t child[CHILDREN];

    assert_int_equal(ftruncate(file, (off_t) size), 0);
    tsm_ring_t *ring = ring_map(file, size);
    assert_non_null(ring);
    tsm_ring_init(ring, slots, SIZE);
    tsm_ring_reader_init(&reader, ring, slots, SIZE);
    for (int i = 0; i < CHILDREN; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(child_main(file, slots, i, ring, each));
    }
    long broken = receive(&reader, CHILDREN * each, next);
    for (int i = 0; i < CHILDREN; i++) {
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(next[i], each);
    }
    assert_int_equal(broken, 0);
    assert_null(tsm_ring_take(&reader));
    munmap((void *) ring, size);
    close(file);
}

static void test_processes(void **state)
{
    (void) state;
    for (size_t r = 0; r < RINGS; r++) {
        processes(ring_slots[r], (uint64_t) unit_scaled(500 * (long) ring_slots[r]));
        unit_perturb_one_in = 7;
        processes(ring_slots[r], (uint64_t) unit_scaled(1000));
        unit_perturb_one_in = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_init_again),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_eighths),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_stopped_producer),
        cmocka_unit_test(test_late_writer),
        cmocka_unit_test(test_late_tail),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_processes),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}

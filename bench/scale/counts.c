/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Programs whose transfers are known by hand. Prints PASS or FAIL for each, and stops with status 1 if
 * one fails. An argument is the name of one of them; without, prints their names.
 *
 * One thread on each core. A round is ROUND long, and thread i acts in it at i * STEP, so the order of
 * all accesses is known, and none waits for another one's transfer. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/tsm_mcs.h"
#include "lock/tsm_ticket.h"
#include "queue/tsm_ring.h"

#define THREADS 8
#define ROUNDS 100
#define STEP (1000 * SIM_NS)
#define ROUND (THREADS * STEP)

typedef struct line {
    TSM_ATOMIC(int) word TSM_ALIGNED;
} line_t;

static line_t line[2];
static tsm_ticket_t ticket TSM_ALIGNED;
static tsm_mcs_t mcs TSM_ALIGNED;
static struct {
    tsm_mcs_node_t node TSM_ALIGNED;
} nodes[THREADS];

static void add(int me)
{
    (void) me;
    tsm_fetch_add(&line[0].word, 1, TSM_RELAXED);
}

/* The same with the line asked for ahead. */
static void ask_and_add(int me)
{
    tsm_prefetch_write(&line[0]);
    sim_work(STEP / 2);
    add(me);
}

/* The first thread writes, the others read. */
static void publish(int me)
{
    if (me == 0)
        tsm_store(&line[0].word, 1, TSM_RELEASE);
    else
        (void) tsm_load(&line[0].word, TSM_ACQUIRE);
}

/* A hundred looks at a line that no other thread writes; the thread's own line. */
static void look(int me)
{
    for (int i = 0; i < 100; i++)
        (void) tsm_load(&line[0].word, TSM_ACQUIRE);
    (void) me;
}

/* Two words of one line, and two words of two lines. */
static void share(int me)
{
    tsm_store((TSM_ATOMIC(char) *) &line[0].word + me % 2 * 4, 1, TSM_RELAXED);
}

static void apart(int me)
{
    tsm_store(&line[me % 2].word, 1, TSM_RELAXED);
}

static void take_ticket(int me)
{
    (void) me;
    tsm_ticket_acquire(&ticket);
    tsm_ticket_release(&ticket);
}

static void take_mcs(int me)
{
    tsm_mcs_acquire(&mcs, &nodes[me].node);
    tsm_mcs_release(&mcs, &nodes[me].node);
}

/* The first thread sends a lap of messages of so many lines each; the second one receives them. */
#define SLOTS 8
#define SLOT_SIZE 256
#define WORDS (TSM_CACHELINE / sizeof(uint64_t))        /* of a line */

static struct {
    tsm_ring_t ring TSM_ALIGNED;
    char slots[SLOTS * SLOT_SIZE];
} shared;
static tsm_ring_writer_t writer TSM_ALIGNED;
static tsm_ring_reader_t reader TSM_ALIGNED;

static void send_lap(size_t words)
{
    for (int i = 0; i < SLOTS; i++) {
        uint64_t position = 0;
        tsm_ring_slot_t *slot = tsm_ring_claim(&writer, &position);
        if (!slot)
            return;             /* only before the rounds: the receiver was not there yet */
        for (size_t w = 1; w < words; w++)
            ((uint64_t *) slot)[w] = position;
        tsm_ring_publish(slot, position);
    }
}

static void receive_lap(size_t words)
{
    static struct {
        uint64_t of_all TSM_ALIGNED;
    } sum;

    for (int i = 0; i < SLOTS; i++) {
        const tsm_ring_slot_t *slot = tsm_ring_take(&reader);
        if (!slot)
            return;
        for (size_t w = 1; w < words; w++)
            sum.of_all += ((const uint64_t *) slot)[w];
        tsm_ring_give_back(&reader);
    }
}

static void pass_lap(int me)
{
    if (me == 0)
        send_lap(2 * WORDS);
    else
        receive_lap(2 * WORDS);
}

static void pass_brief_lap(int me)
{
    if (me == 0)
        send_lap(WORDS);
    else
        receive_lap(WORDS);
}

typedef struct count {
    const char *name;
    void (*act)(int me);
    int threads, cluster;
    double near, far;           /* of one round */
    const char *why;
} count_t;

static const count_t counts[] = {
    {"ping-pong", add, 2, 8, 2, 0, "each of two cores takes the line once"},
    {"ping-pong-far", add, 2, 1, 0, 2, "the same between clusters"},
    {"asked", ask_and_add, 2, 8, 2, 0, "a line that has come ahead does not come again"},
    {"alone", add, 1, 8, 0, 0, "the core has the line"},
    {"publish", publish, 8, 8, 8, 0, "one write takes the line, each of seven reads fetches it"},
    {"publish-far", publish, 8, 4, 3, 5, "the write: far, three near reads, four far ones"},
    {"spin", look, 4, 8, 0, 0, "a copy is read for free"},
    {"false-sharing", share, 2, 8, 2, 0, "two words of one line go together"},
    {"apart", apart, 2, 8, 0, 0, "two lines do not"},
    {"ticket", take_ticket, 8, 8, 24, 0, "next; serving: the look and the release; whatever the cores"},
    {"ticket-2", take_ticket, 2, 8, 6, 0, "the same"},
    {"ring", pass_lap, 2, 8, SLOTS * 4 + 2, 0, "each message: two lines there and back; head once"},
    {"ring-brief", pass_brief_lap, 2, 8, SLOTS * 2 + 2, 0, "one line there and back; head once"},
    {"mcs", take_mcs, 8, 8, 8, 0, "the tail only, while nobody waits"},
};

#define COUNTS ((int) (sizeof(counts) / sizeof(counts[0])))

static const count_t *count;
static int done;

#define NOT_SIMULATED __attribute__((noinline, no_sanitize("thread")))

NOT_SIMULATED static void end(void)
{
    double near = (double) sim_counts.near / ROUNDS, far = (double) sim_counts.far / ROUNDS;
    int ok = near == count->near && far == count->far;

    if (++done < count->threads)
        return;
    printf("%s %s: %g near, %g far in a round; by hand %g, %g: %s\n", ok ? "PASS" : "FAIL",
           count->name, near, far, count->near, count->far, count->why);
    fflush(stdout);
    _exit(!ok);
}

static void rounds(void *arg)
{
    const int me = (int) (intptr_t) arg;

    count->act(me);             /* the first access of a line is no transfer */
    sim_meet(count->threads, NULL);
    sim_work((uint64_t) me * STEP);
    count->act(me);             /* from here on each round is like the one before */
    sim_meet(count->threads, sim_counts_reset);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = sim_now();
        sim_work((uint64_t) me * STEP);
        count->act(me);
        sim_work(begin + ROUND - sim_now());
    }
    end();
}

static void first(void *arg)
{
    tsm_ring_init(&shared.ring, SLOTS, SLOT_SIZE);
    tsm_ring_writer_init(&writer, &shared.ring, SLOTS, SLOT_SIZE);
    tsm_ring_reader_init(&reader, &shared.ring, SLOTS, SLOT_SIZE);
    for (int i = 1; i < count->threads; i++)
        sim_spawn(i, rounds, (void *) (intptr_t) i);
    rounds(arg);
}

/* before the simulation starts, so nothing here is an event */
NOT_SIMULATED int main(int argc, char **argv)
{
    for (int i = 0; i < COUNTS; i++) {
        if (argc == 1)
            printf("%s\n", counts[i].name);
        else if (!strcmp(argv[1], counts[i].name))
            count = &counts[i];
    }
    fflush(stdout);
    if (argc == 1)
        _exit(0);               /* not the program's own end, which is instrumented, too */
    if (!count) {
        fprintf(stderr, "counts: no program is called %s\n", argv[1]);
        _exit(2);
    }
    sim_machine = (sim_machine_t) {
        .cores = count->threads,.cluster = count->cluster,.hit = SIM_NS,.rmw = 5 * SIM_NS,
        .near = 40 * SIM_NS,.far = 120 * SIM_NS,.pause = 15 * SIM_NS,.slice = 1000000 * SIM_NS
    };
    sim_run(count->threads, first, NULL);
    return 3;
}

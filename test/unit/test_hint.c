/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The hint of the line of MPIR_CVAR_CH4_THREAD_SUMMARY (src/ch4/stats/hint.h): a table of figures and
 * facts with the hint that they must give. Every hint is reached, each condition is tried from both
 * sides, and no hint recommends what the program already has. */

#include "unit.h"

#include <string.h>

#include "../../src/ch4/stats/hint.h"

#define BYTES 256
#define MOST_VCIS 64

/* Models, and what goes with them. */
#define PER_VCI .is_lock = 1, .has_lock = 1, .is_usc = 1, .is_runtime = 1
#define HMCS_USC .is_lock = 1, .is_usc = 1, .is_runtime = 1
#define LOCKQ .is_lockq = 1, .has_lock = 1, .is_usc = 1, .is_runtime = 1
#define CSYNC .is_usc = 1, .is_runtime = 1
#define GLOBAL .is_lock = 1, .has_lock = 1, .is_global = 1, .vcis = 1, .most_vcis = 1, .threads = 8
#define OFFLOAD .is_served = 1, .has_lock = 1, .is_runtime = 1

/* One VCI, and some threads. */
#define ONE .vcis = 1, .most_vcis = MOST_VCIS, .threads = 8
#define FOUR .vcis = 4, .most_vcis = MOST_VCIS, .threads = 8
#define ALL .vcis = MOST_VCIS, .most_vcis = MOST_VCIS, .threads = 8

/* What was seen. */
#define CONTENDED .acquired = 10000, .contended = 5000
#define UNBIASED CONTENDED, .bias = 1.0
#define BIASED CONTENDED, .bias = 4.0
#define CROWDED BIASED, .crowded = 4000
#define POSTED .issued = 10000, .posted = 6000, .acquired = 10000
#define WASTED .vain = 4000, .wasted = 3000

typedef struct {
    MPIDI_hint_figures_t seen;
    MPIDI_hint_facts_t has;
    MPIDI_hint_t hint;
    const char *text;           /* or NULL: it is not compared */
} row_t;

static const row_t rows[] = {
    /* nothing to say */
    {{0}, {PER_VCI, ONE}, MPIDI_HINT_NONE, "none"},
    {{.acquired = 10000, .contended = 900}, {PER_VCI, ONE}, MPIDI_HINT_NONE, "none"},
    {{.acquired = 1000, .contended = 1000}, {PER_VCI, ONE}, MPIDI_HINT_NONE, NULL},
    {{.acquired = 100000, .contended = 9000}, {PER_VCI, ONE}, MPIDI_HINT_NONE, NULL},
    /* threads wait, and more VCIs may help, or do not */
    {{UNBIASED, .busiest = 10000}, {PER_VCI, ONE}, MPIDI_HINT_LOCKQ_OR_VCIS,
     "threads wait for the lock: raise MPIR_CVAR_CH4_NUM_VCIS and give each thread a communicator, "
     "or use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{UNBIASED, .busiest = 7000}, {PER_VCI, FOUR}, MPIDI_HINT_LOCKQ_OR_VCIS, NULL},
    {{UNBIASED, .busiest = 9000}, {PER_VCI, FOUR, .busiest_vci = 2}, MPIDI_HINT_ONE_VCI,
     "nearly all goes through VCI 2: give each thread a communicator of its own"},
    {{UNBIASED, .busiest = 9000}, {PER_VCI, ALL}, MPIDI_HINT_ONE_VCI, NULL},
    {{UNBIASED, .busiest = 7000}, {PER_VCI, ALL}, MPIDI_HINT_LOCKQ,
     "threads wait for the lock: use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{UNBIASED, .busiest = 10000}, {.is_lock = 1, .has_lock = 1, .is_usc = 1, ALL}, MPIDI_HINT_ONE_VCI,
     NULL},
    {{UNBIASED, .busiest = 7000}, {.is_lock = 1, .has_lock = 1, .is_usc = 1, ALL}, MPIDI_HINT_LOCKQ,
     "threads wait for the lock: configure --enable-thread-cs=lockq"},
    {{UNBIASED}, {CSYNC, ONE}, MPIDI_HINT_NONE, NULL},
    {{UNBIASED}, {LOCKQ, ONE}, MPIDI_HINT_NONE, NULL},
    /* one thread keeps the lock: models whose threads wait for it hear of that, too */
    {{BIASED}, {PER_VCI, ONE}, MPIDI_HINT_FAIR_LOCK,
     "one thread keeps the lock: use a fair one, such as MPIR_CVAR_CH4_THREAD_LOCK=ticket, "
     "or use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{BIASED, .busiest = 9000}, {PER_VCI, FOUR}, MPIDI_HINT_FAIR_LOCK, NULL},
    {{BIASED}, {LOCKQ, ONE}, MPIDI_HINT_FAIR_LOCK,
     "one thread keeps the lock: use a fair one, such as MPIR_CVAR_CH4_THREAD_LOCK=ticket"},
    {{BIASED}, {.is_lockq = 1, .has_lock = 1, .is_usc = 1, ONE}, MPIDI_HINT_FAIR_LOCK,
     "one thread keeps the lock: configure a fair one, such as --with-thread-lock=ticket"},
    {{BIASED}, {CSYNC, ONE}, MPIDI_HINT_NONE, NULL},
    /* there is no other lock for hmcs-usc */
    {{BIASED}, {HMCS_USC, ONE}, MPIDI_HINT_LOCKQ_OR_VCIS, NULL},
    {{BIASED, .busiest = 9000}, {HMCS_USC, FOUR}, MPIDI_HINT_ONE_VCI, NULL},
    {{BIASED, .busiest = 7000}, {HMCS_USC, ALL}, MPIDI_HINT_LOCKQ, NULL},
    {{.acquired = 10000, .contended = 900, .bias = 4.0}, {PER_VCI, ONE}, MPIDI_HINT_NONE, NULL},
    {{CONTENDED, .bias = 2.0}, {LOCKQ, ONE}, MPIDI_HINT_NONE, NULL},
    /* a fair lock is worse when threads have no processor */
    {{CROWDED}, {PER_VCI, ONE}, MPIDI_HINT_CROWDED,
     "there are more threads than processors, and one keeps the lock: use fewer threads, "
     "or use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{CROWDED}, {LOCKQ, ONE}, MPIDI_HINT_CROWDED,
     "there are more threads than processors, and one keeps the lock: use fewer threads"},
    {{CROWDED}, {HMCS_USC, ONE}, MPIDI_HINT_CROWDED,
     "there are more threads than processors, and one keeps the lock: use fewer threads, "
     "or use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{CROWDED}, {CSYNC, ONE}, MPIDI_HINT_NONE, NULL},
    {{BIASED, .crowded = 2000}, {PER_VCI, ONE}, MPIDI_HINT_FAIR_LOCK, NULL},
    {{UNBIASED, .crowded = 4000}, {PER_VCI, ONE}, MPIDI_HINT_LOCKQ_OR_VCIS, NULL},
    /* global: one lock, which the program may choose */
    {{UNBIASED, .busiest = 10000}, {GLOBAL}, MPIDI_HINT_LOCKQ,
     "threads wait for the lock: configure --enable-thread-cs=lockq"},
    {{BIASED, .busiest = 10000}, {GLOBAL}, MPIDI_HINT_FAIR_LOCK,
     "one thread keeps the lock: use a fair one, such as MPIR_CVAR_CH4_THREAD_LOCK=ticket, "
     "or configure --enable-thread-cs=lockq"},
    {{BIASED, WASTED}, {GLOBAL}, MPIDI_HINT_FAIR_LOCK, NULL},
    {{CROWDED}, {GLOBAL}, MPIDI_HINT_CROWDED,
     "there are more threads than processors, and one keeps the lock: use fewer threads, "
     "or configure --enable-thread-cs=lockq"},
    {{UNBIASED, WASTED}, {GLOBAL}, MPIDI_HINT_POLLS,
     "polls keep threads from the lock: use MPIR_CVAR_CH4_THREAD_LOCK=clh-lpw, "
     "or configure --enable-thread-cs=lockq"},
    {{UNBIASED, .vain = 8000, .wasted = 3000}, {GLOBAL}, MPIDI_HINT_LOCKQ, NULL},
    {{UNBIASED, WASTED}, {GLOBAL, .has_low = 1}, MPIDI_HINT_LOCKQ, NULL},
    {{WASTED}, {GLOBAL, .has_low = 1}, MPIDI_HINT_POLLS,
     "polls keep threads from the lock: configure --enable-thread-cs=lockq"},
    /* operations are handed over */
    {{POSTED, .busiest = 10000}, {LOCKQ, ONE}, MPIDI_HINT_VCIS,
     "operations often find the VCI taken: raise MPIR_CVAR_CH4_NUM_VCIS and give each thread a "
     "communicator"},
    {{POSTED, .busiest = 7000}, {LOCKQ, FOUR}, MPIDI_HINT_VCIS, NULL},
    {{POSTED, .busiest = 9000}, {LOCKQ, FOUR, .busiest_vci = 3}, MPIDI_HINT_ONE_VCI,
     "nearly all goes through VCI 3: give each thread a communicator of its own"},
    {{POSTED, .busiest = 7000}, {LOCKQ, ALL}, MPIDI_HINT_NONE, NULL},
    {{POSTED, .contended = 5000, .bias = 4.0}, {LOCKQ, ALL}, MPIDI_HINT_FAIR_LOCK, NULL},
    {{POSTED, .contended = 5000, .bias = 4.0}, {LOCKQ, ONE}, MPIDI_HINT_VCIS, NULL},
    {{POSTED}, {OFFLOAD, ONE}, MPIDI_HINT_NONE, NULL},
    {{.issued = 10000, .posted = 4000}, {LOCKQ, ONE}, MPIDI_HINT_NONE, NULL},
    {{.issued = 1000, .posted = 1000}, {LOCKQ, ONE}, MPIDI_HINT_NONE, NULL},
    {{.issued = 10000, .delegated = 6000}, {CSYNC, ONE}, MPIDI_HINT_VCIS, NULL},
    /* polls */
    {{WASTED}, {LOCKQ, ONE}, MPIDI_HINT_NONE, NULL},
    {{WASTED}, {.is_lockq = 1, .has_lock = 1, .is_runtime = 1, ONE}, MPIDI_HINT_POLLS,
     "polls keep threads from the lock: use MPIR_CVAR_CH4_THREAD_PROGRESS=usc"},
    {{WASTED}, {PER_VCI, ONE}, MPIDI_HINT_POLLS,
     "polls keep threads from the lock: use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{WASTED}, {OFFLOAD, ONE}, MPIDI_HINT_POLLS,
     "polls keep threads from the lock: use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{WASTED}, {.is_lock = 1, .has_lock = 1, .is_runtime = 1, ONE}, MPIDI_HINT_POLLS,
     "polls keep threads from the lock: use MPIR_CVAR_CH4_THREAD_PROGRESS=usc, "
     "or use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{.vain = 8000, .wasted = 3000}, {PER_VCI, ONE}, MPIDI_HINT_NONE, NULL},
    {{.vain = 1000, .wasted = 1000}, {PER_VCI, ONE}, MPIDI_HINT_NONE, NULL},
    /* servers */
    {{.turns = 100000, .idle = 95000}, {OFFLOAD, ONE}, MPIDI_HINT_IDLE,
     "the server thread, which lockq does without, is mostly idle: use MPIR_CVAR_CH4_THREAD_CS=lockq"},
    {{.turns = 100000, .idle = 85000}, {OFFLOAD, ONE}, MPIDI_HINT_NONE, NULL},
    {{.turns = 100000, .idle = 95000}, {LOCKQ, ONE}, MPIDI_HINT_NONE, NULL},
    /* requests: windows of 64 messages of 16 threads are no reason */
    {{.dangling = 1024}, {LOCKQ, .vcis = 1, .most_vcis = MOST_VCIS, .threads = 16}, MPIDI_HINT_NONE,
     NULL},
    {{.dangling = 5000}, {LOCKQ, .vcis = 1, .most_vcis = MOST_VCIS, .threads = 16},
     MPIDI_HINT_DANGLING,
     "many completed requests wait for MPI_Wait or MPI_Test: complete them sooner"},
    {{.dangling = 1024}, {LOCKQ, .vcis = 1, .most_vcis = MOST_VCIS, .threads = 1},
     MPIDI_HINT_DANGLING, NULL},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void gives_the_hint(void **state)
{
    char text[BYTES];

    (void) state;
    for (size_t i = 0; i < ROWS; i++) {
        const row_t *r = &rows[i];
        MPIDI_hint_t hint = MPIDI_hint_choose(&r->seen, &r->has);

        MPIDI_hint_write(hint, &r->has, text, sizeof(text));
        if (hint != r->hint || (r->text && strcmp(text, r->text)))
            fail_msg("row %zu gives hint %d, '%s'", i, (int) hint, text);
    }
}

static void reaches_every_hint(void **state)
{
    unsigned reached = 0;

    (void) state;
    for (size_t i = 0; i < ROWS; i++)
        reached |= 1u << MPIDI_hint_choose(&rows[i].seen, &rows[i].has);
    assert_int_equal(reached, (2u << MPIDI_HINT_DANGLING) - 1);
}

/* A hint but "none" says what to do, and not what is already so. */
static void recommends_a_change(void **state)
{
    char text[BYTES];

    (void) state;
    for (size_t i = 0; i < ROWS; i++) {
        const row_t *r = &rows[i];

        MPIDI_hint_write(r->hint, &r->has, text, sizeof(text));
        if (r->hint)
            assert_true(strstr(text, ": ") && strstr(text, ": ")[2]);
        assert_true(strlen(text) < BYTES - 1);
        assert_false(r->has.is_lockq && strstr(text, "lockq"));
        assert_false(r->has.is_usc && strstr(text, "usc"));
        assert_false(r->has.has_low && strstr(text, "clh-lpw"));
        assert_false(r->has.is_global && (strstr(text, "THREAD_CS") || strstr(text, "PROGRESS")));
        assert_false(r->has.vcis == r->has.most_vcis && strstr(text, "NUM_VCIS"));
        assert_false(!r->has.has_lock && (strstr(text, "THREAD_LOCK") || strstr(text, "thread-lock")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_hint),
        cmocka_unit_test(reaches_every_hint),
        cmocka_unit_test(recommends_a_change)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

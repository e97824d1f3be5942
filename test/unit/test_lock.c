/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The lock interface of tsm_lock.h; built once for each lock of locks.def. */

#include "unit_lock.h"


#include "lock/tsm_lock.h"
#include "tsm_load.h"

static const int kind = TSM_LOCK_KIND;

#if TSM_LOCK_KIND == TSM_LOCK_KIND_CLH || TSM_LOCK_KIND == TSM_LOCK_KIND_CLH_LPW
#define HAS_CONTEXTS 1
#else
#define HAS_CONTEXTS 0
#endif

/* ---- the table ---- */

#undef TSM_LOCK_KIND

#define TSM_LOCK_KIND(NAME_, name_, number_, priority_, help_) \
    _Static_assert(TSM_LOCK_KIND_##NAME_ == number_, "locks.def and tsm_lock.h");
#include "lock/locks.def"
#undef TSM_LOCK_KIND

static const struct row {
    const char *name;
    int number;
    int priority;
    const char *help;
} rows[] = {
#define TSM_LOCK_KIND(NAME_, name_, number_, priority_, help_) \
    { #name_, number_, priority_, help_ },
#include "lock/locks.def"
#undef TSM_LOCK_KIND
};

static void test_table(void **state)
{
    int found = 0;

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(rows[i].number, i + 1);
        assert_null(strpbrk(rows[i].help, ",[]\""));
        if (rows[i].number != kind)
            continue;
        assert_string_equal(tsm_lock_name(), rows[i].name);
        assert_int_equal(TSM_LOCK_HAS_PRIORITY, rows[i].priority);
        found++;
    }
    assert_int_equal(found, 1);
}

/* ---- one lock, for the tests of unit_lock.h ---- */

static tsm_lock_t lock;

static void acquire(void *thread)
{
    (void) thread;
    tsm_lock_acquire(&lock);
}

static void acquire_low(void *thread)
{
    (void) thread;
    tsm_lock_acquire_low(&lock);
}

static void acquire_either(void *thread)
{
    if (++*(unsigned *) thread % 3 == 0)
        tsm_lock_acquire_low(&lock);
    else
        tsm_lock_acquire(&lock);
}

static int try(void *thread)
{
    (void) thread;
    return tsm_lock_try(&lock);
}

static int try_low(void *thread)
{
    (void) thread;
    return tsm_lock_try_low(&lock);
}

static int try_either(void *thread)
{
    return ++*(unsigned *) thread % 3 == 0 ? tsm_lock_try_low(&lock) : tsm_lock_try(&lock);
}

static void release(void *thread)
{
    (void) thread;
    tsm_lock_release(&lock);
}

static const unit_lock_t high = { unit_turn_begin, unit_turn_end, acquire, try, release };
static const unit_lock_t low = { unit_turn_begin, unit_turn_end, acquire_low, try_low, release };
static const unit_lock_t either = {
    unit_turn_begin, unit_turn_end, acquire_either, try_either, release
};

static int set_up(void **state)
{
    (void) state;
    memset((void *) &lock, 0xa5, sizeof(lock));
    return tsm_lock_init(&lock);
}

static int tear_down(void **state)
{
    (void) state;
    tsm_lock_destroy(&lock);
    return 0;
}

static void test_try(void **state)
{
    (void) state;
    unit_try(&high);
    unit_try(&low);
    unit_try(&either);
}

static void test_exclusion(void **state)
{
    (void) state;
    unit_exclusion(&high, unit_acquire_body, 60000);
    unit_exclusion(&low, unit_acquire_body, 30000);
}

static void test_exclusion_of_both(void **state)
{
    (void) state;
    unit_exclusion(&either, unit_acquire_body, 60000);
}

static void test_exclusion_with_try(void **state)
{
    (void) state;
    unit_exclusion(&high, unit_mixed_body, 30000);
    unit_exclusion(&either, unit_mixed_body, 30000);
}

static void test_on_one_processor(void **state)
{
    unit_guarded_t g = { .lock = &either, .rounds = unit_scaled(1000) };
    cpu_set_t all, one;

    (void) state;
    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    unit_team(16, unit_mixed_body, &g);
    sched_setaffinity(0, sizeof(all), &all);
    assert_int_equal(g.broken, 0);
    assert_int_equal(g.first, 16 * g.rounds);
}

static void test_held_at_any_step(void **state)
{
    (void) state;
    unit_held(&either);
}

/* ---- threads come and go ---- */

/* Contexts that threads have now. */
static uint32_t contexts_used(void)
{
#if HAS_CONTEXTS
    int rc;

    return tsm_lock_clh_pool_(&rc)->used;
#else
    return 0;
#endif
}

/* Hundreds of threads. The contexts that remain are counted; a leak checker finds anything else. */
static void test_come_and_go(void **state)
{
    unit_guarded_t g = { .lock = &either, .rounds = 5 };
    const int n = 50;

    (void) state;
    acquire(NULL);                      /* our own node stays */
    release(NULL);
    uint32_t before = contexts_used();
    const long batches = unit_scaled(60);
    for (long b = 0; b < batches; b++)
        unit_team(n, b % 2 ? unit_acquire_body : unit_mixed_body, &g);
    assert_int_equal(g.broken, 0);
    assert_int_equal(g.first, batches * n * g.rounds);
    assert_int_equal(contexts_used(), before);
}

static void late_destructor(void *arg)
{
    long *left = arg;

    tsm_lock_acquire(&lock);
    tsm_lock_release(&lock);
    if (--*left > 0)
        pthread_setspecific(*(pthread_key_t *) (left + 1), left);
}

/* A thread whose other destructors use the lock before and after ours. */
typedef struct late {
    long left;                          /* the destructor's; its key follows */
    pthread_key_t key;
} late_t;

static void *late_main(void *arg)
{
    late_t *late = arg;

    tsm_lock_acquire(&lock);
    tsm_lock_release(&lock);
    pthread_setspecific(late->key, late);
    return NULL;
}

static void test_used_by_destructors(void **state)
{
    late_t late[2];                     /* of these keys one may be older than the library's */
    pthread_t thread;

    (void) state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_key_create(&late[i].key, late_destructor), 0);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 2; k++) {
            late[k].left = 1 + i % 2;
            assert_int_equal(pthread_create(&thread, NULL, late_main, &late[k]), 0);
            assert_int_equal(pthread_join(thread, NULL), 0);
            assert_int_equal(late[k].left, 0);
        }
    }
    for (int i = 0; i < 2; i++)
        pthread_key_delete(late[i].key);
    assert_int_equal(tsm_lock_try(&lock), 1);
    tsm_lock_release(&lock);
}

/* ---- several locks ---- */

/* ThreadSanitizer ends at 64 mutexes of one thread. */
#ifdef __SANITIZE_THREAD__
#define MANY 61
#else
#define MANY 200
#endif

static tsm_lock_t many[MANY];

static void tries_many(int id, void *arg)
{
    int *got = arg;

    (void) id;
    for (int i = 0; i < MANY; i++)
        *got += tsm_lock_try_low(&many[i]);
}

/* One thread holds more locks than a word has bits, and releases them in another order. */
static void test_many_held(void **state)
{
    (void) state;
    for (int i = 0; i < MANY; i++)
        assert_int_equal(tsm_lock_init(&many[i]), 0);
    for (int stride = 1; stride < 12; stride += 2) {
        int got = 0;
        for (int i = 0; i < MANY; i++) {
            if (i % 3)
                tsm_lock_acquire(&many[i]);
            else
                tsm_lock_acquire_low(&many[i]);
        }
        unit_team(1, tries_many, &got);
        assert_int_equal(got, 0);
        for (int i = 0; i < MANY; i++)
            tsm_lock_release(&many[(i * (stride % 5 == 0 ? 1 : stride)) % MANY]);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(tsm_lock_try(&many[i]), 1);
        tsm_lock_release(&many[i]);
        tsm_lock_destroy(&many[i]);
    }
}

#define SEVERAL 8

typedef struct guarded {
    tsm_lock_t lock;
    long first, second, broken;
} guarded_t;

typedef struct several {
    guarded_t g[SEVERAL];
    long rounds;
} several_t;

/* Ascending acquisition; release in an order that changes and is mostly not the reverse. */
static void several_body(int id, void *arg)
{
    static const int stride[] = { 1, 3, 5, 7 };
    several_t *several = arg;

    for (long i = 0; i < several->rounds; i++) {
        for (int k = 0; k < SEVERAL; k++) {
            guarded_t *g = &several->g[k];
            if ((i + id + k) % 3)
                tsm_lock_acquire(&g->lock);
            else
                tsm_lock_acquire_low(&g->lock);
            g->broken += g->first++ != g->second++;
        }
        for (int k = 0; k < SEVERAL; k++) {
            long j = (id + i + k * stride[i % 4]) % SEVERAL;
            tsm_lock_release(&several->g[j].lock);
        }
    }
}

static void test_several_held(void **state)
{
    static several_t several;
    const int n = 3;

    (void) state;
    memset((void *) &several, 0, sizeof(several));
    for (int k = 0; k < SEVERAL; k++)
        assert_int_equal(tsm_lock_init(&several.g[k].lock), 0);
    several.rounds = unit_scaled(3000);
    unit_team(n, several_body, &several);
    for (int k = 0; k < SEVERAL; k++) {
        assert_int_equal(several.g[k].broken, 0);
        assert_int_equal(several.g[k].first, several.rounds * n);
        tsm_lock_destroy(&several.g[k].lock);
    }
}

/* ---- two priorities ---- */

#if TSM_LOCK_HAS_PRIORITY

/* The first two are low. */
static void acquire_by_id(void *thread)
{
    if (*(unsigned *) thread < 2)
        tsm_lock_acquire_low(&lock);
    else
        tsm_lock_acquire(&lock);
}

static const unit_lock_t by_id = { unit_turn_begin, unit_turn_end, acquire_by_id, try, release };

/* Two of each priority, so that at most two wait at a gate, behind a holder of either one: the high
 * ones arrive last and go first. Returns how many low ones a high one waited for. */
static int lows_before_highs(int held_low)
{
    unit_line_t line = { .lock = &by_id };
    tsm_clh_lpw_t *inner = &lock.gated.lock;
    int lows = 0, worst = 0;

    if (held_low)
        acquire_low(NULL);
    else
        acquire(NULL);
    for (int id = 0; id < 4; id++) {
        tsm_clh_t *queue = id < 2 ? &inner->low : &inner->high;
        uint64_t before = tsm_load(&queue->tail, TSM_ACQUIRE);
        uint32_t tickets = tsm_load(&inner->filter.next, TSM_ACQUIRE);
        unit_line_add(&line, id);
        unit_wait_until(tsm_load(&queue->tail, TSM_ACQUIRE) != before);
        /* the first high one behind a low holder: what is promised begins with its ticket */
        if (held_low && id == 2)
            unit_wait_until(tsm_load(&inner->filter.next, TSM_ACQUIRE) != tickets);
    }
    release(NULL);
    unit_line_end(&line);
    for (int i = 0; i < 4; i++) {
        if (line.order[i] < 2)
            lows++;
        else if (lows > worst)
            worst = lows;
    }
    return worst;
}

static void test_high_overtakes_low(void **state)
{
    (void) state;
    /* the order of the lock itself: its gates let low threads pass after a quantum */
    tsm_load_override(0);
    for (long round = 0; round < unit_scaled(200); round++) {
        /* along the queue of the high ones; or one low one was faster at the filter */
        assert_int_equal(lows_before_highs(0), 0);
        assert_true(lows_before_highs(1) <= 1);
    }
    tsm_load_override(-1);
}

#else

/* Without priorities there is one kind of acquire. */
static void test_high_overtakes_low(void **state)
{
    (void) state;
    assert_int_equal(tsm_lock_try_low(&lock), 1);
    assert_int_equal(tsm_lock_try(&lock), 0);
    tsm_lock_release(&lock);
}

#endif

/* ---- the end of a node's tickets ---- */

#if HAS_CONTEXTS
static void test_worn_context(void **state)
{
    (void) state;
    acquire(NULL);
    TSM_LOCK_NODE_TYPE_ *node = lock.owner;
    const tsm_clh_node_t *worn = node->own.node;
    release(NULL);

    node->own.ticket = node->own.ticket + (UINT64_C(1) << 63);
    tsm_store(&node->own.node->released, node->own.ticket, TSM_RELAXED);
    acquire(NULL);
    assert_ptr_equal(lock.owner, node);
    assert_ptr_equal(node->own.node, worn);
    release(NULL);
    assert_ptr_not_equal(node->own.node, worn);
    assert_false(tsm_clh_context_worn(&node->own));
    unit_exclusion(&either, unit_mixed_body, 600);
}
#endif

#define TEST(name_) cmocka_unit_test_setup_teardown(test_##name_, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        TEST(try), TEST(high_overtakes_low),
        cmocka_unit_test(test_many_held), cmocka_unit_test(test_several_held),
        TEST(exclusion), TEST(exclusion_of_both), TEST(exclusion_with_try),
        TEST(on_one_processor), TEST(come_and_go), TEST(used_by_destructors),
        TEST(held_at_any_step),
#if HAS_CONTEXTS
        TEST(worn_context),
#endif
    };
    /* for HMCS with hwloc: two leaves for processors 0 and 1, on two caches, whatever is here */
    setenv("HWLOC_SYNTHETIC", "l3:2 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)", 0);
    return cmocka_run_group_tests_name(tsm_lock_name(), tests, NULL, NULL);
}

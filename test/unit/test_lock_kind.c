/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The table of locks of tsm_lock_kind.h: all the locks of locks.def in one program. What each lock
 * does alone is tested in test_lock.c. */

#include "unit_lock.h"

#include <ctype.h>

#include "lock/tsm_lock_kind.h"

#define TSM_LOCK_KIND(NAME_, name_, number_, priority_, help_) #name_,
static const char *const names[] = {
#include "lock/locks.def"
};
#undef TSM_LOCK_KIND

#define NAMES (sizeof(names) / sizeof(names[0]))

/* ---- one lock, for the tests of unit_lock.h ---- */

static const tsm_lock_kind_t *kind;
static void *lock;

static void acquire(void *thread)
{
    kind->acquire(lock, ++*(unsigned *) thread % 3 == 0);
}

static int try(void *thread)
{
    return kind->try(lock, ++*(unsigned *) thread % 3 == 0);
}

static void release(void *thread)
{
    (void) thread;
    kind->release(lock);
}

static const unit_lock_t chosen = { unit_turn_begin, unit_turn_end, acquire, try, release };

static void test_names(void **state)
{
    char upper[16], all[256] = "";

    (void) state;
    for (size_t i = 0; i < NAMES; i++) {
        for (size_t k = 0; k <= strlen(names[i]); k++)
            upper[k] = (char) toupper(names[i][k]);
        assert_non_null(tsm_lock_kind(names[i]));
        assert_string_equal(tsm_lock_kind(names[i])->name, names[i]);
        assert_int_equal(tsm_lock_kind(names[i])->number, i + 1);
        assert_ptr_equal(tsm_lock_kind(upper), tsm_lock_kind(names[i]));
        strcat(strcat(all, i ? ", " : ""), names[i]);
    }
    assert_string_equal(tsm_lock_kind_names(), all);
    assert_null(tsm_lock_kind("mc"));
    assert_null(tsm_lock_kind(""));
}

static void test_exclusion(void **state)
{
    (void) state;
    for (size_t i = 0; i < NAMES; i++) {
        kind = tsm_lock_kind(names[i]);
        lock = kind->create();
        assert_non_null(lock);
        unit_try(&chosen);
        unit_exclusion(&chosen, unit_mixed_body, 10000);
        kind->destroy(lock);
    }
}

/* A thread holds one of each at the same time, and gives them back in any order. */
static void test_all_at_once(void **state)
{
    void *all[NAMES];

    (void) state;
    for (size_t i = 0; i < NAMES; i++) {
        all[i] = tsm_lock_kind(names[i])->create();
        tsm_lock_kind(names[i])->acquire(all[i], 0);
    }
    for (size_t i = 0; i < NAMES; i++)
        assert_int_equal(tsm_lock_kind(names[i])->try(all[i], 0), 0);
    for (size_t i = 0; i < NAMES; i++) {
        size_t k = (2 * i + 1) % NAMES;
        tsm_lock_kind(names[k])->release(all[k]);
        assert_int_equal(tsm_lock_kind(names[k])->try(all[k], 0), 1);
        tsm_lock_kind(names[k])->release(all[k]);
        tsm_lock_kind(names[k])->destroy(all[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_all_at_once),
    };

    tsm_lock_hmcs_levels(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* A child of fork that calls exit ends, also if the mutex of tsm_lock.c was taken at the fork: in the
 * child no thread will ever release it. */

#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "lock/tsm_lock.c"

static void test_child_exits(void **state)
{
    int status = 0;
    pid_t child;

    (void) state;
    pthread_mutex_lock(&making);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(10);
        exit(0);
    }
    pthread_mutex_unlock(&making);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_exits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

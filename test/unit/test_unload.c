/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* src/sync in a library that is unloaded while a thread that has used it lives on: when that thread
 * ends, no destructor is called whose code is gone. A process that fails this crashes. */

#include "unit.h"

#include <dlfcn.h>
#include <string.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable() ((void) 0)
#define __lsan_enable() ((void) 0)
#endif

static struct {
    void (*use)(void);                  /* of unload.c */
    pthread_barrier_t used, unloaded;
} plan;

/* What it owns then leaks, since the library that knows of it is gone. */
static void *uses_it(void *arg)
{
    __lsan_disable();
    plan.use();
    __lsan_enable();
    pthread_barrier_wait(&plan.used);
    pthread_barrier_wait(&plan.unloaded);
    return arg;
}

static void test_unloaded_before_a_thread_ends(void **state)
{
    (void) state;
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(UNIT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        pthread_t thread;

        if (library == NULL)
            fail_msg("%s", dlerror());
        void *use = dlsym(library, "unload_use");
        assert_non_null(use);
        memcpy(&plan.use, &use, sizeof(use));   /* ISO C has no conversion */
        pthread_barrier_init(&plan.used, NULL, 2);
        pthread_barrier_init(&plan.unloaded, NULL, 2);
        assert_int_equal(pthread_create(&thread, NULL, uses_it, NULL), 0);
        pthread_barrier_wait(&plan.used);
        assert_int_equal(dlclose(library), 0);
        assert_null(dlopen(UNIT_LIBRARY, RTLD_NOW | RTLD_NOLOAD));
        pthread_barrier_wait(&plan.unloaded);
        assert_int_equal(pthread_join(thread, NULL), 0);
        pthread_barrier_destroy(&plan.used);
        pthread_barrier_destroy(&plan.unloaded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unloaded_before_a_thread_ends),
    };

    return cmocka_run_group_tests_name("unload", tests, NULL, NULL);
}

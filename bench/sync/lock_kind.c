/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One lock behind the interface of tsm_lock.h, inlined into the loops of lock_kinds.c; LOOPS is the
 * name of what this file defines. TSM_LOCK_KIND 0 is the bare Pthread mutex. */
#include "lock_kind.h"

#if TSM_LOCK_KIND == 0
typedef pthread_mutex_t tsm_lock_t;
#define tsm_lock_init(lock_) pthread_mutex_init(lock_, NULL)
#define tsm_lock_destroy(lock_) pthread_mutex_destroy(lock_)
#define tsm_lock_acquire(lock_) pthread_mutex_lock(lock_)
#define tsm_lock_release(lock_) pthread_mutex_unlock(lock_)
#else
#include "lock/tsm_lock.h"
#endif

/* No state passes from one call to the next. */
#define KEEP() __asm__ __volatile__("" ::: "memory")

static void *create(void)
{
    tsm_lock_t *lock = bench_alloc(sizeof(*lock));

    if (tsm_lock_init(lock) != 0)
        bench_die(1, "cannot make a lock");
    return lock;
}

static void destroy(void *lock)
{
    tsm_lock_destroy((tsm_lock_t *) lock);
    bench_free_all();
}

static double pairs(void *lock, int n)
{
    double start = bench_now();

    for (int i = 0; i < n; i++) {
        tsm_lock_acquire((tsm_lock_t *) lock);
        KEEP();
        tsm_lock_release((tsm_lock_t *) lock);
        KEEP();
    }
    return bench_now() - start;
}

static uint64_t contend(void *lock, bench_team_t *team, uint64_t *inside, uint64_t cs, uint64_t ps)
{
    uint64_t count = 0;

    while (!bench_stopped(team)) {
        tsm_lock_acquire((tsm_lock_t *) lock);
        ++*inside;
        bench_work(cs);
        tsm_lock_release((tsm_lock_t *) lock);
        count++;
        bench_work(ps);
    }
    return count;
}

const lock_loops_t LOOPS = { create, destroy, pairs, contend };

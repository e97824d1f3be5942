/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What the tests of single locks share: mutual exclusion, order, threads that come and go, threads
 * that are held between two steps. A test gives its lock as a unit_lock_t over its own static
 * variables. Include this file before the lock. */

#ifndef UNIT_LOCK_H_INCLUDED
#define UNIT_LOCK_H_INCLUDED

#include "unit.h"
#include "unit_aborts.h"
#include "unit_fault.h"

#include <sched.h>
#include <string.h>

typedef struct unit_lock {
    void *(*begin)(int id);             /* what a thread needs of its own, in memory of its own */
    void (*end)(void *thread);          /* give it back: the thread leaves */
    void (*acquire)(void *thread);
    int (*try)(void *thread);
    void (*release)(void *thread);
} unit_lock_t;

/* For locks with two priorities: what a thread needs of its own is its turn, which chooses one. */
static inline void *unit_turn_begin(int id)
{
    unsigned *turn = malloc(sizeof(*turn));

    *turn = (unsigned) id;
    return turn;
}

static inline void unit_turn_end(void *thread)
{
    free(thread);
}

/* Two plain counters that only mutual exclusion keeps equal. */
typedef struct unit_guarded {
    const unit_lock_t *lock;
    long rounds;
    long first;
    long second;
    long broken;
} unit_guarded_t;

/* Call with the lock held. */
static inline void unit_bump(unit_guarded_t *g)
{
    if (g->first != g->second)
        g->broken++;
    g->first++;
    if (g->first % 64 == 0)
        sched_yield();          /* yield inside the critical section, too */
    g->second++;
}

static inline void unit_acquire_body(int id, void *arg)
{
    unit_guarded_t *g = arg;
    void *thread = g->lock->begin(id);

    for (long i = 0; i < g->rounds; i++) {
        g->lock->acquire(thread);
        unit_bump(g);
        g->lock->release(thread);
    }
    g->lock->end(thread);
}

static inline void unit_mixed_body(int id, void *arg)
{
    unit_guarded_t *g = arg;
    void *thread = g->lock->begin(id);

    for (long i = 0; i < g->rounds; i++) {
        if ((id + i) % 2) {
            while (!g->lock->try(thread))
                sched_yield();
        } else {
            g->lock->acquire(thread);
        }
        unit_bump(g);
        g->lock->release(thread);
    }
    g->lock->end(thread);
}

static inline void unit_exclusion(const unit_lock_t *lock, unit_body_t body, long total)
{
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
        int n = unit_team_sizes[s];
        unit_guarded_t g = { .lock = lock, .rounds = unit_scaled(n < 8 ? total : total / 3) / n };

        unit_team(n, body, &g);
        assert_int_equal(g.broken, 0);
        assert_int_equal(g.first, g.rounds * n);
        assert_int_equal(g.second, g.rounds * n);
    }
}

static inline void unit_come_and_go(const unit_lock_t *lock)
{
    const long batches = unit_scaled(120);
    const int n = 16;
    unit_guarded_t g = { .lock = lock, .rounds = 5 };

    for (long b = 0; b < batches; b++)
        unit_team(n, b % 2 ? unit_acquire_body : unit_mixed_body, &g);
    assert_int_equal(g.broken, 0);
    assert_int_equal(g.first, batches * n * g.rounds);
}

/* More tries than there is room for anything, so that one that fails must leave nothing behind. */
static inline void unit_try_fails_body(int id, void *arg)
{
    unit_guarded_t *g = arg;
    void *thread = g->lock->begin(id);

    for (int i = 0; i < 1000; i++)
        g->first += g->lock->try(thread);
    g->lock->end(thread);
}

static inline void unit_try(const unit_lock_t *lock)
{
    unit_guarded_t g = { .lock = lock };
    void *thread = lock->begin(0);

    for (int by_try = 0; by_try < 2; by_try++) {
        if (by_try)
            assert_int_equal(lock->try(thread), 1);
        else
            lock->acquire(thread);
        unit_team(1, unit_try_fails_body, &g);
        assert_int_equal(g.first, 0);
        lock->release(thread);
    }
    assert_int_equal(lock->try(thread), 1);
    lock->release(thread);
    lock->end(thread);
}

/* The order in which threads that queue one after the other get a lock. */
#define UNIT_LINE_MAX 16

typedef struct unit_line unit_line_t;

typedef struct unit_queuer {
    unit_line_t *line;
    pthread_t thread;
    int id;
} unit_queuer_t;

struct unit_line {
    const unit_lock_t *lock;
    int arrived;
    int served;
    int order[UNIT_LINE_MAX];
    unit_queuer_t queuer[UNIT_LINE_MAX];
};

static inline void *unit_queuer_main(void *arg)
{
    unit_queuer_t *queuer = arg;
    const unit_lock_t *lock = queuer->line->lock;
    void *thread = lock->begin(queuer->id);

    lock->acquire(thread);
    queuer->line->order[queuer->line->served++] = queuer->id;
    lock->release(thread);
    lock->end(thread);
    return NULL;
}

/* Start a thread that acquires once; the caller then waits until it is in the queue. */
static inline void unit_line_add(unit_line_t *line, int id)
{
    unit_queuer_t *queuer = &line->queuer[line->arrived++];

    queuer->line = line;
    queuer->id = id;
    assert_int_equal(pthread_create(&queuer->thread, NULL, unit_queuer_main, queuer), 0);
}

/* All of them have been served and are gone. */
static inline void unit_line_end(unit_line_t *line)
{
    for (int i = 0; i < line->arrived; i++)
        assert_int_equal(pthread_join(line->queuer[i].thread, NULL), 0);
    assert_int_equal(line->served, line->arrived);
}

/* A lock in its own allocation. */
typedef struct unit_own_lock {
    size_t size;
    void (*init)(void *lock);
    void (*acquire)(void *lock);
    void (*release)(void *lock);
} unit_own_lock_t;

typedef struct unit_shared {
    const unit_own_lock_t *kind;
    int users;
    max_align_t lock[];
} unit_shared_t;

static inline void unit_shared_body(int id, void *arg)
{
    unit_shared_t *shared = arg;
    int users;

    (void) id;
    shared->kind->acquire(shared->lock);
    users = --shared->users;
    shared->kind->release(shared->lock);
    if (users == 0)
        free(shared);
}

/* The last holder frees the lock: no release may touch it then. */
static inline void unit_last_user_frees(const unit_own_lock_t *kind)
{
    const int n = 6;

    for (long i = 0; i < unit_scaled(400); i++) {
        unit_shared_t *shared = malloc(sizeof(*shared) + kind->size);
        shared->kind = kind;
        shared->users = n;
        kind->init(shared->lock);
        unit_team(n, unit_shared_body, shared);
    }
}

#define unit_wait_until(condition) \
    do { \
        while (!(condition)) \
            sched_yield(); \
    } while (0)

/* Hold thread 0 before its rounds-th atomic access; the others go on. */
static inline void unit_held_body(int id, void *arg)
{
    unit_guarded_t *g = arg;
    void *thread = g->lock->begin(id);

    if (id == 0)
        unit_hold_in = g->rounds;
    for (int i = 0; i < 12; i++) {
        if (i % 3 == 0) {
            while (!g->lock->try(thread))
                sched_yield();
        } else {
            g->lock->acquire(thread);
        }
        unit_bump(g);
        g->lock->release(thread);
    }
    g->lock->end(thread);
}

static inline void unit_held(const unit_lock_t *lock)
{
    const int n = 4;

    for (long step = 1; step <= 60; step++) {
        unit_guarded_t g = { .lock = lock, .rounds = step };
        unit_team(n, unit_held_body, &g);
        assert_int_equal(g.broken, 0);
        assert_int_equal(g.first, 12 * n);
        assert_int_equal(g.second, 12 * n);
    }
}

#endif /* UNIT_LOCK_H_INCLUDED */

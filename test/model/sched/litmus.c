/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Tests of the checker itself: small programs whose outcomes in C11 are known. -DTEST_name selects one.
 * With random seeds, its last assertion, MUST, fails for one outcome: the Makefile lists where C11
 * forbids that outcome, so that the checker must be silent, and where C11 allows it, so that the
 * checker must find it. The enumeration compares the set of outcomes: it must reach each of those in
 * ALLOWED, and no other. */

#include "client.h"
#include "tsm_atomic.h"

#include <sched.h>

/* not every test needs all */
static TSM_ATOMIC(int) x __attribute__((unused)), y __attribute__((unused));
static int a, b, c, d, plain;

#ifdef TSM_MODEL
int model_outcome;
#endif

#define THREAD(name_) static void *name_(void *arg)

#if defined(TEST_mp_relaxed) || defined(TEST_mp_release) || defined(TEST_mp_acqrel)
/* message passing */
#ifdef TEST_mp_relaxed
#define WRITE TSM_RELAXED
#define READ TSM_RELAXED
#elif defined(TEST_mp_release)
#define WRITE TSM_RELEASE
#define READ TSM_RELAXED
#else
#define WRITE TSM_RELEASE
#define READ TSM_ACQUIRE
#endif
THREAD(first)
{
    tsm_store(&x, 1, TSM_RELAXED);
    tsm_store(&y, 1, WRITE);
    return arg;
}

THREAD(second)
{
    a = tsm_load(&y, READ);
    b = tsm_load(&x, TSM_RELAXED);
    return arg;
}
#define BODIES first, second
#define MUST !(a == 1 && b == 0)
#define OUTCOME 10 * a + b
#ifdef TEST_mp_acqrel
#define ALLOWED "0 1 11"
#else
#define ALLOWED "0 1 10 11"
#endif

#elif defined(TEST_mp_plain)
/* message passing of plain data without an order: a race */
THREAD(first)
{
    plain = 1;
    tsm_store(&y, 1, TSM_RELAXED);
    return arg;
}

THREAD(second)
{
    if (tsm_load(&y, TSM_ACQUIRE))
        a = plain;
    return arg;
}
#define BODIES first, second
#define MUST a <= 1

#elif defined(TEST_sb_acqrel) || defined(TEST_sb_sc)
/* store buffering */
#ifdef TEST_sb_sc
#define WRITE TSM_SEQ_CST
#define READ TSM_SEQ_CST
#else
#define WRITE TSM_RELEASE
#define READ TSM_ACQUIRE
#endif
THREAD(first)
{
    tsm_store(&x, 1, WRITE);
    a = tsm_load(&y, READ);
    return arg;
}

THREAD(second)
{
    tsm_store(&y, 1, WRITE);
    b = tsm_load(&x, READ);
    return arg;
}
#define BODIES first, second
#define MUST !(a == 0 && b == 0)
#define OUTCOME 10 * a + b
#ifdef TEST_sb_sc
#define ALLOWED "1 10 11"
#else
#define ALLOWED "0 1 10 11"
#endif

#elif defined(TEST_iriw_acqrel) || defined(TEST_iriw_sc)
/* independent reads of independent writes */
#ifdef TEST_iriw_sc
#define WRITE TSM_SEQ_CST
#define READ TSM_SEQ_CST
#else
#define WRITE TSM_RELEASE
#define READ TSM_ACQUIRE
#endif
THREAD(first)
{
    tsm_store(&x, 1, WRITE);
    return arg;
}

THREAD(second)
{
    tsm_store(&y, 1, WRITE);
    return arg;
}

THREAD(third)
{
    a = tsm_load(&x, READ);
    b = tsm_load(&y, READ);
    return arg;
}

THREAD(fourth)
{
    c = tsm_load(&y, READ);
    d = tsm_load(&x, READ);
    return arg;
}
#define BODIES first, second, third, fourth
#define MUST !(a == 1 && b == 0 && c == 1 && d == 0)
#define OUTCOME 1000 * a + 100 * b + 10 * c + d
#define ALL_BUT_ONE "0 1 10 11 100 101 110 111 1000 1001 1011 1100 1101 1110 1111"
#ifdef TEST_iriw_sc
#define ALLOWED ALL_BUT_ONE
#else
#define ALLOWED ALL_BUT_ONE " 1010"
#endif

#elif defined(TEST_early_relaxed) || defined(TEST_early_unreleased) || defined(TEST_early_acquire)
/* a seq_cst load may come before an earlier load, unless that acquires what was released */
#ifdef TEST_early_relaxed
#define READ TSM_RELAXED
#else
#define READ TSM_ACQUIRE
#endif
#ifdef TEST_early_unreleased
#define WRITE TSM_RELAXED
#else
#define WRITE TSM_RELEASE
#endif
static TSM_ATOMIC(int) z;

THREAD(first)
{
    tsm_store(&x, 1, TSM_SEQ_CST);
    a = tsm_load(&y, TSM_SEQ_CST);
    return arg;
}

THREAD(second)
{
    tsm_store(&y, 1, TSM_SEQ_CST);
    tsm_store(&z, 1, WRITE);
    return arg;
}

THREAD(third)
{
    b = tsm_load(&z, READ);
    c = tsm_load(&x, TSM_SEQ_CST);
    return arg;
}
#define BODIES first, second, third
#define MUST !(a == 0 && b == 1 && c == 0)
#define OUTCOME 100 * a + 10 * b + c
#ifdef TEST_early_acquire
#define ALLOWED "0 1 11 100 101 110 111"
#else
#define ALLOWED "0 1 10 11 100 101 110 111"
#endif

#elif defined(TEST_2w_release) || defined(TEST_2w_sc)
/* two writes to each of two locations: can both first ones be the last in their order? */
#ifdef TEST_2w_sc
#define WRITE TSM_SEQ_CST
#else
#define WRITE TSM_RELEASE
#endif
THREAD(first)
{
    tsm_store(&x, 1, WRITE);
    tsm_store(&y, 2, WRITE);
    return arg;
}

THREAD(second)
{
    tsm_store(&y, 1, WRITE);
    tsm_store(&x, 2, WRITE);
    return arg;
}
#define BODIES first, second
#define MUST !(tsm_load(&x, TSM_RELAXED) == 1 && tsm_load(&y, TSM_RELAXED) == 1)
#define OUTCOME 10 * tsm_load(&x, TSM_RELAXED) + tsm_load(&y, TSM_RELAXED)
#ifdef TEST_2w_sc
#define ALLOWED "12 21 22"
#else
#define ALLOWED "11 12 21 22"
#endif

#elif defined(TEST_coherence)
/* one thread never sees a location go back, and a write comes behind what was seen before */
THREAD(first)
{
    tsm_store(&x, 1, TSM_RELAXED);
    tsm_store(&x, 2, TSM_RELAXED);
    return arg;
}

THREAD(second)
{
    a = tsm_load(&x, TSM_RELAXED);
    b = tsm_load(&x, TSM_RELAXED);
    if (b == 2)
        tsm_store(&x, 3, TSM_RELAXED);
    return arg;
}
#define BODIES first, second
#define MUST a <= b && (b != 2 || tsm_load(&x, TSM_RELAXED) == 3)
#define OUTCOME 100 * a + 10 * b + tsm_load(&x, TSM_RELAXED)
#define ALLOWED "2 12 23 112 123 223"

#elif defined(TEST_release_sequence) || defined(TEST_release_broken)
/* a read-modify-write carries on a release sequence, a store of another thread does not */
THREAD(first)
{
    tsm_store(&x, 1, TSM_RELAXED);
    tsm_store(&y, 1, TSM_RELEASE);
    return arg;
}

THREAD(second)
{
#ifdef TEST_release_broken
    if (tsm_load(&y, TSM_RELAXED) == 1)
        tsm_store(&y, 2, TSM_RELAXED);
#else
    int one = 1;
    tsm_cas(&y, &one, 2, TSM_RELAXED, TSM_RELAXED);
#endif
    return arg;
}

THREAD(third)
{
    a = tsm_load(&y, TSM_ACQUIRE);
    b = tsm_load(&x, TSM_RELAXED);
    return arg;
}
#define BODIES first, second, third
#define MUST !(a == 2 && b == 0)
#define OUTCOME 10 * a + b
#ifdef TEST_release_broken
#define ALLOWED "0 1 11 20 21"
#else
#define ALLOWED "0 1 11 21"
#endif

#elif defined(TEST_rmw)
/* read-modify-writes lose nothing, in whatever order */
THREAD(first)
{
    tsm_fetch_add(&x, 1, TSM_RELAXED);
    tsm_fetch_add(&x, 1, TSM_RELAXED);
    return arg;
}

THREAD(second)
{
    for (int seen = tsm_load(&x, TSM_RELAXED);
         !tsm_cas(&x, &seen, seen + 1, TSM_RELAXED, TSM_RELAXED);)
        sched_yield();
    return arg;
}
#define BODIES first, second, second
#define MUST tsm_load(&x, TSM_RELAXED) == 4
#define OUTCOME tsm_load(&x, TSM_RELAXED)
#define ALLOWED "4"

#elif defined(TEST_mutex)
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

THREAD(first)
{
    pthread_mutex_lock(&mutex);
    plain++;
    pthread_mutex_unlock(&mutex);
    if (pthread_mutex_trylock(&mutex) == 0) {
        plain += 0;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}
#define BODIES first, first, first
#define MUST plain == 3
#define OUTCOME plain
#define ALLOWED "3"

#elif defined(TEST_use_after_free)
static TSM_ATOMIC(TSM_ATOMIC(int) *) shared;

THREAD(first)
{
    TSM_ATOMIC(int) *p = malloc(sizeof(*p));
    tsm_store(p, 0, TSM_RELAXED);
    tsm_store(&shared, p, TSM_RELEASE);
    while (!tsm_load(p, TSM_ACQUIRE))
        sched_yield();
    free((void *) p);
    return arg;
}

THREAD(second)
{
    TSM_ATOMIC(int) *p;
    while (!(p = tsm_load(&shared, TSM_ACQUIRE)))
        sched_yield();
    tsm_store(p, 1, TSM_RELEASE);
    a = tsm_load(p, TSM_RELAXED);       /* too late */
    return arg;
}
#define BODIES first, second
#define MUST 1

#elif defined(TEST_deadlock)
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

THREAD(first)
{
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&two);
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
    return arg;
}

THREAD(second)
{
    pthread_mutex_lock(&two);
    pthread_mutex_lock(&one);
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&two);
    return arg;
}
#define BODIES first, second
#define MUST 1

#elif defined(TEST_livelock)
THREAD(first)
{
    while (!tsm_load(&x, TSM_RELAXED))
        sched_yield();
    return arg;
}
#define BODIES first
#define MUST 1

#else
#error "no such test"
#endif

#if defined(TSM_MODEL) && defined(ALLOWED)
const char *const model_outcomes = ALLOWED;
#endif

int main(void)
{
    void *(*const body[])(void *) = { BODIES };

    a = b = c = d = plain = 0;
    client_team((int) (sizeof(body) / sizeof(body[0])), body);
#ifdef ALLOWED
    if (model_enumerates) {
        model_outcome = OUTCOME;
        return 0;
    }
#endif
    assert(MUST);
    return 0;
}

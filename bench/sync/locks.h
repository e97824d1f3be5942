/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Every lock behind the same four functions, lk_NAME_create, _context, _acquire and _release, which
 * are inlined alike. A table of them serves loops that spend their time in the hand-over. */
#ifndef BENCH_SYNC_LOCKS_H_INCLUDED
#define BENCH_SYNC_LOCKS_H_INCLUDED

#include "common.h"
#include "combine/tsm_gated_dsm_synch.h"
#include "lock/tsm_adaptive.h"
#include "lock/tsm_clh.h"
#include "lock/tsm_clh_lpw.h"
#include "lock/tsm_futex_lock.h"
#include "lock/tsm_gated.h"
#include "lock/tsm_hmcs.h"
#include "lock/tsm_hyblock.h"
#include "lock/tsm_mcs.h"
#include "lock/tsm_mutex.h"
#include "lock/tsm_ticket.h"

#ifdef BENCH_HAVE_CK
#include <ck_spinlock.h>
#endif

/* The names of the locks and their libraries. pthread comes first: ratios refer to it. */
#define BENCH_LOCKS_OURS(X) \
    X(pthread, "libc") X(mutex, "tsm") X(futex_lock, "tsm") X(ticket, "tsm") X(clh, "tsm") \
    X(clh_lpw, "tsm") X(clh_lpw_low, "tsm") X(mcs, "tsm") X(hmcs, "tsm") X(hyblock, "tsm") \
    X(dsm_lock, "tsm") X(adaptive, "tsm") X(ticket_gate, "tsm") X(clh_gate, "tsm") \
    X(clh_lpw_gate, "tsm") X(clh_lpw_low_gate, "tsm") X(mcs_gate, "tsm") X(hmcs_gate, "tsm") \
    X(hyblock_gate, "tsm") X(dsm_lock_gate, "tsm")
#ifdef BENCH_HAVE_CK
#define BENCH_LOCKS_CK(X) X(ck_ticket, "ck") X(ck_clh, "ck") X(ck_mcs, "ck")
#else
#define BENCH_LOCKS_CK(X)
#endif
#define BENCH_LOCKS(X) BENCH_LOCKS_OURS(X) BENCH_LOCKS_CK(X)

/* A lock of a plain type; set_up_ prepares it. */
#define LK_CREATE(name_, type_, set_up_) \
    BENCH_SHARED void *lk_##name_##_create(void) \
    { \
        type_ *lock = bench_alloc(sizeof(*lock)); \
        set_up_; \
        return lock; \
    }

/* The part of a thread: it serves any lock of the kind, one at a time. */
#define LK_CONTEXT(name_, type_, set_up_) \
    BENCH_SHARED void *lk_##name_##_context(void) \
    { \
        type_ *context = bench_alloc(sizeof(*context)); \
        set_up_; \
        return context; \
    }

#define LK_NO_CONTEXT(name_) \
    BENCH_SHARED void *lk_##name_##_context(void) \
    { \
        return NULL; \
    }

#define LK_ACQUIRE(name_, acquire_, release_) \
    BENCH_SHARED void lk_##name_##_acquire(void *lock, void *context) \
    { \
        (void) context; \
        acquire_; \
    } \
    BENCH_SHARED void lk_##name_##_release(void *lock, void *context) \
    { \
        (void) lock; \
        (void) context; \
        release_; \
    }

LK_CREATE(pthread, pthread_mutex_t, pthread_mutex_init(lock, NULL))
LK_NO_CONTEXT(pthread)
LK_ACQUIRE(pthread, pthread_mutex_lock(lock), pthread_mutex_unlock(lock))

LK_CREATE(mutex, tsm_mutex_t, tsm_mutex_init(lock))
LK_NO_CONTEXT(mutex)
LK_ACQUIRE(mutex, tsm_mutex_acquire(lock), tsm_mutex_release(lock))

LK_CREATE(futex_lock, tsm_futex_lock_t, tsm_futex_lock_init(lock))
LK_NO_CONTEXT(futex_lock)
LK_ACQUIRE(futex_lock, tsm_futex_lock_acquire(lock), tsm_futex_lock_release(lock))

LK_CREATE(ticket, tsm_ticket_t, tsm_ticket_init(lock))
LK_NO_CONTEXT(ticket)
LK_ACQUIRE(ticket, tsm_ticket_acquire(lock), tsm_ticket_release(lock))

/* All CLH locks share a pool, which lives as long as they do. Contexts are not returned, so each
 * thread has room for one of each kind, or for two of one kind. */
#define LK_CLH_CONTEXTS (2 * BENCH_MAX_THREADS)
static tsm_clh_pool_t lk_clh_pool;
static int lk_clh_era = -1;

BENCH_SHARED tsm_clh_pool_t *lk_clh_pool_now(void)
{
    if (lk_clh_era != bench_era) {
        void *nodes = bench_alloc(TSM_CLH_NODES(LK_CLH_CONTEXTS) * sizeof(tsm_clh_node_t));
        if (tsm_clh_pool_init(&lk_clh_pool, nodes, LK_CLH_CONTEXTS))
            bench_die(1, "cannot make a pool for CLH locks");
        lk_clh_era = bench_era;
    }
    return &lk_clh_pool;
}

BENCH_SHARED void lk_clh_enter(tsm_clh_context_t *context)
{
    if (tsm_clh_context_init(context, &lk_clh_pool))
        bench_die(1, "more CLH contexts than %d", LK_CLH_CONTEXTS);
}

LK_CREATE(clh, tsm_clh_t, tsm_clh_init(lock, lk_clh_pool_now()))
LK_CONTEXT(clh, tsm_clh_context_t, lk_clh_enter(context))
LK_ACQUIRE(clh, tsm_clh_acquire(lock, context), tsm_clh_release(lock, context))

LK_CREATE(clh_lpw, tsm_clh_lpw_t, tsm_clh_lpw_init(lock, lk_clh_pool_now()))
#define lk_clh_lpw_context lk_clh_context
LK_ACQUIRE(clh_lpw, tsm_clh_lpw_acquire(lock, context), tsm_clh_lpw_release(lock, context))

#define lk_clh_lpw_low_create lk_clh_lpw_create
#define lk_clh_lpw_low_context lk_clh_context
LK_ACQUIRE(clh_lpw_low, tsm_clh_lpw_acquire_low(lock, context),
           tsm_clh_lpw_release_low(lock, context))

LK_CREATE(mcs, tsm_mcs_t, tsm_mcs_init(lock))
LK_CONTEXT(mcs, tsm_mcs_node_t, (void) context)
LK_ACQUIRE(mcs, tsm_mcs_acquire(lock, context), tsm_mcs_release(lock, context))

/* Two leaves below the root, on every machine, so that there is a hierarchy to measure. */
static const uint32_t lk_hmcs_widths[] = { 1, 2 };

BENCH_SHARED tsm_hmcs_domain_t *lk_hmcs_domains(void)
{
    return bench_alloc(tsm_hmcs_domains(lk_hmcs_widths, 2) * sizeof(tsm_hmcs_domain_t));
}

LK_CREATE(hmcs, tsm_hmcs_t,
          tsm_hmcs_init(lock, lk_hmcs_domains(), lk_hmcs_widths, 2, TSM_HMCS_THRESHOLD))
LK_CONTEXT(hmcs, tsm_hmcs_node_t, (void) context)
LK_ACQUIRE(hmcs, tsm_hmcs_acquire(lock, context, tsm_hmcs_leaf_here(lock)),
           tsm_hmcs_release(lock, context))

LK_CREATE(hyblock, tsm_hyblock_t, tsm_hyblock_init(lock))
LK_CONTEXT(hyblock, tsm_hyblock_node_t, tsm_hyblock_node_init(context))
LK_ACQUIRE(hyblock, tsm_hyblock_acquire(lock, context), tsm_hyblock_release(lock, context))

LK_CREATE(dsm_lock, tsm_dsm_synch_t, tsm_dsm_synch_init(lock, TSM_DSM_SYNCH_MAX_COMBINE))
LK_CONTEXT(dsm_lock, tsm_dsm_synch_node_t, tsm_dsm_synch_node_init(context))
LK_ACQUIRE(dsm_lock, tsm_dsm_synch_acquire(lock, context), tsm_dsm_synch_release(lock, context))

LK_CREATE(adaptive, tsm_adaptive_t, tsm_adaptive_init(lock))
LK_NO_CONTEXT(adaptive)
LK_ACQUIRE(adaptive, tsm_adaptive_acquire(lock), tsm_adaptive_release(lock))

/* NAME_gate: tsm_gated_NAME. The nodes are those of NAME. */
#define LK_GATE(name_) \
    LK_ACQUIRE(name_##_gate, tsm_gated_##name_##_acquire(lock, context), \
               tsm_gated_##name_##_release(lock, context))

LK_CREATE(ticket_gate, tsm_gated_ticket_t, tsm_gated_ticket_init(lock))
#define lk_ticket_gate_context lk_ticket_context
LK_ACQUIRE(ticket_gate, tsm_gated_ticket_acquire(lock), tsm_gated_ticket_release(lock))

LK_CREATE(clh_gate, tsm_gated_clh_t, tsm_gated_clh_init(lock, lk_clh_pool_now()))
#define lk_clh_gate_context lk_clh_context
LK_GATE(clh)

LK_CREATE(clh_lpw_gate, tsm_gated_clh_lpw_t, tsm_gated_clh_lpw_init(lock, lk_clh_pool_now()))
#define lk_clh_lpw_gate_context lk_clh_context
LK_GATE(clh_lpw)

#define lk_clh_lpw_low_gate_create lk_clh_lpw_gate_create
#define lk_clh_lpw_low_gate_context lk_clh_context
LK_ACQUIRE(clh_lpw_low_gate, tsm_gated_clh_lpw_acquire_low(lock, context),
           tsm_gated_clh_lpw_release_low(lock, context))

LK_CREATE(mcs_gate, tsm_gated_mcs_t, tsm_gated_mcs_init(lock))
#define lk_mcs_gate_context lk_mcs_context
LK_GATE(mcs)

LK_CREATE(hmcs_gate, tsm_gated_hmcs_t,
          tsm_gated_hmcs_init(lock, lk_hmcs_domains(), lk_hmcs_widths, 2, TSM_HMCS_THRESHOLD))
#define lk_hmcs_gate_context lk_hmcs_context
LK_GATE(hmcs)

LK_CREATE(hyblock_gate, tsm_gated_hyblock_t, tsm_gated_hyblock_init(lock))
#define lk_hyblock_gate_context lk_hyblock_context
LK_GATE(hyblock)

LK_CREATE(dsm_lock_gate, tsm_gated_dsm_synch_t,
          tsm_gated_dsm_synch_init(lock, TSM_DSM_SYNCH_MAX_COMBINE))
#define lk_dsm_lock_gate_context lk_dsm_lock_context
LK_ACQUIRE(dsm_lock_gate, tsm_gated_dsm_synch_acquire(lock, context),
           tsm_gated_dsm_synch_release(lock, context))

#ifdef BENCH_HAVE_CK
LK_CREATE(ck_ticket, ck_spinlock_ticket_t, ck_spinlock_ticket_init(lock))
LK_NO_CONTEXT(ck_ticket)
LK_ACQUIRE(ck_ticket, ck_spinlock_ticket_lock(lock), ck_spinlock_ticket_unlock(lock))

LK_CREATE(ck_clh, ck_spinlock_clh_t *,
          ck_spinlock_clh_init(lock, bench_alloc(sizeof(ck_spinlock_clh_t))))
LK_CONTEXT(ck_clh, ck_spinlock_clh_t *, *context = bench_alloc(sizeof(ck_spinlock_clh_t)))
LK_ACQUIRE(ck_clh, ck_spinlock_clh_lock(lock, *(ck_spinlock_clh_t **) context),
           ck_spinlock_clh_unlock(context))

LK_CREATE(ck_mcs, ck_spinlock_mcs_t, ck_spinlock_mcs_init(lock))
LK_CONTEXT(ck_mcs, ck_spinlock_mcs_context_t, (void) context)
LK_ACQUIRE(ck_mcs, ck_spinlock_mcs_lock(lock, context), ck_spinlock_mcs_unlock(lock, context))
#endif

typedef struct lock_kind {
    const char *name;
    const char *library;
    void *(*create)(void);
    void *(*context)(void);
    void (*acquire)(void *lock, void *context);
    void (*release)(void *lock, void *context);
} lock_kind_t;

#define LK_ROW(name_, library_) \
    { #name_, library_, lk_##name_##_create, lk_##name_##_context, lk_##name_##_acquire, \
      lk_##name_##_release },
static const lock_kind_t lock_kinds[] = { BENCH_LOCKS(LK_ROW) };
#define LOCK_KINDS ((int) (sizeof(lock_kinds) / sizeof(lock_kinds[0])))

BENCH_SHARED const char *lock_name(int i)
{
    return i < LOCK_KINDS ? lock_kinds[i].name : NULL;
}

/* The i-th run of a round. Every other round goes backwards, so drift affects all locks alike. */
BENCH_SHARED int bench_turn(int i, int n, int round)
{
    return round % 2 ? n - 1 - i : i;
}

/* In each round: each number of threads, and for it each lock that -l names. */
BENCH_SHARED void bench_each_lock(const bench_options_t *opt,
                                  void (*run)(const lock_kind_t *kind, int threads, int round))
{
    for (int round = 0; round < opt->rounds; round++) {
        for (int t = 0; t < opt->threads.n; t++) {
            for (int i = 0; i < LOCK_KINDS; i++) {
                const lock_kind_t *kind = &lock_kinds[bench_turn(i, LOCK_KINDS, round)];
                if (bench_named(opt->names, kind->name))
                    run(kind, (int) opt->threads.v[t], round);
            }
        }
    }
}

#endif

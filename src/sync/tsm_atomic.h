/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The atomic operations of src/sync: a thin layer over C11 <stdatomic.h>. Every access names its
 * memory order. No other file of src/sync uses <stdatomic.h>.
 *
 * Source:     ISO C11 7.17; no paper.
 * Invariants: there is no stand-alone fence between threads, because ThreadSanitizer does not see one,
 *             and no other way around C11 atomics.
 * Progress:   each operation is one atomic access and is wait-free where the hardware has the
 *             instruction; compare-and-swap is the strong form and never fails for no reason.
 * Pairs:      none here; see the users.
 * Threads:    any number. Works for any object that all threads of one process can reach.
 *
 * The arguments are evaluated once each. Do not nest one operation in an argument of another one
 * of the same kind: the macros of <stdatomic.h> then shadow their own variables.
 */

#ifndef TSM_ATOMIC_H_INCLUDED
#define TSM_ATOMIC_H_INCLUDED

#include <stdatomic.h>
#include <stdint.h>

#ifdef __STDC_NO_ATOMICS__
#error "src/sync needs C11 atomics"
#endif

/* An atomic object of the given type, for example TSM_ATOMIC(struct node *) next. */
#define TSM_ATOMIC(type_) _Atomic(type_)

#define TSM_RELAXED memory_order_relaxed
#define TSM_ACQUIRE memory_order_acquire
#define TSM_RELEASE memory_order_release
#define TSM_ACQ_REL memory_order_acq_rel
#define TSM_SEQ_CST memory_order_seq_cst

#define tsm_load(p_, order_) atomic_load_explicit((p_), (order_))
#define tsm_store(p_, v_, order_) atomic_store_explicit((p_), (v_), (order_))
#define tsm_swap(p_, v_, order_) atomic_exchange_explicit((p_), (v_), (order_))
#define tsm_fetch_add(p_, v_, order_) atomic_fetch_add_explicit((p_), (v_), (order_))

/* True if *p_ was *expected_ and is now v_; otherwise stores what it found in *expected_. */
#define tsm_cas(p_, expected_, v_, succ_, fail_) \
    atomic_compare_exchange_strong_explicit((p_), (expected_), (v_), (succ_), (fail_))

/* The compiler moves no access across it. Only for a word that a thread shares with an interrupt of
 * itself, in which the kernel reads it: orders nothing between threads. */
#define tsm_compiler_fence() atomic_signal_fence(memory_order_seq_cst)

/* Two words this many bytes apart are never on one cache line. Types keep words apart by padding,
 * so that they work at any alignment. */
#define TSM_CACHELINE 64

/* Put behind a declarator or a struct to align it to a cache line. */
#define TSM_ALIGNED __attribute__((aligned(TSM_CACHELINE)))

/* Hint to the processor that this is a waiting loop. Orders nothing. */
static inline void tsm_cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ __volatile__("pause");
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
    /* elsewhere: no instruction is known, and none is needed for correctness */
}

/* Hint to the processor that this thread will write the line soon: it asks for the line now and goes
 * on. Orders nothing; any address will do. */
static inline void tsm_prefetch_write(const void *line)
{
#if defined(__x86_64__)
    /* GCC's builtin asks for a shared copy, unless it compiles for a newer processor. One that does
     * not have the instruction ignores it. */
    __asm__ __volatile__("prefetchw %0"::"m"(*(const char *) line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* The same for a line that it will read. */
static inline void tsm_prefetch_read(const void *line)
{
    __builtin_prefetch(line, 0);
}

#endif /* TSM_ATOMIC_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       a fence of two unequal halves: the light one, for a side that runs often, costs no
 *             instruction; the heavy one, for a side that runs seldom, is a system call and pays
 *             for both.
 * Source:     membarrier(2) and the kernel's description of MEMBARRIER_CMD_PRIVATE_EXPEDITED: when
 *             the call returns, each thread of the process that runs has passed, at some time
 *             between entry and return, a point at which all its memory accesses before are
 *             complete and none behind has begun; a thread that does not run passes one when it is
 *             switched. The use for hazard pointers and RCU in user space is well known (Desnoyers
 *             and others, "User-Level Implementations of Read-Copy Update", IEEE TPDS 2012).
 * Invariants: with
 *                 often:  store x; tsm_asym_light(); load y
 *                 seldom: write y; tsm_asym_heavy() returned 1; load x
 *             at least one of the loads finds what the other side has written, or something later.
 *             For let P be the point that the often-side passes during the call. If P is behind the
 *             store of x, then x is visible before the call returns. Else P is before the load of
 *             y, and y was written before the call. The light half only keeps the compiler from
 *             moving the load before the store; P does the rest, wherever it falls.
 * Progress:   light: wait-free, nothing. Heavy: one system call, which interrupts the processors on
 *             which threads of this process run, but waits for none of the threads.
 *             Register: one system call, some milliseconds in a process that has threads already.
 * Fallback:   tsm_asym_register() returns 0 where the kernel or a filter says no, elsewhere than on
 *             Linux, and in builds for ThreadSanitizer and test/model. Then there are no halves:
 *             both sides need a read-modify-write of y, with release on the often and acquire on
 *             the seldom side, which is right by C11 alone. A user must have both forms and choose
 *             by a word that it reads anyway. tsm_asym_heavy() may fail all the same, if a filter
 *             came later; it orders nothing then, and the user must look at its result.
 *
 * No other file of src/sync has a stand-alone fence, because ThreadSanitizer does not see one. Here
 * that is sound as far as no data travel along this fence: both sides access x and y by atomics,
 * and what the loads find only decides whether somebody sleeps or is woken. ThreadSanitizer and
 * test/model check the other form; and test/model has a heavy half of its own, with which a client
 * checks this one.
 *
 * Threads:    any number on both sides. A child of fork inherits the registration.
 */

#ifndef TSM_ASYM_H_INCLUDED
#define TSM_ASYM_H_INCLUDED

#if defined(__linux__) && !defined(_GNU_SOURCE)
#error "define _GNU_SOURCE before the first include: tsm_asym.h needs syscall()"
#endif

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#if defined(__SANITIZE_THREAD__) || defined(TSM_MODEL)
#define TSM_ASYM_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSM_ASYM_CHECKED 1
#endif
#endif
#ifndef TSM_ASYM_CHECKED
#define TSM_ASYM_CHECKED 0
#endif

/* The kernel's numbers; its header has them as an enum that grew with time. */
#define TSM_ASYM_CMD_EXPEDITED (1 << 3)
#define TSM_ASYM_CMD_REGISTER  (1 << 4)

/* 1 if the kernel did it. Keeps errno. */
static inline int tsm_asym_call_(int command)
{
#if defined(__linux__) && defined(SYS_membarrier)
    int saved = errno;
    long rc = syscall(SYS_membarrier, command, 0, 0);

    errno = saved;
    return rc == 0;
#else
    (void) command;
    return 0;
#endif
}

/* Returns 1 if this process may use the two halves from now on, else 0. Any thread, any number of
 * times; before the threads it is cheaper. */
static inline int tsm_asym_register(void)
{
    return !TSM_ASYM_CHECKED && tsm_asym_call_(TSM_ASYM_CMD_REGISTER);
}

/* Between the store and the load of the side that runs often. */
static inline void tsm_asym_light(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* Between the write and the load of the other side. Returns 1; 0 if it was not registered or the
 * kernel does not do it any more. */
static inline int tsm_asym_heavy(void)
{
    return tsm_asym_call_(TSM_ASYM_CMD_EXPEDITED);
}

#endif /* TSM_ASYM_H_INCLUDED */

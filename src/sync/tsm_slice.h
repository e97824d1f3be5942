/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A thread that holds a lock asks the kernel not to take its processor for a moment. If its time slice
 * ends meanwhile, the kernel may grant it some microseconds more, in which it releases the lock; then
 * it gives the processor back. Linux 7.0 and later have this, with glibc 2.41 and later; compiled with
 * another C library the calls are empty, with an older kernel each is one load and a branch.
 *
 * Interface:  tsm_slice_start(allowed)            decides for the process
 *             tsm_slice_supported()               1 if threads ask
 *             tsm_slice_begin(), tsm_slice_end()  around what no other thread should wait for
 *
 * Source:     Linux, Documentation/userspace-api/rseq.rst ("Scheduler time slice extensions" and
 *             "Optimized RSEQ V2"), include/uapi/linux/rseq.h and kernel/rseq.c; T. Gleixner's series
 *             of December 2025. No privilege is needed. The area of a thread is the one that the C
 *             library has registered; glibc registers enough of it since 2.41.
 * Threads:    any number; they may come and go. A thread that begins late enables the extension for
 *             itself at its first begin. A child of fork keeps what the calling thread had.
 *
 * Invariants and progress are at the end of this file.
 */

#ifndef TSM_SLICE_H_INCLUDED
#define TSM_SLICE_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "tsm_atomic.h"

/* Where the number of the system call is known, and the C library registers enough of the area. Else
 * the calls are empty. Tests bring an area. */
#ifndef __GLIBC_PREREQ
#define TSM_SLICE_LIBC 0
#else
#define TSM_SLICE_LIBC __GLIBC_PREREQ(2, 41)
#endif
#if defined(TSM_SLICE_AREA) || (defined(__linux__) && TSM_SLICE_LIBC && defined(__LP64__) && \
    (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv) || defined(__s390x__)))
#define TSM_HAVE_SLICE 1
#else
#define TSM_HAVE_SLICE 0
#endif

/* The part of the kernel's struct rseq that matters here; the headers of most systems lack it. The
 * kernel writes it in an interrupt of the thread that it belongs to, so no access needs an order. */
typedef struct tsm_slice_area {
    char others[16];
    TSM_ATOMIC(uint32_t) flags;         /* read only */
    char ids[8];
    TSM_ATOMIC(uint8_t) request;        /* set by the thread, cleared by both */
    TSM_ATOMIC(uint8_t) granted;        /* read only */
    char reserved[2];
} tsm_slice_area_t;

_Static_assert(offsetof(tsm_slice_area_t, flags) == 16 && offsetof(tsm_slice_area_t, request) == 28 &&
               offsetof(tsm_slice_area_t, granted) == 29 && sizeof(tsm_slice_area_t) == 32,
               "as in include/uapi/linux/rseq.h");

/* In flags: the kernel offers the extension for this registration. */
#define TSM_SLICE_AVAILABLE (1u << 4)

/* 1 if threads ask. Not atomic, because it changes in tsm_slice_start() only. */
extern int tsm_slice_on_ __attribute__((visibility("hidden")));

/* The rest of the two below, with the extension. */
__attribute__((visibility("hidden"), cold)) void tsm_slice_begin_(void);
__attribute__((visibility("hidden"), cold)) void tsm_slice_end_(void);

/* Find out whether this process has the extension, and use it if `allowed`. Returns 1 if so. One
 * thread, while no other is between begin and end. Without a call the extension is off. */
int tsm_slice_start(int allowed);

/* 1 if threads ask. Any thread; wait-free. */
static inline int tsm_slice_supported(void)
{
    return TSM_HAVE_SLICE && tsm_slice_on_;
}

/* The caller has just taken a lock. Nests, also with other locks and in any order. */
static inline void tsm_slice_begin(void)
{
    if (__builtin_expect(tsm_slice_supported(), 0))
        tsm_slice_begin_();
}

/* The caller has released it. May yield the processor, if the kernel has granted more time. */
static inline void tsm_slice_end(void)
{
    if (__builtin_expect(tsm_slice_supported(), 0))
        tsm_slice_end_();
}

/*
 * Invariants: (1) The request is a hint: correctness depends on nothing here. (2) Between sections of a
 *             thread its request is 0, so the kernel never delays other threads for one that holds no
 *             lock. (3) A thread that finds a grant at the outermost end yields once, by the system
 *             call that the kernel reserves for it. If it does not come in time, the kernel's timer
 *             takes the processor anyway and clears the grant. (4) Only the thread writes its request,
 *             and nothing else of the area: the kernel ends a program that does. (5) If the program has
 *             asked for more time itself before it called us, its request and its yield are its own.
 * Limits:     a system call in the section ends the grant, and the thread is rescheduled before the
 *             call. So a wake of a sleeper in the release of a lock comes as late as without the
 *             extension. A thread that was scheduled out in the section does not ask again.
 * Progress:   begin is wait-free, but for one system call in a thread's first; so is end without a
 *             grant.
 * Pairs:      none: the area is the thread's own.
 */

#endif /* TSM_SLICE_H_INCLUDED */

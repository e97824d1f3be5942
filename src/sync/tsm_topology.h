/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       the machine's shape as far as waiting needs it: how many processors we may use.
 * Source:     sched_getaffinity(2); no paper.
 * Invariants: the answer is at least 1 and, in one translation unit, never changes after the first
 *             call.
 * Progress:   a load after the first call. The first call makes system calls and may allocate.
 * Pairs:      none: the cached number carries no other data, so its accesses are relaxed. Threads
 *             that race on the first call find the same number and store it twice.
 * Threads:    any thread may call, at any time.
 *
 * The mask read is that of the process's first thread. A program that binds its threads one to a
 * processor should therefore cause the first call before it does so (MPI_Init does), or the answer
 * is 1, which costs speed but stays correct.
 */

#ifndef TSM_TOPOLOGY_H_INCLUDED
#define TSM_TOPOLOGY_H_INCLUDED

#if defined(__linux__) && !defined(_GNU_SOURCE)
#error "define _GNU_SOURCE before the first include: tsm_topology.h needs sched_getaffinity()"
#endif

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "tsm_atomic.h"

/* Masks for more processors than this mean that something else is wrong. */
#define TSM_CPUS_MASK_MAX (1 << 22)

#if defined(__linux__)
/* Size of our affinity mask, read with room for ncpus processors; 0 and errno on failure. */
static inline int tsm_cpus_try_(int ncpus)
{
    cpu_set_t *set = CPU_ALLOC((size_t) ncpus);
    size_t bytes = CPU_ALLOC_SIZE((size_t) ncpus);
    int count = 0;

    if (set == NULL)
        return 0;
    if (sched_getaffinity(getpid(), bytes, set) == 0)
        count = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    return count;
}

/* The kernel answers EINVAL while the mask is too small for its processors, so let it grow. */
static inline int tsm_cpus_affinity_(int first)
{
    for (int n = first; n <= TSM_CPUS_MASK_MAX; n = n ? 2 * n : 64) {
        errno = 0;
        int count = tsm_cpus_try_(n);
        if (count > 0)
            return count;
        if (errno != EINVAL)
            break;
    }
    return 0;
}
#else
static inline int tsm_cpus_affinity_(int first)
{
    (void) first;
    return 0;
}
#endif

/* Uncached form; first: processors that the first mask tried has room for. Keeps errno. */
static inline int tsm_cpus_query_(int first)
{
    int saved = errno;
    long count = tsm_cpus_affinity_(first);

    if (count < 1)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    errno = saved;
    return count < 1 ? 1 : (int) count;
}

/* Number of processors that this process may run on, at least 1. Any thread; never fails. */
static inline int tsm_cpus_allowed(void)
{
    static TSM_ATOMIC(int) cached;
    int count = tsm_load(&cached, TSM_RELAXED);

    if (count == 0) {
        count = tsm_cpus_query_(1024);
        tsm_store(&cached, count, TSM_RELAXED);
    }
    return count;
}

#endif /* TSM_TOPOLOGY_H_INCLUDED */

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* In place of MPICH's portability library. */
#ifndef MPL_H_INCLUDED
#define MPL_H_INCLUDED

#include <stddef.h>
#include <stdlib.h>

#define MPL_STATIC_INLINE_PREFIX static inline
#define MPL_ATTR_ALIGNED(n_) __attribute__((aligned(n_)))
#define MPL_CACHELINE_SIZE 64
#define MPL_MAX(a_, b_) ((a_) > (b_) ? (a_) : (b_))
#define MPL_MIN(a_, b_) ((a_) < (b_) ? (a_) : (b_))
#define MPL_container_of(p_, type_, field_) \
    ((type_ *) (void *) ((char *) (p_) - offsetof(type_, field_)))
#define MPL_calloc(n_, size_, class_) calloc(n_, size_)
#define MPL_free free
#define MPL_COMPILE_TIME_ASSERT(x_) _Static_assert(x_, #x_)
#define MPL_atomic_read_write_barrier() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define MPL_atomic_relaxed_load_int(p_) __atomic_load_n(p_, __ATOMIC_RELAXED)
#define MPL_atomic_relaxed_store_int(p_, n_) __atomic_store_n(p_, n_, __ATOMIC_RELAXED)
#define MPL_THREAD_PACKAGE_POSIX 1
#define MPL_THREAD_PACKAGE_NAME MPL_THREAD_PACKAGE_POSIX
#define MPL_THREAD_PRIO_HIGH 0
#define MPL_THREAD_PRIO_LOW 1
#define MPL_thread_set_affinity(thread_, list_, n_, err_) \
    do { (void) (list_); *(err_) = 0; } while (0)
#define likely(x_) __builtin_expect(!!(x_), 1)
#define unlikely(x_) __builtin_expect(!!(x_), 0)

#endif /* MPL_H_INCLUDED */

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The Pthread mutex of the simulated program: the accesses that glibc makes for its default kind, to
 * one line. Compiled like the program, so that the simulator sees them. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/futex.h>

enum { FREE, HELD, WAITED };

/* In place of pthread_mutex_t. */
typedef struct mutex {
    _Atomic uint32_t state;
    int owner;
    unsigned users;
} mutex_t;

_Static_assert(sizeof(mutex_t) <= sizeof(pthread_mutex_t), "takes the place of the C library's");
_Static_assert(FREE == 0, "PTHREAD_MUTEX_INITIALIZER is all zero");

static void own(mutex_t *m)
{
    m->owner = 1;
    m->users++;
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    mutex_t *m = (mutex_t *) mutex;

    (void) attr;
    atomic_init(&m->state, FREE);
    m->owner = 0;
    m->users = 0;
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void) mutex;
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    mutex_t *m = (mutex_t *) mutex;
    uint32_t free = FREE;

    if (!atomic_compare_exchange_strong_explicit(&m->state, &free, HELD, memory_order_acquire,
                                                 memory_order_relaxed))
        return EBUSY;
    own(m);
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    mutex_t *m = (mutex_t *) mutex;
    uint32_t free = FREE;

    if (!atomic_compare_exchange_strong_explicit(&m->state, &free, HELD, memory_order_acquire,
                                                 memory_order_relaxed)) {
        while (atomic_exchange_explicit(&m->state, WAITED, memory_order_acquire) != FREE)
            syscall(SYS_futex, (void *) m, FUTEX_WAIT, WAITED, NULL, NULL, 0);
    }
    own(m);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    mutex_t *m = (mutex_t *) mutex;

    m->owner = 0;
    m->users--;
    if (atomic_exchange_explicit(&m->state, FREE, memory_order_release) == WAITED)
        syscall(SYS_futex, (void *) m, FUTEX_WAKE, 1, NULL, NULL, 0);
    return 0;
}

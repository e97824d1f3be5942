/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What the client calls: the interface that -fsanitize=thread compiles to, and the libc functions
 * that are given other names in the client's object file (wrapped.syms). Blocking calls block in
 * the model only. */

#include "model.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>

#define CALLER __builtin_return_address(0)
#define MUTEXES 16

/* What a thread learns other than by reading memory. */
static uint64_t seen(uint64_t what)
{
    model->self->history = model_mix(model->self->history, what);
    model->self->changed = 1;
    return what;
}


typedef struct mutex {
    const void *address;
    const thread_t *owner;
    uint64_t history;           /* of the thread that released it last */
    view_t released;
} mutex_t;

typedef struct blocking {
    int mutexes;
    mutex_t mutex[MUTEXES];
} blocking_t;

void hooks_create(void)
{
    model->blocking = model_map(sizeof(blocking_t));
}

void hooks_reset(void)
{
    model->blocking->mutexes = 0;
}

/* ---- plain accesses ---- */

#define PLAIN(size_) \
    void __tsan_read##size_(void *p); \
    void __tsan_read##size_(void *p) { memory_plain(p, size_, 0, CALLER); } \
    void __tsan_write##size_(void *p); \
    void __tsan_write##size_(void *p) { memory_plain(p, size_, 1, CALLER); } \
    void __tsan_volatile_read##size_(void *p); \
    void __tsan_volatile_read##size_(void *p) { memory_plain(p, size_, 0, CALLER); } \
    void __tsan_volatile_write##size_(void *p); \
    void __tsan_volatile_write##size_(void *p) { memory_plain(p, size_, 1, CALLER); } \
    void __tsan_unaligned_read##size_(void *p); \
    void __tsan_unaligned_read##size_(void *p) { memory_plain(p, size_, 0, CALLER); } \
    void __tsan_unaligned_write##size_(void *p); \
    void __tsan_unaligned_write##size_(void *p) { memory_plain(p, size_, 1, CALLER); }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size);
void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);

void __tsan_read_range(void *p, size_t size)
{
    memory_plain(p, size, 0, CALLER);
}

void __tsan_write_range(void *p, size_t size)
{
    memory_plain(p, size, 1, CALLER);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc)
{
    (void) pc;
}

void __tsan_func_exit(void)
{
}

/* ---- atomic accesses ---- */

static uint64_t op_exchange(uint64_t old, uint64_t arg)
{
    (void) old;
    return arg;
}

static uint64_t op_add(uint64_t old, uint64_t arg)
{
    return old + arg;
}

static uint64_t op_sub(uint64_t old, uint64_t arg)
{
    return old - arg;
}

static uint64_t op_and(uint64_t old, uint64_t arg)
{
    return old & arg;
}

static uint64_t op_or(uint64_t old, uint64_t arg)
{
    return old | arg;
}

static uint64_t op_xor(uint64_t old, uint64_t arg)
{
    return old ^ arg;
}

/* The operation's result must fit the object, so that a later look finds the same value. */
#define RMW(bits_, type_, name_, op_) \
    static uint64_t op_##name_##bits_(uint64_t old, uint64_t arg) \
    { \
        return (type_) op_(old, arg); \
    } \
    type_ __tsan_atomic##bits_##_##name_(volatile type_ *p, type_ v, int order); \
    type_ __tsan_atomic##bits_##_##name_(volatile type_ *p, type_ v, int order) \
    { \
        return (type_) memory_rmw(p, sizeof(type_), op_##name_##bits_, v, order, CALLER); \
    }

#define CAS(bits_, type_, name_) \
    int __tsan_atomic##bits_##_compare_exchange_##name_(volatile type_ *p, type_ *expected, \
                                                        type_ v, int order, int failed); \
    int __tsan_atomic##bits_##_compare_exchange_##name_(volatile type_ *p, type_ *expected, \
                                                        type_ v, int order, int failed) \
    { \
        int done; \
        uint64_t old = memory_cas(p, sizeof(type_), *expected, v, order, failed, &done, CALLER); \
        if (!done) \
            *expected = (type_) old; \
        return done; \
    }

#define ATOMIC(bits_, type_) \
    type_ __tsan_atomic##bits_##_load(const volatile type_ *p, int order); \
    type_ __tsan_atomic##bits_##_load(const volatile type_ *p, int order) \
    { \
        return (type_) memory_load(p, sizeof(type_), order, CALLER); \
    } \
    void __tsan_atomic##bits_##_store(volatile type_ *p, type_ v, int order); \
    void __tsan_atomic##bits_##_store(volatile type_ *p, type_ v, int order) \
    { \
        memory_store(p, sizeof(type_), v, order, CALLER); \
    } \
    RMW(bits_, type_, exchange, op_exchange) \
    RMW(bits_, type_, fetch_add, op_add) \
    RMW(bits_, type_, fetch_sub, op_sub) \
    RMW(bits_, type_, fetch_and, op_and) \
    RMW(bits_, type_, fetch_or, op_or) \
    RMW(bits_, type_, fetch_xor, op_xor) \
    CAS(bits_, type_, strong) \
    CAS(bits_, type_, weak) \
    type_ __tsan_atomic##bits_##_compare_exchange_val(volatile type_ *p, type_ expected, \
                                                      type_ v, int order, int failed); \
    type_ __tsan_atomic##bits_##_compare_exchange_val(volatile type_ *p, type_ expected, \
                                                      type_ v, int order, int failed) \
    { \
        int done; \
        return (type_) memory_cas(p, sizeof(type_), expected, v, order, failed, &done, CALLER); \
    }

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
    memory_fence(order);
}

void __tsan_atomic_signal_fence(int order)
{
    (void) order;
}

/* ---- threads ---- */

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*body)(void *),
                          void *arg);
int __wrap_pthread_join(pthread_t id, void **result);
pthread_t __wrap_pthread_self(void);
int __wrap_sched_yield(void);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getcpu(void);

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*body)(void *),
                          void *arg)
{
    (void) attr;
    if (!model->enumerating)    /* nothing that is created waits for what its creator does next */
        model_step();
    seen(1);
    *id = (pthread_t) model_index(model_spawn(body, arg));
    model->self->now.clock[model_index(model->self)]++;
    return 0;
}

int __wrap_pthread_join(pthread_t id, void **result)
{
    thread_t *t = &model->thread[id];

    if (!model->enumerating)
        model_step();
    while (t->state != THREAD_DONE)
        model_block(t, "joins");
    seen(t->history);
    view_join(&model->self->now, &t->now);
    if (result)
        *result = t->result;
    return 0;
}

pthread_t __wrap_pthread_self(void)
{
    return (pthread_t) model_index(model->self);
}

int __wrap_sched_yield(void)
{
    model_yield();
    return 0;
}

/* Processors that a client sees, unless it defines this itself. With one, no thread spins, which would
 * only make runs longer. */
extern int model_cpus;
int model_cpus __attribute__((weak)) = 1;

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void) pid;
    CPU_ZERO_S(size, set);
    for (int i = 0; i < model_cpus; i++)
        CPU_SET_S((size_t) i, size, set);
    return 0;
}

/* A thread may find itself on another processor each time it looks. */
int __wrap_sched_getcpu(void)
{
    return (int) seen(model_choice(4));
}

/* ---- errno and time ---- */

int *__wrap___errno_location(void);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int *__wrap___errno_location(void)
{
    return &model->self->error;
}

/* Time passes between two looks, much or little. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void) clock;
    if (model->enumerating)
        model->nanoseconds += seen(model_choice(2)) ? 1000000 : 1;
    else
        model->nanoseconds += model_random(1000) * model_random(1000);
    now->tv_sec = (time_t) (model->nanoseconds / 1000000000);
    now->tv_nsec = (long) (model->nanoseconds % 1000000000);
    return 0;
}

/* ---- futex ---- */

long __wrap_syscall(long number, ...);

/* The kernel may do that; enumerating, once in a run. */
static int wakes_for_no_reason(void)
{
    if (!model->enumerating)
        return model_odds(1);
    return model->spurious == 0 && seen(model_choice(2)) && ++model->spurious;
}

static long futex_wait(const void *p, uint32_t value)
{
    model_step();
    if (memory_futex_read(p) != value) {
        model->self->error = EAGAIN;
        return -1;
    }
    if (wakes_for_no_reason()) {
        model->self->error = EINTR;
        return -1;
    }
    model->stats.parked++;
    model_event("sleep", p, value, 0, CALLER);
    model_block(p, "sleeps on");
    return 0;
}

static long futex_wake(const void *p, int most)
{
    model_step();
    memory_futex_publish(p);
    model_event("wake", p, (uint64_t) most, 0, CALLER);
    return (long) seen((uint64_t) model_unblock(p, most));
}

long __wrap_syscall(long number, ...)
{
    va_list args;
    long rc = 0;

    va_start(args, number);
    const void *p = va_arg(args, void *);
    int op = va_arg(args, int) & ~FUTEX_PRIVATE_FLAG;
    uint32_t value = va_arg(args, uint32_t);
    va_end(args);
    if (number == SYS_futex && op == FUTEX_WAIT)
        rc = futex_wait(p, value);
    else if (number == SYS_futex && op == FUTEX_WAKE)
        rc = futex_wake(p, (int) value);
    else
        model_fail("limit", "system call %ld with operation %d", number, op);
    return rc;
}

/* ---- mutexes ---- */

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static mutex_t *mutex_at(const void *address)
{
    blocking_t *b = model->blocking;

    for (int i = 0; i < b->mutexes; i++) {
        if (b->mutex[i].address == address)
            return &b->mutex[i];
    }
    if (b->mutexes == MUTEXES)
        model_fail("limit", "too many mutexes");
    mutex_t *m = &b->mutex[b->mutexes++];
    memset(m, 0, sizeof(*m));
    m->address = address;
    return m;
}

static void mutex_take(mutex_t *m)
{
    m->owner = model->self;
    seen(m->history);
    view_join(&model->self->now, &m->released);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    mutex_t *m = mutex_at(mutex);

    (void) attr;
    memset(m, 0, sizeof(*m));
    m->address = mutex;
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return mutex_at(mutex)->owner ? EBUSY : 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    mutex_t *m = mutex_at(mutex);

    model_step();
    if (m->owner == model->self)
        model_fail("assert", "mutex locked twice by one thread");
    while (m->owner)
        model_block(m, "waits for mutex");
    mutex_take(m);
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    mutex_t *m = mutex_at(mutex);

    model_step();
    seen(m->owner != NULL);
    if (m->owner)
        return EBUSY;
    mutex_take(m);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    mutex_t *m = mutex_at(mutex);

    model_step();
    if (m->owner != model->self)
        model_fail("assert", "mutex unlocked by a thread that does not hold it");
    m->owner = NULL;
    seen(0);
    m->history = model->self->history;
    model_wrote();
    view_join(&m->released, &model->self->now);
    model->self->now.clock[model_index(model->self)]++;
    model_unblock(m, MODEL_THREADS);
    return 0;
}

/* ---- memory ---- */

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_free(void *p);
void *__wrap_memset(void *p, int c, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);

/* In front of each block; free needs the size. */
#define HEADER 64

void *__wrap_malloc(size_t size)
{
    char *p = model_alloc(size + HEADER, HEADER);

    memcpy(p, &size, sizeof(size));
    seen((uintptr_t) p);
    return p + HEADER;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return __wrap_malloc(n * size);     /* never used before in this run, so zero */
}

/* Memory that has been freed is not used again, so that each later access is noticed. */
void __wrap_free(void *p)
{
    size_t size;

    if (!p)
        return;
    memcpy(&size, (char *) p - HEADER, sizeof(size));
    memory_free(p, size, CALLER);
}

void *__wrap_memset(void *p, int c, size_t size)
{
    memory_plain(p, size, 1, CALLER);
    return memset(p, c, size);
}

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    memory_plain(from, size, 0, CALLER);
    memory_plain(to, size, 1, CALLER);
    return memcpy(to, from, size);
}

/* ---- assert ---- */

void __wrap___assert_fail(const char *what, const char *file, unsigned line, const char *function);
void __wrap_abort(void);

void __wrap___assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
    const char *base = strrchr(file, '/');

    model_fail("assert", "thread %d: %s (%s, %s:%u)", model_index(model->self), what, function,
               base ? base + 1 : file, line);
}

void __wrap_abort(void)
{
    model_fail("assert", "thread %d calls abort", model_index(model->self));
}

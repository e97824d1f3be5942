/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What instrumented code calls: the interface of -fsanitize=thread, and the functions of the C library
 * that are given other names in its object files (wrapped.syms). */
#include "sim.h"

#include <errno.h>
#include <limits.h>
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

/* ---- plain accesses ---- */

#define PLAIN_AS(name_, size_, kind_) \
    void __tsan_##name_##size_(void *p); \
    void __tsan_##name_##size_(void *p) { sim_access(p, size_, kind_, 0, CALLER); }
#define PLAIN(size_) \
    PLAIN_AS(read, size_, SIM_READ) \
    PLAIN_AS(write, size_, SIM_WRITE) \
    PLAIN_AS(volatile_read, size_, SIM_READ) \
    PLAIN_AS(volatile_write, size_, SIM_WRITE) \
    PLAIN_AS(unaligned_read, size_, SIM_READ) \
    PLAIN_AS(unaligned_write, size_, SIM_WRITE)

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
    sim_access(p, size, SIM_READ, 0, CALLER);
}

void __tsan_write_range(void *p, size_t size)
{
    sim_access(p, size, SIM_WRITE, 0, CALLER);
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

/* A compare-and-swap that fails takes the line all the same, as on x86. */
#define RMW(bits_, type_, name_, expression_) \
    type_ __tsan_atomic##bits_##_##name_(volatile type_ *p, type_ v, int order); \
    type_ __tsan_atomic##bits_##_##name_(volatile type_ *p, type_ v, int order) \
    { \
        (void) order; \
        sim_access(p, sizeof(type_), SIM_RMW, 1, CALLER); \
        type_ old = *p; \
        *p = (type_) (expression_); \
        return old; \
    }

#define CAS(bits_, type_, name_) \
    int __tsan_atomic##bits_##_compare_exchange_##name_(volatile type_ *p, type_ *expected, \
                                                        type_ v, int order, int failed); \
    int __tsan_atomic##bits_##_compare_exchange_##name_(volatile type_ *p, type_ *expected, \
                                                        type_ v, int order, int failed) \
    { \
        (void) order; \
        (void) failed; \
        sim_access(p, sizeof(type_), SIM_RMW, 1, CALLER); \
        type_ old = *p; \
        int done = old == *expected; \
        if (done) \
            *p = v; \
        else \
            *expected = old; \
        return done; \
    }

#define ATOMIC(bits_, type_) \
    type_ __tsan_atomic##bits_##_load(const volatile type_ *p, int order); \
    type_ __tsan_atomic##bits_##_load(const volatile type_ *p, int order) \
    { \
        (void) order; \
        sim_access(p, sizeof(type_), SIM_READ, 1, CALLER); \
        return *p; \
    } \
    void __tsan_atomic##bits_##_store(volatile type_ *p, type_ v, int order); \
    void __tsan_atomic##bits_##_store(volatile type_ *p, type_ v, int order) \
    { \
        sim_access(p, sizeof(type_), order == __ATOMIC_SEQ_CST ? SIM_RMW : SIM_WRITE, 1, CALLER); \
        *p = v; \
    } \
    RMW(bits_, type_, exchange, v) \
    RMW(bits_, type_, fetch_add, old + v) \
    RMW(bits_, type_, fetch_sub, old - v) \
    RMW(bits_, type_, fetch_and, old & v) \
    RMW(bits_, type_, fetch_or, old | v) \
    RMW(bits_, type_, fetch_xor, old ^ v) \
    CAS(bits_, type_, strong) \
    CAS(bits_, type_, weak) \
    type_ __tsan_atomic##bits_##_compare_exchange_val(volatile type_ *p, type_ expected, \
                                                      type_ v, int order, int failed); \
    type_ __tsan_atomic##bits_##_compare_exchange_val(volatile type_ *p, type_ expected, \
                                                      type_ v, int order, int failed) \
    { \
        (void) order; \
        (void) failed; \
        sim_access(p, sizeof(type_), SIM_RMW, 1, CALLER); \
        type_ old = *p; \
        if (old == expected) \
            *p = v; \
        return old; \
    }

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
    sim_point();
    if (order == __ATOMIC_SEQ_CST)
        sim_fence();
}

void __tsan_atomic_signal_fence(int order)
{
    (void) order;
}

void scale_pause(void);
void scale_prefetch_read(const void *p);
void scale_prefetch_write(const void *p);

/* See pause.h. */
void scale_pause(void)
{
    sim_work(sim_machine.pause);
}

void scale_prefetch_read(const void *p)
{
    sim_prefetch(p, 0, CALLER);
}

void scale_prefetch_write(const void *p)
{
    sim_prefetch(p, 1, CALLER);
}

/* ---- threads ---- */

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*body)(void *),
                          void *arg);
int __wrap_pthread_join(pthread_t id, void **result);
int __wrap_pthread_setname_np(pthread_t id, const char *name);
int __wrap_pthread_once(pthread_once_t *once, void (*body)(void));
int __wrap_sched_yield(void);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getcpu(void);
long __wrap_sysconf(int name);

typedef struct start {
    void *(*body)(void *);
    void *arg;
} start_t;

static void start_body(void *arg)
{
    start_t *start = arg;

    start->body(start->arg);
}

/* The library's own threads run on the last core. */
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*body)(void *),
                          void *arg)
{
    start_t *start = malloc(sizeof(*start));

    (void) attr;
    if (!start)
        return ENOMEM;
    *start = (start_t) { body, arg };
    *id = (pthread_t) (uintptr_t) sim_spawn(sim_machine.cores - 1, start_body, start);
    return 0;
}

int __wrap_pthread_join(pthread_t id, void **result)
{
    (void) id;
    (void) result;
    sim_fail("pthread_join: the simulation ends before the program's threads do");
}

int __wrap_pthread_setname_np(pthread_t id, const char *name)
{
    (void) id;
    (void) name;
    return 0;
}

/* The first thread of a run makes all first calls, so nobody comes while body runs. */
int __wrap_pthread_once(pthread_once_t *once, void (*body)(void))
{
    if (*once == PTHREAD_ONCE_INIT) {
        *once = PTHREAD_ONCE_INIT + 1;
        body();
    }
    return 0;
}

int __wrap_sched_yield(void)
{
    sim_yield();
    return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void) pid;
    CPU_ZERO_S(size, set);
    for (int i = 0; i < sim_machine.cores; i++)
        CPU_SET_S((size_t) i, size, set);
    return 0;
}

int __wrap_sched_getcpu(void)
{
    return sim_core();
}

long __wrap_sysconf(int name)
{
    return name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN ? sim_machine.cores :
        sysconf(name);
}

/* ---- time ---- */

#define CLOCK_COST (20 * SIM_NS)

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_nanosleep(const struct timespec *most, struct timespec *left);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    /* not from 0, which src/sync takes for "never" */
    uint64_t ns = 1000000000u + sim_now() / SIM_NS;

    (void) clock;
    sim_work(CLOCK_COST);
    now->tv_sec = (time_t) (ns / 1000000000);
    now->tv_nsec = (long) (ns % 1000000000);
    return 0;
}

static uint64_t picoseconds(const struct timespec *t)
{
    return ((uint64_t) t->tv_sec * 1000000000 + (uint64_t) t->tv_nsec) * SIM_NS;
}

int __wrap_nanosleep(const struct timespec *most, struct timespec *left)
{
    (void) left;
    sim_work(sim_machine.call);
    sim_point();
    sim_sleep(NULL, picoseconds(most));
    return 0;
}

/* ---- futex ---- */

long __wrap_syscall(long number, ...);

static long futex_wait(const uint32_t *p, uint32_t value, const struct timespec *most)
{
    sim_work(sim_machine.call);
    sim_access(p, sizeof(*p), SIM_READ, 1, CALLER);
    if (*p == value)
        sim_sleep(p, most ? picoseconds(most) : 0);
    return 0;
}

static long futex_wake(const uint32_t *p, int most)
{
    sim_work(sim_machine.call);
    sim_point();
    return sim_wake(p, most);
}

long __wrap_syscall(long number, ...)
{
    va_list args;

    va_start(args, number);
    const uint32_t *p = va_arg(args, const uint32_t *);
    int op = va_arg(args, int) & ~FUTEX_PRIVATE_FLAG;
    uint32_t value = va_arg(args, uint32_t);
    const struct timespec *most = va_arg(args, const struct timespec *);
    va_end(args);
    if (number == SYS_gettid)
        return sim_self() + 1;
    if (number == SYS_futex && op == FUTEX_WAIT)
        return futex_wait(p, value, most);
    if (number == SYS_futex && op == FUTEX_WAKE)
        return futex_wake(p, (int) value);
    sim_fail("system call %ld is not simulated", number);
}

/* ---- memory ---- */

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_posix_memalign(void **p, size_t align, size_t size);
void __wrap_free(void *p);
void *__wrap_memset(void *p, int c, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void __wrap_abort(void);

/* Each thread takes its memory from chunks of its own and gives none back: what the threads have does
 * not share lines, and where it is does not depend on the C library. */
#define CHUNK ((size_t) 1 << 20)
#define HEADER 16

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    static struct { uintptr_t next, end; } pool[SIM_THREADS];
    int i = sim_self();
    uintptr_t p = (pool[i].next + HEADER + align - 1) / align * align;

    if (p + size > pool[i].end) {
        size_t chunk = size + align + HEADER > CHUNK ? size + align + HEADER : CHUNK;
        void *fresh = aligned_alloc(4096, (chunk + 4095) / 4096 * 4096);
        if (!fresh)
            return NULL;
        pool[i].next = (uintptr_t) fresh;
        pool[i].end = pool[i].next + chunk;
        p = (pool[i].next + HEADER + align - 1) / align * align;
    }
    pool[i].next = p + size;
    return (void *) p;
}

void *__wrap_malloc(size_t size)
{
    return __wrap_aligned_alloc(16, size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *p = __wrap_malloc(n * size);

    return p ? memset(p, 0, n * size) : NULL;
}

int __wrap_posix_memalign(void **p, size_t align, size_t size)
{
    *p = __wrap_aligned_alloc(align, size);
    return *p ? 0 : ENOMEM;
}

void __wrap_free(void *p)
{
    (void) p;
}

void *__wrap_memset(void *p, int c, size_t size)
{
    if (size)
        sim_access(p, size, SIM_WRITE, 0, CALLER);
    return memset(p, c, size);
}

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    if (size) {
        sim_access(from, size, SIM_READ, 0, CALLER);
        sim_access(to, size, SIM_WRITE, 0, CALLER);
    }
    return memcpy(to, from, size);
}

void __wrap_abort(void)
{
    sim_fail("the program calls abort()");
}

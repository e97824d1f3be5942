/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Cores and threads. Each thread belongs to one core. A core runs its threads in turn: the next one
 * when a thread sleeps or yields, or when its time slice is over and another one is ready.
 *
 * Thread-local variables: each thread has those of a kernel thread that sleeps for ever. A switch sets
 * the processor's thread pointer to that kernel thread's, so the program's own code, with its
 * thread-local variables and pthread_self(), runs unchanged. */
#include "sim.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <asm/prctl.h>
#include <sys/auxv.h>
#elif !defined(__aarch64__)
#error "bench/scale: unknown how to set the thread pointer of this processor"
#endif

#define STACK ((size_t) 256 << 10)
#define NEVER UINT64_MAX

enum { READY, SLEEPS, MEETS, DONE };

struct sim_thread {
    jmp_buf resume;
    ucontext_t context;
    uintptr_t pointer;          /* of its thread-local variables */
    int started, state, core;
    uint64_t ready;             /* not before */
    const void *address;        /* sleeps on it */
    uint64_t deadline;          /* of the sleep */
    int timed_out;
    uint64_t order;             /* of sleeps */
    sim_thread_t *next;         /* in the queue of its core */
    void (*body)(void *);
    void *arg;
};

typedef struct core {
    uint64_t clock, slice_end;
    uint32_t tie;
    sim_thread_t *current;      /* NULL: idle */
    sim_thread_t *first, *last; /* others that are ready */
} core_t;

static sim_thread_t thread[SIM_THREADS];
static core_t core[SIM_CORES];
static int prepared, threads, met;
static sim_thread_t *self;
static int heap[SIM_CORES], heap_size;  /* of the cores that have a thread, but for the running one */
static uint64_t next_deadline = NEVER, sleep_order;

void sim_fail(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "bench/scale: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    _exit(3);
}

/* ---- the thread pointer ---- */

#if defined(__x86_64__)
static int has_instruction;

__attribute__((target("fsgsbase"))) static void set_pointer(uintptr_t pointer)
{
    if (has_instruction)
        __builtin_ia32_wrfsbase64(pointer);
    else
        syscall(SYS_arch_prctl, ARCH_SET_FS, pointer);
}
#else
static void set_pointer(uintptr_t pointer)
{
    __asm__ __volatile__("msr tpidr_el0, %0" : : "r"(pointer) : "memory");
}
#endif

static void *lend(void *arg)
{
    __atomic_store_n(&((sim_thread_t *) arg)->pointer, (uintptr_t) __builtin_thread_pointer(),
                     __ATOMIC_RELEASE);
    for (;;)
        pause();
    return NULL;
}

static void prepare(sim_thread_t *t)
{
    pthread_attr_t attr;
    pthread_t id;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    if (pthread_create(&id, &attr, lend, t))
        sim_fail("cannot create %d threads", prepared);
    while (!__atomic_load_n(&t->pointer, __ATOMIC_ACQUIRE))
        usleep(10);
    pthread_attr_destroy(&attr);
}

/* ---- the heap of cores ---- */

static int before(int a, int b)
{
    return core[a].clock != core[b].clock ? core[a].clock < core[b].clock : core[a].tie < core[b].tie;
}

static void heap_push(int c)
{
    int i = heap_size++;

    for (; i > 0 && before(c, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = c;
}

static int heap_pop(void)
{
    int top = heap[0], c = heap[--heap_size], i = 0, child;

    while ((child = 2 * i + 1) < heap_size) {
        child += child + 1 < heap_size && before(heap[child + 1], heap[child]);
        if (!before(heap[child], c))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = c;
    return top;
}

/* ---- queues of cores ---- */

static void enqueue(core_t *c, sim_thread_t *t)
{
    t->next = NULL;
    if (c->last)
        c->last->next = t;
    else
        c->first = t;
    c->last = t;
}

/* The core, whose thread gives way, goes on with the next one; it stays without if there is none. */
static void run_next(core_t *c)
{
    sim_thread_t *t = c->first;

    c->current = t;
    if (!t)
        return;
    c->first = t->next;
    if (!c->first)
        c->last = NULL;
    if (t->ready > c->clock)
        c->clock = t->ready;
    c->clock += sim_machine.change;
    c->slice_end = c->clock + sim_machine.slice;
}

static void make_ready(sim_thread_t *t, uint64_t time)
{
    core_t *c = &core[t->core];

    t->state = READY;
    t->ready = time;
    enqueue(c, t);
    if (!c->current) {
        if (time > c->clock)
            c->clock = time;
        run_next(c);
        heap_push(t->core);
    }
}

/* ---- sleeps that end by time ---- */

static void fire(uint64_t now)
{
    uint64_t next = NEVER;

    for (int i = 0; i < threads; i++) {
        sim_thread_t *t = &thread[i];
        if (t->state != SLEEPS)
            continue;
        if (t->deadline <= now) {
            t->timed_out = 1;
            make_ready(t, t->deadline + sim_machine.wake);
        } else if (t->deadline < next) {
            next = t->deadline;
        }
    }
    next_deadline = next;
}

/* ---- switching ---- */

static void resume(sim_thread_t *t)
{
    self = t;
    set_pointer(t->pointer);
    if (t->started)
        _longjmp(t->resume, 1);
    t->started = 1;
    setcontext(&t->context);
}

/* Go on with the core that has the smallest clock; the caller's core is in the heap if it can run. */
static void dispatch(void)
{
    sim_thread_t *next, *me = self;

    while (heap_size == 0) {
        if (next_deadline == NEVER)
            sim_fail("all threads sleep, and nothing can wake them");
        fire(next_deadline);
    }
    next = core[heap_pop()].current;
    if (next == me)
        return;
    if (_setjmp(me->resume) == 0)
        resume(next);
}

void sim_point(void)
{
    core_t *c = &core[self->core];
    sim_thread_t *me = self;

    if (c->clock >= next_deadline)
        fire(c->clock);
    if (c->first && c->clock >= c->slice_end && c->first->ready <= c->clock) {
        sim_counts.preempted++;
        me->ready = c->clock;
        enqueue(c, me);
        run_next(c);
    }
    if (c->current == me && (heap_size == 0 || before(me->core, heap[0])))
        return;
    heap_push(me->core);
    dispatch();
}

void sim_yield(void)
{
    core_t *c = &core[self->core];

    sim_counts.yields++;
    sim_work(sim_machine.call);
    sim_point();
    if (c->first && c->first->ready <= c->clock) {
        self->ready = c->clock;
        enqueue(c, self);
        run_next(c);
        heap_push(self->core);
        dispatch();
    }
}

/* The running thread can not go on for now. */
static void stop(int state)
{
    int mine = self->core;

    self->state = state;
    run_next(&core[mine]);
    if (core[mine].current)
        heap_push(mine);
    dispatch();
}

int sim_sleep(const void *address, uint64_t most)
{
    sim_thread_t *me = self;

    sim_counts.sleeps++;
    me->address = address;
    me->timed_out = 0;
    me->order = sleep_order++;
    me->deadline = most ? sim_now() + most : NEVER;
    if (me->deadline < next_deadline)
        next_deadline = me->deadline;
    stop(SLEEPS);
    return !me->timed_out;
}

static sim_thread_t *oldest_sleeper(const void *address)
{
    sim_thread_t *found = NULL;

    for (int i = 0; i < threads; i++) {
        sim_thread_t *t = &thread[i];
        if (t->state == SLEEPS && t->address == address && (!found || t->order < found->order))
            found = t;
    }
    return found;
}

int sim_wake(const void *address, int most)
{
    int n = 0;
    sim_thread_t *t;

    for (; n < most && (t = oldest_sleeper(address)) != NULL; n++)
        make_ready(t, sim_now() + sim_machine.wake);
    sim_counts.wakes += (uint64_t) n;
    return n;
}

void sim_meet(int n, void (*then)(void))
{
    uint64_t latest = 0;

    sim_point();
    if (++met < n) {
        stop(MEETS);
        return;
    }
    met = 0;
    for (int i = 0; i < sim_machine.cores; i++)
        latest = core[i].clock > latest ? core[i].clock : latest;
    core[self->core].clock = latest;
    if (then)
        then();
    for (int i = 0; i < threads; i++) {
        if (thread[i].state == MEETS)
            make_ready(&thread[i], latest);
    }
}

/* ---- threads ---- */

int sim_self(void)
{
    return (int) (self - thread);
}

int sim_core(void)
{
    return self->core;
}

uint64_t sim_now(void)
{
    return core[self->core].clock;
}

void sim_work(uint64_t ps)
{
    core[self->core].clock += ps;
}

static void main_of(void)
{
    self->body(self->arg);
    sim_point();
    stop(DONE);
}

sim_thread_t *sim_spawn(int where, void (*body)(void *), void *arg)
{
    sim_thread_t *t = &thread[threads];

    if (threads++ == prepared)
        sim_fail("more than %d threads", prepared);
    t->body = body;
    t->arg = arg;
    t->core = where;
    t->deadline = NEVER;
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (t->context.uc_stack.ss_sp == MAP_FAILED)
        sim_fail("no memory for a stack");
    t->context.uc_stack.ss_size = STACK;
    makecontext(&t->context, main_of, 0);
    make_ready(t, self ? sim_now() : 0);
    return t;
}

void sim_run(int n, void (*body)(void *), void *arg)
{
    uint64_t state = sim_machine.seed * 2 + 1;

#if defined(__x86_64__)
    has_instruction = (getauxval(AT_HWCAP2) & 2) != 0;
#endif
    for (int i = 0; i < SIM_CORES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        core[i].tie = (uint32_t) (state >> 32) & ~(uint32_t) (SIM_CORES - 1);
        core[i].tie |= (uint32_t) i;
    }
    sim_lines_create();
    for (prepared = 0; prepared < n; prepared++)
        prepare(&thread[prepared]);
    sim_spawn(0, body, arg);
    resume(core[heap_pop()].current);
}

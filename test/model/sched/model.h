/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:   a checker for small C11 programs. It runs a client again and again, one thread at a time,
 *         and chooses which thread runs next and which write each read sees. The choices follow
 *         from a seed, or are enumerated: every schedule with a few preemptions, every write.
 * How:    the client is compiled with -fsanitize=thread but linked with this runtime in place of
 *         the sanitizer's, so that the compiler hands over every atomic access with its order and
 *         every plain access (hooks.c). libc calls that block, yield or allocate are wrapped by the
 *         linker. The client itself and src/sync stay as they are.
 * Memory: views in the manner of the promise-free part of the promising semantics (Kang, Hur,
 *         Lahav, Vafeiadis, Dreyer, "A Promising Semantics for Relaxed-Memory Concurrency", POPL
 *         2017) and RC11 (Lahav and others, "Repairing Sequential Consistency in C/C++11", PLDI
 *         2017). A location has a history of messages in modification order, a thread has a view:
 *         for each location the oldest message it may still read. Release writes carry the writer's
 *         view, acquire reads join it; read-modify-writes carry on a release sequence, later plain
 *         stores do not (C++20). A store may go before messages that its thread has not seen, and
 *         a read-modify-write may read such an older message, unless another one stands right
 *         behind it. seq_cst accesses are ordered for each location by one view of their own; a
 *         seq_cst load may take its place in that order early, any time after the last seq_cst
 *         access of its thread and those that its thread has heard of by acquiring.
 *         Not explored: reads from stores that have not been run yet (load buffering).
 * Races:  vector clocks travel with the views; two accesses of which one is plain and one writes
 *         must be ordered. An atomic access to memory that its owner has overwritten, or has freed,
 *         is found in this way, too.
 * Limits: no thread-local variables in the client (the Makefile checks), since all its threads run
 *         on one; atomic objects of up to 8 bytes.
 * Search: random (-n): each seed picks one of two schedulers, random walk or PCT (Burckhardt and
 *         others, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS
 *         2010), and how often reads are stale. It samples: silence is evidence, not proof.
 *         Enumerating (-e): depth first over all choices, preemptions bounded (Musuvathi, Qadeer,
 *         "Iterative Context Bounding", PLDI 2007); see enumerate.c. Silence that ends in
 *         "enumerated completely" is proof within that bound and within this memory model.
 */

#ifndef MODEL_H_INCLUDED
#define MODEL_H_INCLUDED

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define MODEL_THREADS   8       /* the one that runs main, and those it makes */
#define MODEL_LOCATIONS 256
#define MODEL_HISTORY   24      /* messages that a location remembers */
#define MODEL_STEPS     6000    /* of all threads; more count as a livelock */
#define MODEL_BURST     300     /* steps of one thread that never yields, then others go first */
#define MODEL_STACK     65536
#define MODEL_ARENA     65536
#define MODEL_HUNG      20      /* seconds for one run: a loop without shared accesses */

typedef uint32_t stamp_t;

typedef struct view {
    stamp_t at[MODEL_LOCATIONS];
    stamp_t early[MODEL_LOCATIONS];     /* seq_cst order at the last seq_cst access in the view */
    uint32_t clock[MODEL_THREADS];
} view_t;

enum model_state { THREAD_UNUSED, THREAD_RUNNABLE, THREAD_BLOCKED, THREAD_DONE };

typedef struct thread {
    ucontext_t context;         /* where it starts; from then on it goes on at `resume` */
    jmp_buf resume;
    int started;
    char *stack;
    void *(*body)(void *);
    void *arg;
    void *result;
    enum model_state state;
    const void *waits_for;      /* address of a futex or mutex, or a thread; if blocked */
    const char *waits_how;
    int yielded;                /* lets others go first */
    int burst;
    int priority;
    int error;                  /* errno */
    uint64_t history;           /* hash of all that it has read and written */
    uint64_t round_history;     /* the same at its last yield, */
    uint64_t round_stack;       /* and of its stack then */
    int changed;                /* since its last yield: wrote, or learned something */
    int stale;                  /* since its last yield: read a message that is not the newest */
    long round_writes;          /* model->writes when this round of its loop began */
    int round;                  /* of its loops, not counting those that repeat themselves */
    struct {
        stamp_t stamp;          /* the message that is not the newest which it has read last */
        int round;              /* when first */
    } old[MODEL_LOCATIONS];
    int stuck;                  /* its loop repeats itself until another thread writes */
    int passed_over[MODEL_THREADS];     /* its yields since the other, runnable, has run */
    view_t now;
    view_t pending;             /* read relaxed; joins `now` at an acquire fence */
    view_t fenced;              /* `now` at the last release fence */
} thread_t;

typedef struct model_stats {
    long steps;
    long switches;
    long stale;                 /* reads of a message that is not the newest */
    long inserted;              /* writes that became not the newest */
    long parked;                /* sleeps in a futex */
} model_stats_t;

typedef struct model {
    const char *name;
    uint64_t seed;
    uint64_t random;
    int trace;
    int pct;                    /* else random walk */
    int switch_odds;            /* of 16: random walk goes to another thread */
    int stale_odds;             /* of 16: a read is not simply of the newest message */
    int insert_odds;            /* of 16: a write is not simply the newest message */
    int change[4];              /* PCT: at these steps the running thread becomes the last */
    int lowest;                 /* PCT: priority for the next thread that becomes the last */
    int enumerating;
    int preemptions, preemptions_max;   /* in this run; bound */
    int spurious;               /* wakes for no reason in this run */
    long runs;
    long writes;                /* changes that a thread that waits may be waiting for */
    long steps;
    uint64_t nanoseconds;
    int threads;
    thread_t *self;
    thread_t thread[MODEL_THREADS];
    jmp_buf driver;
    model_stats_t stats;
    size_t arena_used;
    char *arena;
    char *data, *bss;           /* the client's, as the linker left them */
    struct memory *memory;      /* memory.c */
    struct races *races;        /* races.c */
    struct blocking *blocking;  /* hooks.c */
    struct enumeration *enumeration;    /* enumerate.c */
    struct event *events;       /* report.c */
    long event_count;
} model_t;

extern model_t *model;

/* sched.c */
uint32_t model_random(uint32_t n);              /* 0 .. n-1 */
int model_odds(int of16);
uint32_t model_choice(uint32_t n);              /* 0 .. n-1: enumerated, or at random */
void model_step(void);                          /* before each step that others can see */
void model_yield(void);                         /* from a loop that waits for another thread */
void model_wrote(void);                         /* a thread that waits may look again */
void model_abandon(void) __attribute__((noreturn));     /* end this run */
void model_block(const void *what, const char *how);
int model_unblock(const void *what, int most);  /* how many */
thread_t *model_spawn(void *(*body)(void *), void *arg);
int model_index(const thread_t *thread);
void *model_alloc(size_t size, size_t align);
void *model_map(size_t size);                   /* zeroed; for the scheduler itself */

/* enumerate.c */
void enumerate_create(void);
int enumerate(long most);                       /* runs the client; the exit status */
uint32_t enumerate_choice(uint32_t n);
void enumerate_abandon(void) __attribute__((noreturn));     /* this run has nothing new */
int enumerate_seen(void);                       /* this state, with as many preemptions left */
long enumerate_executions(void);
/* Not symmetric: a thread may well learn its own hash, for example from a mutex that it had last. */
static inline uint64_t model_mix(uint64_t hash, uint64_t value)
{
    hash = hash * 0x9ddfea08eb382d69u + value * 0xc2b2ae3d27d4eb4fu + 0x165667b19e3779f9u;
    return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
}

/* sched.c, for enumerate.c */
void model_run(uint64_t seed);

/* memory.c */
uint64_t memory_hash(void);                     /* of all that threads can still read */
void memory_create(void);
void memory_reset(void);
void view_join(view_t *into, const view_t *from);
uint64_t memory_load(const volatile void *p, unsigned size, int order, void *pc);
void memory_store(volatile void *p, unsigned size, uint64_t value, int order, void *pc);
typedef uint64_t (*memory_op_t)(uint64_t old, uint64_t arg);
uint64_t memory_rmw(volatile void *p, unsigned size, memory_op_t op, uint64_t arg, int order,
                    void *pc);
/* Returns what it found; *done is 1 if value was written. */
uint64_t memory_cas(volatile void *p, unsigned size, uint64_t expected, uint64_t value, int order,
                    int failed, int *done, void *pc);
void memory_fence(int order);
void memory_plain(const volatile void *p, size_t size, int write, void *pc);
void memory_free(void *p, size_t size, void *pc);
uint64_t memory_futex_read(const void *p);      /* as the kernel does in FUTEX_WAIT */
void memory_futex_publish(const void *p);       /* as the kernel does in FUTEX_WAKE */

/* races.c */
enum access { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, ACCESS_KINDS };
void races_create(void);
void races_reset(void);
/* Reports a race; freed: nothing may touch the bytes again. Is there an atomic object among them? */
int races_touch(uintptr_t begin, size_t size, enum access kind, int freed, void *pc);
void races_atomic(uintptr_t address);           /* an atomic object begins here */

/* hooks.c */
void hooks_create(void);
void hooks_reset(void);

/* report.c */
void model_event(const char *what, const volatile void *p, uint64_t value, int order, void *pc);
void model_fail(const char *check, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
const char *model_where(void *pc);              /* function and line, for messages */
void report_create(void);

#endif /* MODEL_H_INCLUDED */

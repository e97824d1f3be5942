/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The driver and the scheduler: threads are contexts on stacks of their own, of which one runs at a
 * time; see model.h. */

#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The client's main, renamed by the compiler's command line. */
extern int model_client(void);

/* Where the linker put the program's writable data; all of it is put back before each run. */
extern char __data_start[], _edata[], __bss_start[], _end[];

model_t *model;

/* ---- random numbers: xorshift64*, seeded through splitmix64 ---- */

static void seed_random(uint64_t seed)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    model->random = (z ^ (z >> 31)) | 1;
}

uint32_t model_random(uint32_t n)
{
    uint64_t x = model->random;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    model->random = x;
    return (uint32_t) ((x * 0x2545f4914f6cdd1du) >> 32) % n;
}

int model_odds(int of16)
{
    return of16 > 0 && (int) model_random(16) < of16;
}

/* ---- choice of the next thread ---- */

static int ready(const thread_t *thread, int yielded_too)
{
    return thread->state == THREAD_RUNNABLE && (yielded_too || !thread->yielded);
}

static int count_ready(int yielded_too)
{
    int n = 0;

    for (int i = 0; i < model->threads; i++)
        n += ready(&model->thread[i], yielded_too);
    return n;
}

static thread_t *nth_ready(int n, int yielded_too)
{
    for (int i = 0;; i++) {
        if (ready(&model->thread[i], yielded_too) && n-- == 0)
            return &model->thread[i];
    }
}

static thread_t *highest_ready(int yielded_too)
{
    thread_t *best = NULL;

    for (int i = 0; i < model->threads; i++) {
        thread_t *t = &model->thread[i];
        if (ready(t, yielded_too) && (!best || t->priority > best->priority))
            best = t;
    }
    return best;
}

static void become_last(thread_t *thread)
{
    thread->priority = model->lowest--;
}

static void change_priorities(void)
{
    for (int i = 0; i < (int) (sizeof(model->change) / sizeof(model->change[0])); i++) {
        if (model->change[i] == model->steps)
            become_last(model->self);
    }
}

static void deadlock(void)
{
    char text[512] = "";
    size_t used = 0;

    for (int i = 0; i < model->threads; i++) {
        thread_t *t = &model->thread[i];
        if (t->state == THREAD_BLOCKED && used < sizeof(text))
            used += (size_t) snprintf(text + used, sizeof(text) - used, "%s thread %d: %s %p",
                                      used ? "," : "", i, t->waits_how, t->waits_for);
    }
    model_fail("deadlock", "nobody can run;%s", text);
}

static thread_t *choose(void)
{
    int yielded_too = 0;
    int n = count_ready(0);

    if (n == 0) {
        yielded_too = 1;
        n = count_ready(1);
    }
    if (n == 0)
        deadlock();
    if (model->pct)
        return highest_ready(yielded_too);
    if (ready(model->self, yielded_too) && !model_odds(model->switch_odds))
        return model->self;
    return nth_ready((int) model_random((uint32_t) n), yielded_too);
}

static void switch_to(thread_t *next)
{
    thread_t *self = model->self;

    next->burst = 0;
    model->stats.switches++;
    model->self = next;
    swapcontext(&self->context, &next->context);
}

/* Somebody goes on, perhaps the caller. */
static void reschedule(void)
{
    if (++model->steps > MODEL_STEPS)
        model_fail("livelock", "no end after %d steps", MODEL_STEPS);
    if (model->pct)
        change_priorities();
    /* the caller has made a step, so that all who gave way to others may go on */
    for (int i = 0; i < model->threads; i++) {
        if (&model->thread[i] != model->self)
            model->thread[i].yielded = 0;
    }

    thread_t *next = choose();
    next->yielded = 0;
    if (next != model->self)
        switch_to(next);
}

void model_step(void)
{
    if (++model->self->burst > MODEL_BURST)
        model_yield();
    else
        reschedule();
}

void model_yield(void)
{
    model->self->yielded = 1;
    model->self->burst = 0;
    if (model->pct)
        become_last(model->self);
    reschedule();
}

void model_block(const void *what, const char *how)
{
    thread_t *self = model->self;

    self->state = THREAD_BLOCKED;
    self->waits_for = what;
    self->waits_how = how;
    reschedule();
}

int model_unblock(const void *what, int most)
{
    int first = (int) model_random(MODEL_THREADS), woken = 0;

    for (int i = 0; i < MODEL_THREADS && woken < most; i++) {
        thread_t *t = &model->thread[(first + i) % MODEL_THREADS];
        if (t->state == THREAD_BLOCKED && t->waits_for == what) {
            t->state = THREAD_RUNNABLE;
            woken++;
        }
    }
    return woken;
}

/* ---- threads ---- */

int model_index(const thread_t *thread)
{
    return (int) (thread - model->thread);
}

static void thread_end(void)
{
    thread_t *self = model->self;

    self->state = THREAD_DONE;
    model_unblock(self, MODEL_THREADS);
    if (self == &model->thread[0])
        setcontext(&model->driver);     /* the end of main is the end of the program */
    reschedule();
}

static void thread_main(void)
{
    thread_t *self = model->self;

    self->result = self->body(self->arg);
    thread_end();
}

/* Stack that the run before has used must not be seen by this one. */
#define STACK_CLEARED 8192

thread_t *model_spawn(void *(*body)(void *), void *arg)
{
    if (model->threads == MODEL_THREADS)
        model_fail("limit", "more than %d threads", MODEL_THREADS);

    thread_t *t = &model->thread[model->threads++];
    t->body = body;
    t->arg = arg;
    t->state = THREAD_RUNNABLE;
    t->yielded = t->burst = t->error = 0;
    t->priority = (int) model_random(1000);
    memset(&t->pending, 0, sizeof(t->pending));
    memset(&t->fenced, 0, sizeof(t->fenced));
    memset(&t->now, 0, sizeof(t->now));
    if (model->self)
        view_join(&t->now, &model->self->now);
    t->now.clock[model_index(t)] = 1;
    memset(t->stack + MODEL_STACK - STACK_CLEARED, 0, STACK_CLEARED);
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = MODEL_STACK;
    t->context.uc_link = NULL;
    makecontext(&t->context, thread_main, 0);
    return t;
}

void *model_alloc(size_t size, size_t align)
{
    size_t begin = (model->arena_used + align - 1) / align * align;

    if (begin + size > MODEL_ARENA)
        model_fail("limit", "out of memory");
    model->arena_used = begin + size;
    return model->arena + begin;
}

/* ---- runs ---- */

static void *client_body(void *arg)
{
    (void) arg;
    if (model_client() != 0)
        model_fail("assert", "main returned nonzero");
    return NULL;
}

/* What kind of search this seed stands for. */
static void plan(void)
{
    static const int switches[] = { 2, 4, 8, 12 };
    static const int stales[] = { 0, 4, 8, 12 };
    static const int inserts[] = { 0, 0, 4, 8 };
    uint32_t length = 20u << model_random(5);

    model->pct = (int) (model->seed & 1);
    model->switch_odds = switches[model_random(4)];
    model->stale_odds = stales[model_random(4)];
    model->insert_odds = inserts[model_random(4)];
    model->lowest = -1;
    for (int i = 0; i < 4; i++)
        model->change[i] = i < (int) model_random(5) ? 1 + (int) model_random(length) : 0;
}

static void run(uint64_t seed)
{
    model->seed = seed;
    seed_random(seed);
    plan();
    memset(model->arena, 0, model->arena_used);
    model->arena_used = 0;
    model->steps = 0;
    model->nanoseconds = 0;
    model->threads = 0;
    model->event_count = 0;
    model->self = NULL;
    for (int i = 0; i < MODEL_THREADS; i++)
        model->thread[i].state = THREAD_UNUSED;
    memory_reset();
    hooks_reset();
    model->self = model_spawn(client_body, NULL);
    alarm(MODEL_HUNG);
    swapcontext(&model->driver, &model->self->context);
    model->stats.steps += model->steps;
}

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return p;
}

static void create(const char *name)
{
    model = map(sizeof(*model));
    model->name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    model->arena = map(MODEL_ARENA);
    for (int i = 0; i < MODEL_THREADS; i++)
        model->thread[i].stack = map(MODEL_STACK);
    memory_create();
    hooks_create();
    report_create();
}

static void usage(void)
{
    fprintf(stderr, "usage: %s [-n SEEDS] [-s FIRST] [-t]\n"
            "  runs the client once for each seed; -t prints the last steps of a failure\n",
            model->name);
    exit(2);
}

int main(int argc, char **argv)
{
    long seeds = 1000, first = 1;
    size_t data = (size_t) (_edata - __data_start), bss = (size_t) (_end - __bss_start);
    int option;

    create(argv[0]);
    while ((option = getopt(argc, argv, "n:s:t")) != -1) {
        if (option == 'n')
            seeds = atol(optarg);
        else if (option == 's')
            first = atol(optarg);
        else if (option == 't')
            model->trace = 1;
        else
            usage();
    }
    if (optind != argc || seeds < 1)
        usage();

    char *data_copy = map(data + 1), *bss_copy = map(bss + 1);
    memcpy(data_copy, __data_start, data);
    memcpy(bss_copy, __bss_start, bss);
    for (long s = first; s < first + seeds; s++) {
        memcpy(__data_start, data_copy, data);
        memcpy(__bss_start, bss_copy, bss);
        run((uint64_t) s);
    }
    printf("%s: %ld seeds, %ld steps each, %ld switches, %ld stale reads, %ld older writes, "
           "%ld sleeps\n", model->name, seeds, model->stats.steps / seeds, model->stats.switches,
           model->stats.stale, model->stats.inserted, model->stats.parked);
    return 0;
}

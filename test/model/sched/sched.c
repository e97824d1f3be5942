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

/* Enumerating: has this thread waited for another one long enough? Each thread that can run gets a
 * step after two yields of this one, so that loops that write cannot go on for ever. */
static int gives_way(const thread_t *thread)
{
    for (int i = 0; i < model->threads; i++) {
        if (thread->passed_over[i] >= 2 && ready(&model->thread[i], 0))
            return 1;
    }
    return 0;
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

/* The threads that may run next. To go on with the caller costs nothing; to stop a thread that could
 * go on is a preemption. */
extern const int model_symmetric __attribute__((weak));

/* Enumerating: another thread that has not begun stands for this one. */
static int is_double(const thread_t *thread)
{
    if (&model_symmetric == NULL || thread->started)
        return 0;
    for (const thread_t *t = model->thread; t < thread; t++) {
        if (!t->started && t->body == thread->body)
            return 1;
    }
    return 0;
}

static int candidates(thread_t *list[MODEL_THREADS])
{
    int yielded_too = count_ready(0) == 0;
    int goes_on = ready(model->self, 0), n = 0;

    if (goes_on)
        list[n++] = model->self;
    if (goes_on && model->preemptions >= model->preemptions_max)
        return n;
    for (int i = 0; i < model->threads; i++) {
        thread_t *t = &model->thread[i];
        if (ready(t, yielded_too) && !(goes_on && t == model->self) && !gives_way(t) &&
            !is_double(t))
            list[n++] = t;
    }
    return n;
}

static thread_t *choose_enumerated(void)
{
    thread_t *list[MODEL_THREADS];
    int n = candidates(list);
    int goes_on = ready(model->self, 0);

    if (n == 0)
        deadlock();
    if (enumerate_seen())
        enumerate_abandon();

    uint32_t i = enumerate_choice((uint32_t) n);
    model->preemptions += goes_on && i > 0;
    return list[i];
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

/* Not swapcontext, which calls the kernel each time. */
static void resume(thread_t *thread)
{
    if (thread->started)
        _longjmp(thread->resume, 1);
    thread->started = 1;
    setcontext(&thread->context);
}

static void switch_to(thread_t *next)
{
    thread_t *self = model->self;

    next->burst = 0;
    model->stats.switches++;
    model->self = next;
    if (_setjmp(self->resume) == 0)
        resume(next);
}

/* Let a thread continue, perhaps the caller. */
static void reschedule(void)
{
    if (++model->steps > MODEL_STEPS)
        model_fail("livelock", "no end after %d steps", MODEL_STEPS);
    if (model->pct)
        change_priorities();
    /* the caller has made a step, so threads that gave way to others may go on */
    for (int i = 0; i < model->threads; i++) {
        thread_t *t = &model->thread[i];
        if (t != model->self && !(t->stuck && t->round_writes == model->writes))
            t->yielded = 0;
    }

    thread_t *next = model->enumerating ? choose_enumerated() : choose();
    next->yielded = 0;
    for (int i = 0; i < model->threads; i++)
        model->thread[i].passed_over[model_index(next)] = 0;
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

uint32_t model_choice(uint32_t n)
{
    return model->enumerating ? enumerate_choice(n) : model_random(n);
}

void model_wrote(void)
{
    model->writes++;
    model->self->changed = 1;
}

void model_abandon(void)
{
    _longjmp(model->driver, 1);
}

/* Of the part of the stack that is in use, and of the registers that a callee saves. */
__attribute__((noinline)) static uint64_t stack_hash(const thread_t *thread)
{
    jmp_buf registers;
    const char *end = thread->stack + MODEL_STACK;
    uint64_t hash = 0, word;

    memset(&registers, 0, sizeof(registers));
    _setjmp(registers);
    for (const char *p = __builtin_frame_address(0); p + sizeof(word) <= end; p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        hash = model_mix(hash, word);
    }
    for (size_t i = 0; i + sizeof(word) <= sizeof(registers); i += sizeof(word)) {
        memcpy(&word, (const char *) &registers + i, sizeof(word));
        hash = model_mix(hash, word);
    }
    return hash;
}

/* All threads that can run wait in loops that repeat themselves, and none writes. */
static int all_stuck(void)
{
    for (int i = 0; i < model->threads; i++) {
        const thread_t *t = &model->thread[i];
        if (t->state == THREAD_RUNNABLE && !(t->stuck && t->round_writes == model->writes))
            return 0;
    }
    return 1;
}

/* A round of a waiting loop ends. If the thread has learned nothing in it, it is where it was at
 * the end of the round before, and its history is what it was then. */
static void end_round(thread_t *thread)
{
    uint64_t stack = stack_hash(thread);

    thread->stuck = 0;
    if (!thread->changed && stack == thread->round_stack) {
        /* with an old message: nothing else has happened than if it had looked later */
        if (thread->stale)
            enumerate_abandon();
        thread->history = thread->round_history;
        thread->stuck = 1;
        if (all_stuck())
            model_fail("livelock", "all threads wait in loops, and nobody writes");
    } else {
        thread->round++;
        thread->history = model_mix(thread->history, (uint64_t) thread->round);
        for (int i = 0; i < model->threads; i++) {
            if (&model->thread[i] != thread && ready(&model->thread[i], 0) &&
                thread->passed_over[i] < 2)
                thread->passed_over[i]++;
        }
    }
    thread->round_history = thread->history;
    thread->round_stack = stack;
    thread->round_writes = model->writes;
    thread->changed = thread->stale = 0;
}

void model_yield(void)
{
    if (model->enumerating)
        end_round(model->self);
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
    model_wrote();
    reschedule();
}

static int count_waiting(const void *what)
{
    int n = 0;

    for (int i = 0; i < MODEL_THREADS; i++)
        n += model->thread[i].state == THREAD_BLOCKED && model->thread[i].waits_for == what;
    return n;
}

int model_unblock(const void *what, int most)
{
    int all = count_waiting(what), woken = 0;
    int first = most < all || !model->enumerating ? (int) model_choice(MODEL_THREADS) : 0;

    for (int i = 0; i < MODEL_THREADS && woken < most; i++) {
        thread_t *t = &model->thread[(first + i) % MODEL_THREADS];
        if (t->state == THREAD_BLOCKED && t->waits_for == what) {
            t->state = THREAD_RUNNABLE;
            model_wrote();
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
        model_abandon();        /* the end of main is the end of the program */
    model_wrote();
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
    t->yielded = t->burst = t->error = t->started = t->stuck = t->stale = 0;
    t->changed = 1;
    t->history = model_mix(model->self ? model->self->history : 1, (uint64_t) model->threads);
    memset(t->passed_over, 0, sizeof(t->passed_over));
    memset(t->old, 0, sizeof(t->old));
    t->round = 0;
    t->priority = model->enumerating ? 0 : (int) model_random(1000);
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

void *model_map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return p;
}

static void save_image(void)
{
    size_t data = (size_t) (_edata - __data_start), bss = (size_t) (_end - __bss_start);
    char *copy = model_map(data + 1), *bss_copy = model_map(bss + 1);

    model->data = copy;
    model->bss = bss_copy;
    memcpy(copy, __data_start, data);
    memcpy(bss_copy, __bss_start, bss);
}

static void restore_image(void)
{
    const char *data = model->data, *bss = model->bss;

    memcpy(__data_start, data, (size_t) (_edata - __data_start));
    memcpy(__bss_start, bss, (size_t) (_end - __bss_start));
}

void model_run(uint64_t seed)
{
    restore_image();
    model->seed = seed;
    seed_random(seed);
    plan();
    memset(model->arena, 0, model->arena_used);
    model->arena_used = 0;
    model->steps = model->writes = 0;
    model->preemptions = model->spurious = 0;
    model->nanoseconds = 0;
    model->threads = 0;
    model->event_count = 0;
    model->self = NULL;
    for (int i = 0; i < MODEL_THREADS; i++)
        model->thread[i].state = THREAD_UNUSED;
    memory_reset();
    races_reset();
    hooks_reset();
    model->self = model_spawn(client_body, NULL);
    if (model->runs++ % 256 == 0)
        alarm(MODEL_HUNG);
    if (_setjmp(model->driver) == 0)
        resume(model->self);
    model->stats.steps += model->steps;
}

static void create(const char *name)
{
    model = model_map(sizeof(*model));
    model->preemptions_max = 2;
    model->name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    model->arena = model_map(MODEL_ARENA);
    for (int i = 0; i < MODEL_THREADS; i++)
        model->thread[i].stack = model_map(MODEL_STACK);
    memory_create();
    races_create();
    hooks_create();
    report_create();
    enumerate_create();
}

static void usage(void)
{
    fprintf(stderr, "usage: %s [-n SEEDS] [-s FIRST] [-t]\n"
            "       %s -e [-k PREEMPTIONS] [-b BOUND] [-t]\n"
            "  runs the client once for each seed, or enumerates: all schedules with so many\n"
            "  preemptions (default 2) and all writes that a read may see. Exit status 3: not\n"
            "  complete after BOUND executions. -t prints the last steps of a failure.\n",
            model->name, model->name);
    exit(2);
}

static int run_seeds(uint64_t first, long seeds)
{
    for (uint64_t s = first; s < first + (uint64_t) seeds; s++)
        model_run(s);
    printf("%s: %ld seeds, %ld steps each, %ld switches, %ld stale reads, %ld older writes, "
           "%ld sleeps\n", model->name, seeds, model->stats.steps / seeds, model->stats.switches,
           model->stats.stale, model->stats.inserted, model->stats.parked);
    return 0;
}

/* For the client: whether all its executions are asked for. */
extern int model_enumerates;
int model_enumerates;

int main(int argc, char **argv)
{
    long seeds = 1000, first = 1, bound = 1000000;
    int option;

    create(argv[0]);
    while ((option = getopt(argc, argv, "n:s:tek:b:")) != -1) {
        if (option == 'n')
            seeds = atol(optarg);
        else if (option == 's')
            first = atol(optarg);
        else if (option == 't')
            model->trace = 1;
        else if (option == 'e')
            model->enumerating = model_enumerates = 1;
        else if (option == 'k')
            model->preemptions_max = atoi(optarg);
        else if (option == 'b')
            bound = atol(optarg);
        else
            usage();
    }
    if (optind != argc || seeds < 1 || bound < 1 || model->preemptions_max < 0)
        usage();
    save_image();
    return model->enumerating ? enumerate(bound) : run_seeds((uint64_t) first, seeds);
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The one instance of the measure of load; see tsm_load.h. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "tsm_load.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#define TICK_NS   1000000u      /* a tick is a millisecond */
#define PERIOD_NS TICK_NS       /* from one refresh to the next, at least */
#define SHARE     32            /* a refresh may take 1/SHARE of one thread's time */
#define RECORD_NS 50            /* about what a refresh takes for a record or slot */
#define TOUCHES   64            /* a thread reads the clock once in this many touches */
#define MASKS     4             /* masks that a refresh reads again */

typedef struct mask {
    uint64_t word[TSM_LOAD_WORDS];
} mask_t;

tsm_load_figures_t tsm_load_figures_ TSM_ALIGNED = {.override = -1 };
__thread tsm_load_record_t *tsm_load_self_ __attribute__((tls_model("initial-exec")));
__thread unsigned tsm_load_yields_ __attribute__((tls_model("initial-exec")));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;

/* Guards all that follows. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int has_key;
static tsm_load_record_t *records;
static int record_count;
static tsm_load_record_t *cursor;       /* whose mask is read next */
static mask_t processors;               /* the union in force */
static mask_t pass;                     /* the union of the pass over the records under way */
static tsm_load_slot_t *slots;
static int slot_count;
static tsm_load_slot_t *slot;           /* ours */

/* ---- masks ---- */

/* The processors of a thread of ours, none if it has ended; 0: the caller. */
static void mask_read(int tid, mask_t *mask)
{
    memset(mask, 0, sizeof(*mask));
#ifdef __linux__
    if (sched_getaffinity(tid, sizeof(*mask), (cpu_set_t *) (void *) mask) == 0)
        return;
    memset(mask, 0, sizeof(*mask));
    if (tid != 0 && errno == ESRCH)
        return;
#endif
    (void) tid;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < n && i < TSM_LOAD_CPUS; i++)
        mask->word[i / 64] |= (uint64_t) 1 << i % 64;
}

static int mask_count(const mask_t *mask)
{
    int count = 0;

    for (int i = 0; i < TSM_LOAD_WORDS; i++)
        count += __builtin_popcountll(mask->word[i]);
    return count;
}

static void mask_add(mask_t *to, const mask_t *from)
{
    for (int i = 0; i < TSM_LOAD_WORDS; i++)
        to->word[i] |= from->word[i];
}

/* Words up to the last one that is not 0. */
static int mask_words(const mask_t *mask)
{
    int words = TSM_LOAD_WORDS;

    while (words > 0 && mask->word[words - 1] == 0)
        words--;
    return words;
}

/* Add a mask. New processors count at once; those that are gone count until the pass ends. */
static void masks_see(int tid)
{
    mask_t mask;

    mask_read(tid, &mask);
    mask_add(&pass, &mask);
    mask_add(&processors, &mask);
}

static void masks_publish(void)
{
    int count = mask_count(&processors);

    tsm_store(&tsm_load_figures_.processors, count < 1 ? 1 : count, TSM_RELAXED);
}

/* Read the next few masks again. */
static void masks_refresh(void)
{
    for (int i = 0; i < MASKS && cursor != NULL; i++) {
        masks_see(cursor->tid);
        cursor = cursor->next;
    }
    if (cursor == NULL && records != NULL) {
        processors = pass;
        memset(&pass, 0, sizeof(pass));
        cursor = records;
    }
    masks_publish();
}

/* ---- other processes ---- */

static void slot_write(uint32_t tick, int wanted)
{
    int words = mask_words(&processors);

    for (int i = 0; i < words; i++) {
        if (tsm_load(&slot->mask[i], TSM_RELAXED) != processors.word[i])
            tsm_store(&slot->mask[i], processors.word[i], TSM_RELAXED);
    }
    tsm_store(&slot->words, (uint32_t) words, TSM_RELAXED);
    tsm_store(&slot->wanted, (uint32_t) wanted, TSM_RELAXED);
    tsm_store(&slot->tick, tick ? tick : 1, TSM_RELAXED);
}

static int slot_intersects(tsm_load_slot_t *other)
{
    uint32_t words = tsm_load(&other->words, TSM_RELAXED);

    for (uint32_t i = 0; i < words && i < TSM_LOAD_WORDS; i++) {
        if (tsm_load(&other->mask[i], TSM_RELAXED) & processors.word[i])
            return 1;
    }
    return 0;
}

/* Its clock may be a little ahead of ours. */
static int slot_is_fresh(tsm_load_slot_t *other, uint32_t now)
{
    uint32_t tick = tsm_load(&other->tick, TSM_RELAXED);
    int32_t age = (int32_t) (now - tick);

    return tick != 0 && age <= TSM_LOAD_SHARED_MS && age >= -TSM_LOAD_SHARED_MS;
}

/* Threads of the other processes that compete for our processors. */
static long slots_wanted(uint32_t tick)
{
    long sum = 0;

    for (int i = 0; i < slot_count; i++) {
        tsm_load_slot_t *other = &slots[i];
        if (other != slot && slot_is_fresh(other, tick) && slot_intersects(other))
            sum += tsm_load(&other->wanted, TSM_RELAXED);
    }
    return sum;
}

void tsm_load_unshare(void)
{
    pthread_mutex_lock(&mutex);
    if (slot != NULL)
        tsm_store(&slot->tick, 0, TSM_RELAXED);
    slots = slot = NULL;
    slot_count = 0;
    pthread_mutex_unlock(&mutex);
}

void tsm_load_share(tsm_load_slot_t *array, int n, int mine)
{
    tsm_load_unshare();
    pthread_mutex_lock(&mutex);
    slots = array;
    slot_count = n;
    slot = &array[mine];
    pthread_mutex_unlock(&mutex);
    tsm_store(&tsm_load_figures_.due, 0, TSM_RELAXED);
}

void tsm_load_rest(void)
{
    pthread_mutex_lock(&mutex);
    if (slot != NULL)
        tsm_store(&slot->wanted, 0, TSM_RELAXED);
    pthread_mutex_unlock(&mutex);
}

/* ---- threads ---- */

static int current_tid(void)
{
#ifdef __linux__
    return (int) syscall(SYS_gettid);
#else
    return 0;
#endif
}

/* With the mutex held. */
static void record_remove(tsm_load_record_t *record)
{
    if (cursor == record)
        cursor = record->next;
    if (record->prev != NULL)
        record->prev->next = record->next;
    else
        records = record->next;
    if (record->next != NULL)
        record->next->prev = record->prev;
    record_count--;
}

/* With the mutex held; by the thread itself. */
static void record_insert(tsm_load_record_t *record)
{
    record->prev = NULL;
    record->next = records;
    if (records != NULL)
        records->prev = record;
    else
        cursor = record;
    records = record;
    record_count++;
    masks_see(0);
    masks_publish();
}

/* The thread ends. */
static void at_exit(void *arg)
{
    pthread_mutex_lock(&mutex);
    record_remove(arg);
    pthread_mutex_unlock(&mutex);
    tsm_load_self_ = NULL;
    free(arg);
}

static void fork_prepare(void)
{
    pthread_mutex_lock(&mutex);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&mutex);
}

/* Only the calling thread is left. The records of the other threads stay allocated, as does the
 * memory of those threads. */
static void fork_child(void)
{
    records = cursor = NULL;
    record_count = 0;
    slots = slot = NULL;
    slot_count = 0;
    memset(&pass, 0, sizeof(pass));
    memset(&processors, 0, sizeof(processors));
    if (tsm_load_self_ != NULL) {
        tsm_load_self_->tid = current_tid();
        record_insert(tsm_load_self_);
    }
    pthread_mutex_unlock(&mutex);
}

static void begin(void)
{
    pthread_mutex_lock(&mutex);
    has_key = pthread_key_create(&exit_key, at_exit) == 0;
    pthread_mutex_unlock(&mutex);
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* The library may be unloaded before its threads end: no destructor may call into it then. A thread
 * whose first touch comes later is not counted. */
__attribute__((destructor)) static void end_of_library(void)
{
    pthread_mutex_lock(&mutex);
    if (has_key)
        pthread_key_delete(exit_key);
    has_key = 0;
    pthread_mutex_unlock(&mutex);
}

/* With the mutex held. The caller's record, now in the list, or NULL without memory or a key. */
static tsm_load_record_t *record_make(void)
{
    tsm_load_record_t *self;

    if (!has_key || posix_memalign((void **) &self, TSM_CACHELINE, TSM_CACHELINE) != 0)
        return NULL;
    memset(self, 0, sizeof(*self));
    self->tid = current_tid();
    if (pthread_setspecific(exit_key, self) != 0) {
        free(self);
        return NULL;
    }
    record_insert(self);
    return self;
}

/* The caller's first touch. It never waits, since a thread that has the mutex may be stopped: the
 * caller then does not count, and tries again at the next touch. */
static void enlist(void)
{
    pthread_once(&once, begin);
    if (pthread_mutex_trylock(&mutex) != 0)
        return;
    tsm_load_self_ = record_make();
    pthread_mutex_unlock(&mutex);
    if (tsm_load_self_ == NULL)
        return;
    /* a new thread counts at once, unless there are too many already */
    if (!tsm_load(&tsm_load_figures_.crowded, TSM_RELAXED))
        tsm_store(&tsm_load_figures_.due, 0, TSM_RELAXED);
}

_Static_assert(sizeof(tsm_load_record_t) <= TSM_CACHELINE, "a record has a line of its own");

/* ---- refresh ---- */

/* The time from one refresh to the next. Not measured: the refresh may have been preempted. */
static uint64_t period(void)
{
    uint64_t cost = (uint64_t) (record_count + slot_count) * RECORD_NS;

    return cost * SHARE > PERIOD_NS ? cost * SHARE : PERIOD_NS;
}

/* Threads of ours that want a processor, and the caller. */
static int records_wanted(uint32_t tick)
{
    uint32_t window = (uint32_t) (2 * period() / TICK_NS);
    int count = 0;

    if (window < TSM_LOAD_WINDOW_MS)
        window = TSM_LOAD_WINDOW_MS;
    for (tsm_load_record_t *r = records; r != NULL; r = r->next) {
        count += tsm_load(&r->in_wait, TSM_RELAXED) || r == tsm_load_self_ ||
            tick - tsm_load(&r->tick, TSM_RELAXED) <= window;
    }
    return count;
}

/* With the mutex held. */
static void take_figures(uint64_t now)
{
    uint32_t tick = (uint32_t) (now / TICK_NS);
    int wanted = records_wanted(tick);
    long others = 0;

    masks_refresh();
    if (slot != NULL) {
        slot_write(tick, wanted);
        others = slots_wanted(tick);
    }
    tsm_store(&tsm_load_figures_.wanted, wanted, TSM_RELAXED);
    tsm_store(&tsm_load_figures_.tick, tick, TSM_RELAXED);
    if (tsm_load(&tsm_load_figures_.override, TSM_RELAXED) < 0) {
        long room = tsm_load(&tsm_load_figures_.processors, TSM_RELAXED);
        tsm_store(&tsm_load_figures_.crowded, wanted + others > room, TSM_RELAXED);
    }
}

/* Take the figures if a refresh is due and no other thread takes them. */
static void refresh(void)
{
    uint64_t now = tsm_now_ns();

    if (now < tsm_load(&tsm_load_figures_.due, TSM_RELAXED) || pthread_mutex_trylock(&mutex) != 0)
        return;
    if (now >= tsm_load(&tsm_load_figures_.due, TSM_RELAXED)) {
        take_figures(now);
        tsm_store(&tsm_load_figures_.due, now + period(), TSM_RELAXED);
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- the rare halves ---- */

void tsm_load_touch_slow_(void)
{
    int saved = errno;

    if (tsm_load_self_ == NULL)
        enlist();
    refresh();
    if (tsm_load_self_ != NULL) {
        uint32_t tick = tsm_load(&tsm_load_figures_.tick, TSM_RELAXED);
        tsm_load_self_->touches = TOUCHES;
        tsm_store(&tsm_load_self_->tick, tick, TSM_RELAXED);
    }
    errno = saved;
}

int tsm_load_crowded_slow_(void)
{
    if (tsm_load(&tsm_load_figures_.override, TSM_RELAXED) < 0)
        refresh();
    return (int) tsm_load(&tsm_load_figures_.crowded, TSM_RELAXED);
}

int tsm_load_processors_slow_(void)
{
    int count;

    tsm_load_touch();
    count = tsm_load(&tsm_load_figures_.processors, TSM_RELAXED);
    return count > 0 ? count : 1;
}

int tsm_load_wanted(void)
{
    return tsm_load(&tsm_load_figures_.wanted, TSM_RELAXED);
}

void tsm_load_override(int crowded)
{
    pthread_mutex_lock(&mutex);
    tsm_store(&tsm_load_figures_.override, crowded, TSM_RELAXED);
    tsm_store(&tsm_load_figures_.crowded, crowded > 0, TSM_RELAXED);
    tsm_store(&tsm_load_figures_.due, 0, TSM_RELAXED);
    pthread_mutex_unlock(&mutex);
}

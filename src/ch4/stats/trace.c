/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#ifdef ENABLE_THREAD_STATS

#include <sched.h>
#include "threads/stats/hooks.h"
#include "threads/stats/trace.h"
#include "tsm/tsm_load.h"

static struct {
    TSM_ATOMIC(int) threads;
    TSM_ATOMIC(int) without;
    MPIDI_trace_base_t base;    /* written in MPI_Init */
} trace;

static uint64_t value_of(const MPIDI_count_t * counter)
{
    return tsm_load(counter, TSM_RELAXED);
}

void MPIDI_trace_read_counts(const MPIDI_vci_t * vci, uint64_t * counts)
{
    const MPIDI_vci_stats_t *s = &vci->stats;

    counts[MPIDI_TRACE_PROGRESS] = value_of(&vci->held.progress);
    counts[MPIDI_TRACE_CONTENDED] = value_of(&s->contended);
    counts[MPIDI_TRACE_COMPETITORS] = value_of(&s->waiting_sum);
    for (int level = 0; level < MPIDI_STATS_LEVELS; level++) {
        counts[MPIDI_TRACE_SAME + level] = value_of(&s->monopolized[level]);
        counts[MPIDI_TRACE_FAIR + level] = value_of(&s->fair[level]);
    }
    counts[MPIDI_TRACE_POLLS] = value_of(&vci->polls);
    counts[MPIDI_TRACE_VAIN] = value_of(&s->polls_vain);
    counts[MPIDI_TRACE_WASTED] = value_of(&s->polls_wasted);
    counts[MPIDI_TRACE_COMBINED] = value_of(&s->combined);
    counts[MPIDI_TRACE_COUNTS] = value_of(&vci->held.acquired);
}

/* Acquisitions to the next one that is recorded: `sample` on average, but never a fixed number of
 * them, which might always meet the same call of a loop. xorshift64, seeded by the thread's number. */
static uint64_t distance(MPIDI_trace_buffer_t * b)
{
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return 1 + b->random % (2 * (uint64_t) trace.base.sample - 1);
}

/* Returns NULL if the buffer is full. */
static MPIDI_trace_record_t *take(MPIDI_trace_buffer_t * b, int kind)
{
    MPIDI_trace_record_t *r = &b->record[b->used];

    if (b->used == b->size) {
        b->dropped[kind]++;
        return NULL;
    }
    b->used++;
    r->kind = kind;
    r->begin = tsm_now_ns();
    return r;
}

void MPIDI_trace_acquired(MPIDI_vci_t * vci, MPIDI_thread_t * self)
{
    MPIDI_trace_buffer_t *b = self->stats.trace;
    uint64_t counts[MPIDI_TRACE_COUNTS + 1];
    MPIDI_trace_record_t *r;

    if (--b->until > 0) {
        b->skipped++;
        return;
    }
    b->until = distance(b);
    r = take(b, MPIDI_TRACE_HOLD);
    if (!r)
        return;
    MPIDI_trace_read_counts(vci, counts);
    for (int i = 0; i < MPIDI_TRACE_COUNTS; i++)
        r->u.hold.counts[i] = (uint32_t) counts[i];
    r->u.hold.vci = vci->index;
    r->u.hold.cpu = sched_getcpu();
    r->u.hold.number = counts[MPIDI_TRACE_COUNTS];
    vci->stats.traced = r;
    vci->held.tenure |= MPIDI_STATS_TRACED;
}

void MPIDI_trace_released(MPIDI_vci_t * vci)
{
    MPIDI_trace_record_t *r = vci->stats.traced;
    uint64_t counts[MPIDI_TRACE_COUNTS + 1];

    MPIDI_trace_read_counts(vci, counts);
    for (int i = 0; i < MPIDI_TRACE_COUNTS; i++)
        r->u.hold.counts[i] = (uint32_t) counts[i] - r->u.hold.counts[i];
    for (int path = 0; path < MPIDI_STATS_PATHS; path++)
        r->u.hold.left[path] = (uint32_t) MPIDI_stats_waiting_on(vci, path);
    r->end = tsm_now_ns();
}

static void add_queues(uint64_t * values)
{
    for (int i = 0; i < MPIDI_global.n_vcis; i++) {
        const MPIDI_vci_t *vci = &MPIDI_VCI(i).threads;
        const MPIDI_vci_stats_t *s = &vci->stats;
        values[MPIDI_TRACE_POSTED_RECEIVES] += value_of(&s->posted.length);
        values[MPIDI_TRACE_UNEXPECTED] += value_of(&s->unexpected.length);
        values[MPIDI_TRACE_QUEUE] -= value_of(&s->taken);
        values[MPIDI_TRACE_WAITING] += MPIDI_stats_waiting(vci);
    }
}

static void add_issued(uint64_t * values, const MPIDI_thread_stats_t * s)
{
    for (int way = 0; way < MPIDI_STATS_WAYS; way++) {
        values[MPIDI_TRACE_SENDS] += value_of(&s->issued[way][MPIDI_STATS_SEND]);
        values[MPIDI_TRACE_RECEIVES] += value_of(&s->issued[way][MPIDI_STATS_RECV]);
        values[MPIDI_TRACE_RMA] += value_of(&s->issued[way][MPIDI_STATS_RMA]);
    }
    for (int kind = 0; kind < MPIDI_STATS_KINDS; kind++)
        values[MPIDI_TRACE_QUEUE] += value_of(&s->issued[MPIDI_STATS_POSTED][kind]);
}

/* The holder of a VCI may be ahead of the thread that counts its post, so the queue may seem to be
 * shorter than empty. */
void MPIDI_trace_sample(MPIDI_thread_t * self, uint64_t dangling)
{
    MPIDI_trace_record_t *r = take(self->stats.trace, MPIDI_TRACE_SAMPLE);
    uint64_t values[MPIDI_TRACE_VALUES] = {[MPIDI_TRACE_DANGLING] = dangling };

    if (!r)
        return;
    add_queues(values);
    for (MPIDI_thread_t * t = MPIDI_thread_first(); t; t = t->next)
        add_issued(values, &t->stats);
    if ((int64_t) values[MPIDI_TRACE_QUEUE] < 0)
        values[MPIDI_TRACE_QUEUE] = 0;
    memcpy(r->u.values, values, sizeof(values));
}

/* Memory that is not used yet costs nothing: the kernel gives a page when a record is first written
 * there. */
void MPIDI_trace_join(MPIDI_thread_t * self)
{
    MPIDI_trace_buffer_t *b;

    if (!trace.base.size || self->stats.trace)
        return;
    b = (calloc) (1, sizeof(*b) + (size_t) trace.base.size * sizeof(b->record[0]));
    if (!b) {
        tsm_fetch_add(&trace.without, 1, TSM_RELAXED);
        return;
    }
    b->thread = tsm_fetch_add(&trace.threads, 1, TSM_RELAXED);
    b->size = trace.base.size;
    b->random = 0x9e3779b97f4a7c15u * (uint64_t) (b->thread + 1);
    b->until = distance(b);
    self->stats.trace = b;
}

void MPIDI_trace_begin(int sample, int size)
{
    if (trace.base.size)
        return;
    trace.base.sample = sample;
    trace.base.size = size;
    trace.base.begin_ns = tsm_now_ns();
    for (int i = 0; i < MPIDI_global.n_vcis; i++)
        MPIDI_trace_read_counts(&MPIDI_VCI(i).threads, trace.base.vci[i]);
    trace.base.misses = MPIDI_stats_sum(offsetof(MPIDI_thread_stats_t, misses));
    MPIDI_stats_look_always();
    MPIDI_thread_self();
    MPIDI_thread_foreach(MPIDI_trace_join);
}

const MPIDI_trace_base_t *MPIDI_trace_base(void)
{
    return &trace.base;
}

int MPIDI_trace_without(void)
{
    return tsm_load(&trace.without, TSM_RELAXED);
}

#endif

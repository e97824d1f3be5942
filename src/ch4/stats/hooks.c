/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#ifdef ENABLE_THREAD_STATS

#include "threads/stats/events.h"
#include "threads/stats/hooks.h"
#include "threads/stats/places.h"
#include "threads/stats/trace.h"
#include "tsm/tsm_load.h"

MPIDI_stats_dangling_t MPIDI_stats_dangling;

/* Of the calling thread's wait for a VCI; it waits for one at a time. 0: no tool asks. */
static __thread uint64_t wait_begin_ns;

static int number_of(const MPIDI_vci_stats_t * s)
{
    const char *first = (const char *) &MPIDI_VCI(0).threads.stats;

    return (int) ((size_t) ((const char *) s - first) / sizeof(MPIDI_VCI(0)));
}

/* Several threads may write. */
static void raise_most(MPIDI_count_t * most, uint64_t n)
{
    uint64_t found = tsm_load(most, TSM_RELAXED);

    while (n > found && !tsm_cas(most, &found, n, TSM_RELAXED, TSM_RELAXED));
}

static void change_waiting(MPIDI_vci_stats_t * s, int cpu, int by)
{
    if (s->waiting_core)
        tsm_fetch_add(&s->waiting_core[MPIDI_places_core(cpu)], by, TSM_RELAXED);
    if (s->waiting_node)
        tsm_fetch_add(&s->waiting_node[MPIDI_places_node(cpu)], by, TSM_RELAXED);
}

int MPIDI_stats_wait_begin(MPIDI_vci_t * vci, int path)
{
    MPIDI_vci_stats_t *s = &vci->stats;
    int cpu = sched_getcpu();

    MPIDI_STATS_COUNT(waits[path], 1);
    change_waiting(s, cpu, 1);
    tsm_fetch_add(&s->waiting[path], 1, TSM_RELAXED);
    raise_most(&s->waiting_most, MPIDI_stats_waiting(s));
    wait_begin_ns = MPIDI_events_clock();
    return cpu;
}

void MPIDI_stats_wait_end(MPIDI_vci_t * vci, int path, int cpu)
{
    tsm_fetch_add(&vci->stats.waiting[path], (uint64_t) -1, TSM_RELAXED);
    change_waiting(&vci->stats, cpu, -1);
    MPIDI_events_waited(number_of(&vci->stats), path, wait_begin_ns);
}

/* of_them is read after n, and may be more by then. */
static void add_scores(MPIDI_vci_stats_t * s, int level, int is_same, uint64_t of_them, uint64_t n)
{
    MPIDI_count(&s->monopolized[level], (uint64_t) is_same);
    MPIDI_count(&s->fair[level], MPL_MIN(of_them, n) * MPIDI_STATS_FAIR_ONE / n);
}

/* For the core and the NUMA node. The holder before may have moved since. */
static void add_place_scores(MPIDI_vci_stats_t * s, int cpu, uint64_t n)
{
    int core = MPIDI_places_core(s->last_cpu), node = MPIDI_places_node(s->last_cpu);
    int is_same = core == MPIDI_places_core(cpu);
    uint64_t there = (uint64_t) (tsm_load(&s->waiting_core[core], TSM_RELAXED) + is_same);

    add_scores(s, MPIDI_STATS_CORE, is_same, there, n);
    is_same = node == MPIDI_places_node(cpu);
    there = n;                  /* with one node */
    if (s->waiting_node)
        there = (uint64_t) (tsm_load(&s->waiting_node[node], TSM_RELAXED) + is_same);
    add_scores(s, MPIDI_STATS_NUMA, is_same, there, n);
}

/* TOPC section 5.1. Threads that wait count themselves, the winner here no longer, so N is one more.
 * Definition 5.2: M(S) counts the acquisitions by the thread of the one before, while more than one
 * thread was waiting. Definition 5.3: F(S) is the sum of P(Ai|N) = 1/N. Both sum over acquisitions with
 * N > 1 only: the others are free of arbitration, and would hide it behind a score of 1 each. For cores
 * and NUMA nodes, "scores [that] reflect clustered threads": M(S) counts acquisitions from the same
 * core or node, and P(Ai|N) is the share of the N threads that are there.
 * Definition 5.4, the bias factor M(S) / F(S), is left to the reader of the counters. */
void MPIDI_stats_contended(MPIDI_vci_stats_t * s, MPIDI_thread_t * self, int cpu)
{
    uint64_t n = MPIDI_stats_waiting(s) + 1;

    if (n < 2)                  /* the last one that waited has gone, its operation done */
        return;
    MPIDI_count(&s->contended, 1);
    MPIDI_count(&s->waiting_sum, n);
    MPIDI_count(&s->crowded, (uint64_t) tsm_load_crowded());
    if (!s->last)
        return;
    add_scores(s, MPIDI_STATS_THREAD, self == s->last, 1, n);
    if (s->waiting_core && s->last_cpu >= 0)
        add_place_scores(s, cpu, n);
    if (self == s->last)
        MPIDI_events_kept(number_of(s), n);
}

static void end_tenure(MPIDI_vci_stats_t * s)
{
    MPIDI_count(&s->tenures, 1);
    MPIDI_count_most(&s->tenure_most, s->tenure);
    MPIDI_count(&s->batches[MPIDI_count_bucket(s->tenure, MPIDI_STATS_BATCHES)], 1);
    s->tenure = 0;
}

void MPIDI_stats_leave(MPIDI_vci_t * vci)
{
    if (vci->stats.tenure)
        end_tenure(&vci->stats);
    if (vci->stats.traced)
        MPIDI_trace_released(vci);
}

void MPIDI_stats_post_took(uint64_t begin_ns)
{
    int bucket = MPIDI_count_bucket(tsm_now_ns() - begin_ns, MPIDI_STATS_TIMES);

    MPIDI_STATS_COUNT(post_time[bucket], 1);
}

/* The sum, and the number of threads. */
static uint64_t sum_of(size_t offset, int *threads)
{
    uint64_t sum = 0;

    *threads = 0;
    for (MPIDI_thread_t * t = MPIDI_thread_first(); t; t = t->next, ++*threads)
        sum += tsm_load((MPIDI_count_t *) ((char *) &t->stats + offset), TSM_ACQUIRE);
    return sum;
}

uint64_t MPIDI_stats_sum(size_t offset)
{
    int threads;

    return sum_of(offset, &threads);
}

/* Frees first: each of them comes after its completion. */
uint64_t MPIDI_stats_sample_dangling(void)
{
    int threads;
    uint64_t freed = MPIDI_stats_sum(offsetof(MPIDI_thread_stats_t, freed));
    uint64_t now = sum_of(offsetof(MPIDI_thread_stats_t, completed), &threads) - freed;
    MPIDI_thread_t *self = MPIDI_thread_self();

    self->stats.until_sample = MPIDI_STATS_SAMPLE + MPIDI_STATS_SAMPLE_THREAD * threads;
    tsm_fetch_add(&MPIDI_stats_dangling.samples, 1, TSM_RELAXED);
    tsm_fetch_add(&MPIDI_stats_dangling.sum, now, TSM_RELAXED);
    raise_most(&MPIDI_stats_dangling.most, now);
    if (self->stats.trace)
        MPIDI_trace_sample(self, now);
    return now;
}

/* All VCIs' counts of waiting threads are in two blocks of memory, which VCI 0 has the start of. Each
 * VCI begins on a cache line of its own. */
static int row(int n)
{
    const int line = TSM_CACHELINE / sizeof(int);

    return (n + line - 1) / line * line;
}

/* Such a block, of zeros; NULL without memory. */
static void *rows(int vcis, int row_size)
{
    const size_t size = (size_t) vcis * row_size * sizeof(int);
    void *block = aligned_alloc(TSM_CACHELINE, size);

    return block ? memset(block, 0, size) : NULL;
}

void MPIDI_stats_open(void)
{
    int vcis = MPIDI_global.n_vcis;
    int cores, nodes;
    TSM_ATOMIC(int) *core, *node;

    if (!MPIDI_places_read())
        return;
    cores = row(MPIDI_places_cores());
    nodes = MPIDI_places_nodes() > 1 ? row(MPIDI_places_nodes()) : 0;
    core = rows(vcis, cores);
    node = nodes ? rows(vcis, nodes) : NULL;
    if (!core || (nodes && !node)) {
        (free) (core);
        (free) (node);
        return;
    }
    for (int i = 0; i < vcis; i++) {
        MPIDI_VCI(i).threads.stats.waiting_core = core + i * cores;
        MPIDI_VCI(i).threads.stats.waiting_node = node ? node + i * nodes : NULL;
    }
}

void MPIDI_stats_close(void)
{
    (free) (MPIDI_VCI(0).threads.stats.waiting_core);
    (free) (MPIDI_VCI(0).threads.stats.waiting_node);
    for (int i = 0; i < MPIDI_global.n_vcis; i++) {
        MPIDI_VCI(i).threads.stats.waiting_core = NULL;
        MPIDI_VCI(i).threads.stats.waiting_node = NULL;
    }
    MPIDI_places_forget();
}

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#ifdef ENABLE_THREAD_STATS

#include <sched.h>
#include "threads/stats/events.h"
#include "threads/stats/hooks.h"
#include "threads/stats/places.h"
#include "threads/stats/trace.h"
#include "tsm/tsm_load.h"

#ifdef MPIDI_STATS_HAS_CPU
#include <sys/rseq.h>
#endif

MPIDI_stats_dangling_t MPIDI_stats_dangling;

/* Of the calling thread's wait for a VCI; it waits for one at a time. 0: no tool asks. */
static __thread uint64_t wait_begin_ns;

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
    int cpu = sched_getcpu();

    MPIDI_STATS_COUNT(waits[path], 1);
    change_waiting(&vci->stats, cpu, 1);
    tsm_fetch_add(&vci->stats.waiting, MPIDI_STATS_WAITER(path), TSM_RELAXED);
    raise_most(&vci->stats.waiting_most, MPIDI_stats_waiting(vci));
    wait_begin_ns = MPIDI_events_clock();
    return cpu;
}

void MPIDI_stats_wait_end(MPIDI_vci_t * vci, int path, int cpu)
{
    tsm_fetch_add(&vci->stats.waiting, -MPIDI_STATS_WAITER(path), TSM_RELAXED);
    change_waiting(&vci->stats, cpu, -1);
    MPIDI_events_waited(vci->index, path, wait_begin_ns);
}

/* of_them is read after n, and may be more by then. */
static void add_scores(MPIDI_vci_stats_t * s, int level, int is_same, uint64_t of_them, uint64_t n)
{
    MPIDI_count(&s->monopolized[level], (uint64_t) is_same);
    MPIDI_count(&s->fair[level], MPL_MIN(of_them, n) * MPIDI_STATS_FAIR_ONE / n);
}

/* For the core and the NUMA node. The holder before may have moved since. */
static void add_place_scores(MPIDI_vci_t * vci, int cpu, uint64_t n)
{
    MPIDI_vci_stats_t *s = &vci->stats;
    const int last = vci->held.last_cpu;
    int core = MPIDI_places_core(last), node = MPIDI_places_node(last);
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
static void add_contended(MPIDI_vci_t * vci, uintptr_t self, int cpu)
{
    MPIDI_vci_stats_t *s = &vci->stats;
    const uintptr_t last = vci->held.last;
    uint64_t n = MPIDI_stats_waiting(vci) + 1;

    if (n < 2)                  /* nobody waits, or the last one has gone, its operation done */
        return;
    MPIDI_count(&s->contended, 1);
    MPIDI_count(&s->waiting_sum, n);
    MPIDI_count(&s->crowded, (uint64_t) tsm_load_crowded());
    if (!last)
        return;
    add_scores(s, MPIDI_STATS_THREAD, self == last, 1, n);
    if (s->waiting_core && vci->held.last_cpu >= 0)
        add_place_scores(vci, cpu, n);
    if (self == last)
        MPIDI_events_kept(vci->index, n);
}

static int processor(MPIDI_vci_t * vci ATTRIBUTE((unused)))
{
    const int cpu = MPIDI_STATS_CPU(vci);

    return cpu >= 0 ? cpu : sched_getcpu();
}

/* The trace first: a hold includes what its acquisition counts. */
void MPIDI_stats_look(MPIDI_vci_t * vci, uintptr_t self)
{
    const int cpu = processor(vci);
    MPIDI_thread_t *thread = MPIDI_thread_self();

    if (thread->stats.trace)
        MPIDI_trace_acquired(vci, thread);
    add_contended(vci, self, cpu);
    vci->held.last = self;
    vci->held.last_cpu = cpu;
}

static void end_tenure(MPIDI_vci_stats_t * s, unsigned tenure)
{
    MPIDI_count(&s->tenures, 1);
    MPIDI_count_most(&s->tenure_most, tenure);
    MPIDI_count(&s->batches[MPIDI_count_bucket(tenure, MPIDI_STATS_BATCHES)], 1);
}

void MPIDI_stats_leave(MPIDI_vci_t * vci)
{
    const unsigned tenure = vci->held.tenure & ~MPIDI_STATS_TRACED;

    if (tenure)
        end_tenure(&vci->stats, tenure);
    if (vci->held.tenure & MPIDI_STATS_TRACED)
        MPIDI_trace_released(vci);
    vci->held.tenure = 0;
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

    MPIDI_thread_local.until_sample = MPIDI_STATS_SAMPLE + MPIDI_STATS_SAMPLE_THREAD * threads - 1;
    tsm_fetch_add(&MPIDI_stats_dangling.samples, 1, TSM_RELAXED);
    tsm_fetch_add(&MPIDI_stats_dangling.sum, now, TSM_RELAXED);
    raise_most(&MPIDI_stats_dangling.most, now);
    if (self->stats.trace)
        MPIDI_trace_sample(self, now);
    return now;
}

void MPIDI_stats_completed_sample(void)
{
    MPIDI_STATS_COUNT(completed, 1);
    MPIDI_stats_sample_dangling();
}

void MPIDI_stats_look_always(void)
{
    for (int i = 0; i < MPIDI_CH4_MAX_VCIS; i++) {
        MPIDI_count_t *waiting = &MPIDI_VCI(i).threads.stats.waiting;
        if (!(tsm_load(waiting, TSM_RELAXED) & MPIDI_STATS_LOOK))
            tsm_fetch_add(waiting, MPIDI_STATS_LOOK, TSM_RELAXED);
    }
}

/* Where each thread finds its processor. If the kernel does not write it, it is negative. */
static void open_cpu(void)
{
#ifdef MPIDI_STATS_HAS_CPU
    for (int i = 0; i < MPIDI_CH4_MAX_VCIS; i++) {
        MPIDI_VCI(i).threads.stats.cpu_at = __rseq_offset + (ptrdiff_t) offsetof(struct rseq, cpu_id);
        MPIDI_VCI(i).threads.held.last_cpu = -1;
    }
#endif
    if (MPIDI_STATS_CPU(&MPIDI_VCI(0).threads) < 0)
        MPIDI_stats_look_always();
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

    open_cpu();
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

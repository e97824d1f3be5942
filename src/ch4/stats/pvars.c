/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The performance variables: a table, and the one function through which MPI_T reads them. A variable
 * is a counter, whose value MPI_T gives since the handle was started, or a level, which has its value
 * whether a handle was started or not. Readers take no lock of the device; each value is one load or a
 * sum of loads, so values that are read one after the other need not be of one moment. */

#include "mpidimpl.h"

#ifdef ENABLE_THREAD_STATS

#include "threads/stats/events.h"
#include "threads/stats/hooks.h"
#include "threads/stats/mpit_lock.h"
#include "threads/stats/report.h"
#include "tsm/tsm_load.h"

#define PREFIX "ch4_threads_"

typedef enum { COUNT, LEVEL, REAL_COUNT, REAL_LEVEL } class_t;

/* What the value of element i is: the field of VCI i; the sum over VCIs of element i of a field; the
 * sum over threads of it; the result of a function. */
typedef enum { OF_VCI, SUM_VCIS, SUM_THREADS, BY_CALL } source_t;

typedef struct {
    const char *name;
    class_t class;
    source_t source;
    int count;                  /* 0: one element for each VCI */
    size_t field;
    double (*call) (int i);
    const char *help;
} pvar_t;

static uint64_t start_ns;       /* written in MPI_Init */

static uint64_t vci_field(int vci, size_t field)
{
    return tsm_load((MPIDI_count_t *) ((char *) &MPIDI_VCI(vci).threads + field), TSM_ACQUIRE);
}

static uint64_t vci_sum(size_t field)
{
    uint64_t sum = 0;

    for (int i = 0; i < MPIDI_global.n_vcis; i++)
        sum += vci_field(i, field);
    return sum;
}

#define VCI_FIELD(field_) offsetof(MPIDI_vci_t, field_)
#define STATS_FIELD(field_) VCI_FIELD(stats.field_)
#define THREAD_FIELD(field_) offsetof(MPIDI_thread_stats_t, field_)
#define ELEMENT(i_) ((size_t) (i_) * sizeof(MPIDI_count_t))

static uint64_t issued(int way, int kind)
{
    return MPIDI_stats_sum(THREAD_FIELD(issued) + ELEMENT(way * MPIDI_STATS_KINDS + kind));
}

static double of_kind(int kind)
{
    uint64_t sum = 0;

    for (int way = 0; way < MPIDI_STATS_WAYS; way++)
        sum += issued(way, kind);
    return (double) sum;
}

static double of_way(int way)
{
    uint64_t sum = 0;

    for (int kind = 0; kind < MPIDI_STATS_KINDS; kind++)
        sum += issued(way, kind);
    return (double) sum;
}

static double seconds(void)
{
    return (double) (tsm_now_ns() - start_ns) / 1e9;
}

/* *INDENT-OFF* */
static double sends(int i) { (void) i; return of_kind(MPIDI_STATS_SEND); }
static double recvs(int i) { (void) i; return of_kind(MPIDI_STATS_RECV); }
static double rma(int i) { (void) i; return of_kind(MPIDI_STATS_RMA); }
static double send_rate(int i) { return sends(i) / seconds(); }
static double recv_rate(int i) { return recvs(i) / seconds(); }
static double direct(int i) { (void) i; return of_way(MPIDI_STATS_DIRECT); }
static double posted(int i) { (void) i; return of_way(MPIDI_STATS_POSTED); }
static double delegated(int i) { (void) i; return of_way(MPIDI_STATS_DELEGATED); }
/* *INDENT-ON* */

/* Progress first: it is part of all (hooks.h). */
static double acquired_main(int vci)
{
    uint64_t progress = vci_field(vci, VCI_FIELD(held.progress));

    return (double) (vci_field(vci, VCI_FIELD(held.acquired)) - progress);
}

static double waiting(int vci)
{
    return (double) MPIDI_stats_waiting(&MPIDI_VCI(vci).threads);
}

/* Definition 5.3: F(S). */
static double fair(int vci, int level)
{
    return (double) vci_field(vci, STATS_FIELD(fair) + ELEMENT(level)) / MPIDI_STATS_FAIR_ONE;
}

/* Definition 5.4: B(S) = M(S) / F(S); 0 without contention. */
static double bias(int vci, int level)
{
    double f = fair(vci, level);

    return f > 0 ? (double) vci_field(vci, STATS_FIELD(monopolized) + ELEMENT(level)) / f : 0;
}

/* *INDENT-OFF* */
static double bias_thread(int vci) { return bias(vci, MPIDI_STATS_THREAD); }
static double bias_core(int vci) { return bias(vci, MPIDI_STATS_CORE); }
static double bias_numa(int vci) { return bias(vci, MPIDI_STATS_NUMA); }
static double fair_thread(int vci) { return fair(vci, MPIDI_STATS_THREAD); }
static double fair_core(int vci) { return fair(vci, MPIDI_STATS_CORE); }
static double fair_numa(int vci) { return fair(vci, MPIDI_STATS_NUMA); }
/* *INDENT-ON* */

/* A thread counts its operation after it has posted it, so the holder may be ahead. */
static double queue_depth(int i)
{
    const double taken = (double) vci_sum(STATS_FIELD(taken));

    (void) i;
    return MPL_MAX(posted(0) - taken, 0);
}

/* Definition 5.7; a reading is a sample, too. */
static double dangling(int i)
{
    (void) i;
    return (double) MPIDI_stats_sample_dangling();
}

static double dangling_average(int i)
{
    uint64_t samples = tsm_load(&MPIDI_stats_dangling.samples, TSM_RELAXED);

    (void) i;
    return samples ? (double) tsm_load(&MPIDI_stats_dangling.sum, TSM_RELAXED) / (double) samples : 0;
}

static double dangling_most(int i)
{
    (void) i;
    return (double) tsm_load(&MPIDI_stats_dangling.most, TSM_RELAXED);
}

#define VCI_ROW(name_, class_, field_, help_) \
    { #name_, class_, OF_VCI, 0, STATS_FIELD(field_), NULL, help_ }
#define HOLDER_ROW(name_, field_, help_) \
    { #name_, COUNT, OF_VCI, 0, VCI_FIELD(field_), NULL, help_ }
#define THREAD_ROW(name_, field_, count_, help_) \
    { #name_, COUNT, SUM_THREADS, count_, THREAD_FIELD(field_), NULL, help_ }
#define CALL_ROW(name_, class_, count_, call_, help_) \
    { #name_, class_, BY_CALL, count_, 0, call_, help_ }
#define EACH_VCI 0

/* *INDENT-OFF* */
static const pvar_t pvars[] = {
    CALL_ROW(lock_acquired_main, COUNT, EACH_VCI, acquired_main,
             "acquisitions of the lock of each VCI by calls that do their own work (main path)"),
    HOLDER_ROW(lock_acquired_progress, held.progress,
            "acquisitions of the lock of each VCI by the progress loop"),
    VCI_ROW(lock_contended, COUNT, contended,
            "acquisitions of the lock of each VCI while other threads waited for it"),
    VCI_ROW(lock_competitors, COUNT, waiting_sum,
            "threads in competition for the lock, winner included, summed over lock_contended"),
    VCI_ROW(lock_crowded, COUNT, crowded,
            "those of lock_contended while more threads wanted a processor than there are"),
    CALL_ROW(lock_waiting, LEVEL, EACH_VCI, waiting, "threads that wait for the lock of each VCI now"),
    VCI_ROW(lock_waiting_max, LEVEL, waiting_most, "the most threads that have waited for it"),
    THREAD_ROW(lock_waits_main, waits[MPIDI_STATS_MAIN], 1,
               "times a thread blocked on a VCI on the main path"),
    THREAD_ROW(lock_waits_progress, waits[MPIDI_STATS_PROGRESS], 1,
               "times a thread blocked on a VCI in the progress loop"),
    THREAD_ROW(lock_misses, misses, 1, "polls that found the VCI taken and gave up"),
    VCI_ROW(monopolization_thread, COUNT, monopolized[MPIDI_STATS_THREAD],
            "contended acquisitions by the thread that had the lock before (TOPC definition 5.2)"),
    VCI_ROW(monopolization_core, COUNT, monopolized[MPIDI_STATS_CORE],
            "contended acquisitions from the core that had the lock before"),
    VCI_ROW(monopolization_numa, COUNT, monopolized[MPIDI_STATS_NUMA],
            "contended acquisitions from the NUMA node that had the lock before"),
    CALL_ROW(fair_score_thread, REAL_COUNT, EACH_VCI, fair_thread,
             "what monopolization_thread would be on average with a fair lock (definition 5.3)"),
    CALL_ROW(fair_score_core, REAL_COUNT, EACH_VCI, fair_core, "the same for cores"),
    CALL_ROW(fair_score_numa, REAL_COUNT, EACH_VCI, fair_numa, "the same for NUMA nodes"),
    CALL_ROW(bias_thread, REAL_LEVEL, EACH_VCI, bias_thread,
             "bias factor since MPI_Init: monopolization over fair score (definition 5.4); 1 is fair, "
             "0 stands for no contention as well"),
    CALL_ROW(bias_core, REAL_LEVEL, EACH_VCI, bias_core, "the same for cores"),
    CALL_ROW(bias_numa, REAL_LEVEL, EACH_VCI, bias_numa, "the same for NUMA nodes"),
    HOLDER_ROW(polls, polls, "times that each VCI was driven"),
    VCI_ROW(polls_unsuccessful, COUNT, polls_vain, "polls that made no progress (definition 5.5)"),
    VCI_ROW(polls_wasted, COUNT, polls_wasted,
            "unsuccessful polls while threads waited to enter the main path (definition 5.6)"),
    CALL_ROW(dangling, LEVEL, 1, dangling,
             "requests that are complete and not yet freed by the program (definition 5.7)"),
    CALL_ROW(dangling_average, REAL_LEVEL, 1, dangling_average, "their average, from samples"),
    CALL_ROW(dangling_max, LEVEL, 1, dangling_most, "the most in a sample"),
    THREAD_ROW(completed, completed, 1, "requests completed, of the library's own as well"),
    THREAD_ROW(freed, freed, 1, "requests freed after they had been completed"),
    VCI_ROW(posted_receives, LEVEL, posted.length,
            "receives posted and not matched, of each VCI; without those that the network matches"),
    VCI_ROW(posted_receives_max, LEVEL, posted.longest, "the most there have been"),
    VCI_ROW(unexpected_messages, LEVEL, unexpected.length,
            "messages that arrived before their receive, of each VCI; without those that the network "
            "matches"),
    VCI_ROW(unexpected_messages_max, LEVEL, unexpected.longest, "the most there have been"),
    CALL_ROW(issued_sends, COUNT, 1, sends, "sends issued, by collectives as well"),
    CALL_ROW(issued_receives, COUNT, 1, recvs, "receives issued, by collectives as well"),
    CALL_ROW(issued_rma, COUNT, 1, rma, "one-sided operations issued"),
    CALL_ROW(send_rate, REAL_LEVEL, 1, send_rate, "sends issued in a second since MPI_Init"),
    CALL_ROW(receive_rate, REAL_LEVEL, 1, recv_rate, "receives issued in a second since MPI_Init"),
    CALL_ROW(issued_direct, COUNT, 1, direct, "operations that their own thread issued"),
    CALL_ROW(issued_posted, COUNT, 1, posted,
             "operations that their thread posted to the queue (lockq, offload, mp-server)"),
    CALL_ROW(issued_delegated, COUNT, 1, delegated,
             "operations that another thread issued while theirs waited (csync, hybcomb)"),
    VCI_ROW(combined, COUNT, combined,
            "operations that the holder of each VCI issued for others or from the queue"),
    VCI_ROW(combined_tenures, COUNT, tenures,
            "tenures of the lock of each VCI with at least one such operation"),
    VCI_ROW(combined_max, LEVEL, tenure_most, "the most such operations in one tenure"),
    { "combined_histogram", COUNT, SUM_VCIS, MPIDI_STATS_BATCHES, STATS_FIELD(batches), NULL,
      "tenures by their number of such operations: element i from 2^i, the last without limit" },
    VCI_ROW(queue_taken, COUNT, taken, "operations taken from the queue of each VCI"),
    CALL_ROW(queue_depth, LEVEL, 1, queue_depth, "operations posted and not yet taken"),
    VCI_ROW(queue_depth_max, LEVEL, queue_most, "the most taken in a row from the queue of each VCI"),
    THREAD_ROW(post_time, post_time, MPIDI_STATS_TIMES,
               "calls that posted, by the time of the post: element i from 2^i ns"),
    THREAD_ROW(backoff, backoff, MPIDI_BACKOFF_LEVELS,
               "times that a nonblocking call backed off: element i for 250 * 2^i ns"),
    THREAD_ROW(yields, yields, 1, "times that a thread offered its processor between turns of a wait, "
               "or before it queued for a lock"),
    THREAD_ROW(sleeps, sleeps, 1, "times that a waiting thread began to sleep, or to poll for others"),
    THREAD_ROW(wakes, wakes, 1, "wakes of sleeping threads whose request was completed"),
    THREAD_ROW(usc_served, usc_served, 1,
               "times that a waiting thread became the poller of those that sleep (progress usc)"),
    THREAD_ROW(usc_left, usc_left, 1, "times that such a poller returned from its wait"),
    THREAD_ROW(server_turns, server_turns, 1, "turns of the server threads (offload, mp-server)"),
    THREAD_ROW(server_idle, server_idle, 1, "turns that found nothing to do"),
    THREAD_ROW(server_naps, server_naps, 1, "sleeps of the server threads"),
    THREAD_ROW(server_rung, server_rung, 1, "those sleeps that another thread ended"),
};
/* *INDENT-ON* */
#define NUM_PVARS ((int) (sizeof(pvars) / sizeof(pvars[0])))

static double value(const pvar_t * p, int i)
{
    switch (p->source) {
        case OF_VCI:
            return (double) vci_field(i, p->field);
        case SUM_VCIS:
            return (double) vci_sum(p->field + ELEMENT(i));
        case SUM_THREADS:
            return (double) MPIDI_stats_sum(p->field + ELEMENT(i));
        default:
            return p->call(i);
    }
}

static int elements(const pvar_t * p)
{
    return p->count ? p->count : MPIDI_global.n_vcis;
}

static int is_real(const pvar_t * p)
{
    return p->class == REAL_COUNT || p->class == REAL_LEVEL;
}

/* The callback of MPI_T. Counts are exact to 2^53. */
static void read_pvar(void *addr, void *obj_handle, int count, void *buf)
{
    const pvar_t *p = addr;

    (void) obj_handle;
    for (int i = 0; i < count; i++) {
        if (is_real(p))
            ((double *) buf)[i] = value(p, i);
        else
            ((unsigned long long *) buf)[i] = (unsigned long long) value(p, i);
    }
}

double MPIDI_stats_value(const char *name)
{
    double sum = 0;

    for (int n = 0; n < NUM_PVARS; n++) {
        if (!strcmp(name, pvars[n].name)) {
            for (int i = 0; i < elements(&pvars[n]); i++)
                sum += value(&pvars[n], i);
            return sum;
        }
    }
    return -1;
}

static int is_registered(const char *name, int class)
{
    name2index_hash_t *found;

    HASH_FIND_STR(pvar_hashs[class - MPIR_T_PVAR_CLASS_FIRST], name, found);
    return found != NULL;
}

/* MPICH keeps its table of variables over a second MPI_Session_init, and the pointer to the name. */
static void register_pvars(void)
{
    static char names[NUM_PVARS][sizeof(PREFIX) + 32];

    for (int n = 0; n < NUM_PVARS; n++) {
        const pvar_t *p = &pvars[n];
        const int counts = p->class == COUNT || p->class == REAL_COUNT;
        const MPIR_T_pvar_class_t class = p->class == COUNT ? MPI_T_PVAR_CLASS_COUNTER :
            p->class == REAL_COUNT ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_LEVEL;
        const int flags = counts ? MPIR_T_PVAR_FLAG_SUM :
            MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS;

        snprintf(names[n], sizeof(names[n]), PREFIX "%s", p->name);
        if (is_registered(names[n], class))
            return;
        MPIR_T_PVAR_REGISTER_impl(class, is_real(p) ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG, names[n],
                                  (void *) p, elements(p), MPI_T_ENUM_NULL,
                                  MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_NO_OBJECT, flags, read_pvar,
                                  NULL, "CH4_THREADS", p->help);
    }
}

void MPIDI_stats_register(void)
{
    MPIDI_mpit_enter();
    start_ns = tsm_now_ns();
    MPIDI_events_register();
    register_pvars();
    MPIDI_mpit_exit();
}

#endif

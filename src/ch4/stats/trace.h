/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_TRACE_H_INCLUDED
#define MPIDI_STATS_TRACE_H_INCLUDED

/* The trace of MPIR_CVAR_CH4_THREAD_TRACE: which thread held the lock of each VCI and when, and
 * samples of the lengths of queues. Each thread records in a buffer of its own, which it gets with its
 * record, so recording allocates nothing and writes only to lines that the thread or the holder has
 * anyway. A full buffer takes no more; what it refuses is counted. trace_file.c writes all buffers to
 * the file of the process at MPI_Finalize, in the form that doc/stats.md has.
 *
 * A hold is recorded by differences of the VCI's counters between its two ends, where only the holder
 * changes them. So the holds of a complete trace add up to the counters. */

#include "../thread.h"
#include "../vci.h"

#ifdef ENABLE_THREAD_STATS

/* The counters of a VCI that a hold may change. _SAME, _FAIR: one for each of MPIDI_STATS_LEVELS. */
enum {
    MPIDI_TRACE_PROGRESS,
    MPIDI_TRACE_CONTENDED,
    MPIDI_TRACE_COMPETITORS,
    MPIDI_TRACE_SAME,
    MPIDI_TRACE_FAIR = MPIDI_TRACE_SAME + MPIDI_STATS_LEVELS,
    MPIDI_TRACE_POLLS = MPIDI_TRACE_FAIR + MPIDI_STATS_LEVELS,
    MPIDI_TRACE_VAIN,
    MPIDI_TRACE_WASTED,
    MPIDI_TRACE_COMBINED,
    MPIDI_TRACE_COUNTS
};

/* What a sample has, of the process. */
enum {
    MPIDI_TRACE_DANGLING,
    MPIDI_TRACE_POSTED_RECEIVES,
    MPIDI_TRACE_UNEXPECTED,
    MPIDI_TRACE_QUEUE,          /* operations posted and not taken */
    MPIDI_TRACE_WAITING,        /* threads that wait for a VCI */
    MPIDI_TRACE_SENDS,          /* issued so far, and so on */
    MPIDI_TRACE_RECEIVES,
    MPIDI_TRACE_RMA,
    MPIDI_TRACE_VALUES
};

enum { MPIDI_TRACE_HOLD, MPIDI_TRACE_SAMPLE, MPIDI_TRACE_KINDS };

typedef struct MPIDI_trace_record {
    uint64_t begin;             /* ns of tsm_now_ns() */
    uint64_t end;               /* of a hold; 0: not yet */
    int kind;
    union {
        struct {
            int vci;
            int cpu;
            uint64_t number;    /* this is acquisition `number` of the VCI */
            uint32_t counts[MPIDI_TRACE_COUNTS];        /* at the begin; then, the differences */
            uint32_t left[MPIDI_STATS_PATHS];   /* threads that wait at the end, by path */
        } hold;
        uint64_t values[MPIDI_TRACE_VALUES];
    } u;
} MPIDI_trace_record_t;

/* Of a thread, which is the one writer. Passes on with its record and is never freed. */
typedef struct MPIDI_trace_buffer {
    int thread;                 /* its number in the trace */
    int used, size;             /* records */
    uint64_t until;             /* acquisitions until the next one that is recorded */
    uint64_t skipped;           /* acquisitions that the sampling has passed over */
    uint64_t dropped[MPIDI_TRACE_KINDS];        /* for which there was no room */
    uint64_t random;
    MPIDI_trace_record_t record[];
} MPIDI_trace_buffer_t;

/* Settings of the trace, and counters when it began; those of VCIs with the number of acquisitions at
 * the end. */
typedef struct MPIDI_trace_base {
    int sample, size;           /* as given to MPIDI_trace_begin; size 0: there is no trace */
    uint64_t begin_ns;
    uint64_t vci[MPIDI_CH4_MAX_VCIS][MPIDI_TRACE_COUNTS + 1];
    uint64_t misses;
} MPIDI_trace_base_t;

/* ---- slow paths of hooks.c ---- */

/* self, which is traced, has the lock of the VCI now, and has counted that, but for contention. */
void MPIDI_trace_acquired(MPIDI_vci_t * vci, MPIDI_thread_t * self);

/* The holder is about to release the lock, with MPIDI_STATS_TRACED; vci->stats.traced is its record. */
void MPIDI_trace_released(MPIDI_vci_t * vci);

/* self, which is traced, has counted so many dangling requests. */
void MPIDI_trace_sample(MPIDI_thread_t * self, uint64_t dangling);

/* Give a thread, the calling one, a buffer if there is a trace. Allocates, and waits for nothing
 * else. Without memory the thread is not traced, which the file says. */
void MPIDI_trace_join(MPIDI_thread_t * self);

/* ---- start and end; by the one thread in MPI ---- */

/* Begin a trace that records one in `sample` acquisitions, in buffers of `size` records. A trace goes
 * on until the process ends, over MPI_Finalize: a second call changes nothing. */
void MPIDI_trace_begin(int sample, int size);

/* What the trace began with. */
const MPIDI_trace_base_t *MPIDI_trace_base(void);

/* The counters of a VCI now, as in MPIDI_trace_base_t. */
void MPIDI_trace_read_counts(const MPIDI_vci_t * vci, uint64_t * counts);

/* Threads for whose buffer there was no memory. */
int MPIDI_trace_without(void);

/* Open the file if MPIR_CVAR_CH4_THREAD_TRACE names one, and begin. Returns an MPI error code after it
 * has printed the error: settings out of range, or a file that cannot be written. */
int MPIDI_trace_open(void);

/* Write all that was recorded, and close the file. A failure is printed. After MPIDI_trace_open and
 * before MPIDI_stats_close. */
void MPIDI_trace_write(void);

#endif

#endif /* MPIDI_STATS_TRACE_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_HINT_H_INCLUDED
#define MPIDI_STATS_HINT_H_INCLUDED

/* The hint of the line of MPIR_CVAR_CH4_THREAD_SUMMARY. It follows from the figures and the facts
 * below and from nothing else, and this file includes nothing of MPICH, so test/unit/test_hint.c can
 * try every case. Included by one source, so that a library without statistics has none of it. */

#include <stddef.h>
#include <stdio.h>

/* What was counted, over all threads and VCIs. */
typedef struct MPIDI_hint_figures {
    double issued;              /* operations, and those of them that were */
    double posted;              /* posted to a queue, */
    double delegated;           /* issued by another thread */
    double acquired;            /* acquisitions of VCIs, and those of them */
    double busiest;             /* of the VCI that has the most, */
    double contended;           /* in competition with other threads; */
    double crowded;             /* of these, those with more threads than processors */
    double bias;                /* factor between threads, definition 5.4 of TOPC */
    double vain;                /* unsuccessful polls, and those of them that were */
    double wasted;              /* wasted */
    double turns;               /* of server threads, and those of them that */
    double idle;                /* found nothing */
    double dangling;            /* requests, on average */
} MPIDI_hint_figures_t;

/* What is in force, and what may be chosen instead. */
typedef struct MPIDI_hint_facts {
    int is_lock;                /* each thread waits for the VCI and issues its own operations */
    int is_lockq;
    int is_served;              /* by threads of the library */
    int is_usc;                 /* the kind of progress */
    int has_lock;               /* that may be another one: not csync, hmcs-usc */
    int is_runtime;             /* model and lock are chosen when the program starts */
    int is_global;              /* the lock is chosen then, and there is one for the process */
    int has_low;                /* threads that poll take the lock with low priority */
    int vcis;
    int most_vcis;
    int busiest_vci;
    int threads;                /* that have issued operations */
} MPIDI_hint_facts_t;

typedef enum {
    MPIDI_HINT_NONE,
    MPIDI_HINT_ONE_VCI,
    MPIDI_HINT_VCIS,
    MPIDI_HINT_LOCKQ_OR_VCIS,
    MPIDI_HINT_LOCKQ,
    MPIDI_HINT_FAIR_LOCK,
    MPIDI_HINT_CROWDED,
    MPIDI_HINT_POLLS,
    MPIDI_HINT_IDLE,
    MPIDI_HINT_DANGLING
} MPIDI_hint_t;

/* Shares above which there is a hint. */
#define MPIDI_HINT_CONTENDED_SHARE 0.1
#define MPIDI_HINT_CROWDED_SHARE 0.5
#define MPIDI_HINT_POSTED_SHARE 0.5
#define MPIDI_HINT_BUSIEST_SHARE 0.8
#define MPIDI_HINT_WASTED_SHARE 0.5
#define MPIDI_HINT_IDLE_SHARE 0.9

#define MPIDI_HINT_BIASED 2.0

/* Dangling requests of each thread. A thread that keeps a window of 64 messages under way has most of
 * them complete and not freed at times; this is four such windows. */
#define MPIDI_HINT_DANGLING_EACH 256

/* Fewer events than this are no reason for a hint. */
#define MPIDI_HINT_ENOUGH 1000

/* Whether this part is large, and a large share of the whole. */
static inline int MPIDI_hint_exceeds(double part, double whole, double share)
{
    return part > MPIDI_HINT_ENOUGH && part > share * whole;
}

static inline int MPIDI_hint_polls_are_wasted(const MPIDI_hint_figures_t * f)
{
    return MPIDI_hint_exceeds(f->wasted, f->vain, MPIDI_HINT_WASTED_SHARE);
}

/* How the program may divide its threads over VCIs. More VCIs help only if threads use those there
 * are. */
static inline MPIDI_hint_t MPIDI_hint_divide(const MPIDI_hint_figures_t * f,
                                             const MPIDI_hint_facts_t * k)
{
    if (k->vcis > 1 && MPIDI_hint_exceeds(f->busiest, f->acquired, MPIDI_HINT_BUSIEST_SHARE))
        return MPIDI_HINT_ONE_VCI;
    return k->vcis < k->most_vcis ? MPIDI_HINT_VCIS : MPIDI_HINT_NONE;
}

/* Threads wait for the lock. The bias comes first, since the other hints of a model whose threads wait
 * have no further condition. A fair lock hands itself to threads that have no processor, which is
 * worse than one that keeps it. Where the lock can be no other, fewer threads still help, but not with
 * csync, whose threads do not wait in vain: the holder issues their operations. In global the threads
 * that poll are among those that wait, unless the lock puts them behind the others. */
static inline MPIDI_hint_t MPIDI_hint_contended(const MPIDI_hint_figures_t * f,
                                                const MPIDI_hint_facts_t * k)
{
    MPIDI_hint_t divide = MPIDI_hint_divide(f, k);

    if (f->bias > MPIDI_HINT_BIASED && (k->has_lock || k->is_lock)) {
        if (f->crowded > MPIDI_HINT_CROWDED_SHARE * f->contended)
            return MPIDI_HINT_CROWDED;
        if (k->has_lock)
            return MPIDI_HINT_FAIR_LOCK;
    }
    if (!k->is_lock)
        return MPIDI_HINT_NONE;
    if (MPIDI_hint_polls_are_wasted(f) && k->is_global && !k->has_low)
        return MPIDI_HINT_POLLS;
    return divide == MPIDI_HINT_VCIS ? MPIDI_HINT_LOCKQ_OR_VCIS :
        divide == MPIDI_HINT_NONE ? MPIDI_HINT_LOCKQ : divide;
}

/* The first hint that applies; doc/stats.md has them in this order. */
static inline MPIDI_hint_t MPIDI_hint_choose(const MPIDI_hint_figures_t * f,
                                             const MPIDI_hint_facts_t * k)
{
    const double handed_over = f->posted + f->delegated;
    MPIDI_hint_t hint = MPIDI_HINT_NONE;

    if (!k->is_served && MPIDI_hint_exceeds(handed_over, f->issued, MPIDI_HINT_POSTED_SHARE))
        hint = MPIDI_hint_divide(f, k);
    if (!hint && MPIDI_hint_exceeds(f->contended, f->acquired, MPIDI_HINT_CONTENDED_SHARE))
        hint = MPIDI_hint_contended(f, k);
    if (hint)
        return hint;
    /* lockq with usc has neither left to recommend */
    if (MPIDI_hint_polls_are_wasted(f) && !(k->is_lockq && k->is_usc))
        return MPIDI_HINT_POLLS;
    if (k->is_served && MPIDI_hint_exceeds(f->idle, f->turns, MPIDI_HINT_IDLE_SHARE))
        return MPIDI_HINT_IDLE;
    return f->dangling > (double) MPIDI_HINT_DANGLING_EACH * k->threads ? MPIDI_HINT_DANGLING :
        MPIDI_HINT_NONE;
}

/* What to do, but for changing to lockq; "" if there is nothing else. */
static inline const char *MPIDI_hint_advice(MPIDI_hint_t hint, const MPIDI_hint_facts_t * k)
{
    switch (hint) {
        case MPIDI_HINT_ONE_VCI:
            return "give each thread a communicator of its own";
        case MPIDI_HINT_VCIS:
        case MPIDI_HINT_LOCKQ_OR_VCIS:
            return "raise MPIR_CVAR_CH4_NUM_VCIS and give each thread a communicator";
        case MPIDI_HINT_FAIR_LOCK:
            return k->is_runtime || k->is_global ?
                "use a fair one, such as MPIR_CVAR_CH4_THREAD_LOCK=ticket" :
                "configure a fair one, such as --with-thread-lock=ticket";
        case MPIDI_HINT_CROWDED:
            return "use fewer threads";
        case MPIDI_HINT_POLLS:
            if (k->is_global)
                return k->has_low ? "" : "use MPIR_CVAR_CH4_THREAD_LOCK=clh-lpw";
            return k->is_usc || k->is_served ? "" : "use MPIR_CVAR_CH4_THREAD_PROGRESS=usc";
        case MPIDI_HINT_DANGLING:
            return "complete them sooner";
        default:
            return "";
    }
}

/* What was seen. With `lockq`, changing to that model helps. */
typedef struct MPIDI_hint_reason {
    const char *text;
    int lockq;
} MPIDI_hint_reason_t;

static inline MPIDI_hint_reason_t MPIDI_hint_reason(MPIDI_hint_t hint)
{
    static const MPIDI_hint_reason_t reason[] = {
        [MPIDI_HINT_NONE] = {"none", 0},
        [MPIDI_HINT_ONE_VCI] = {"nearly all goes through VCI", 0},
        [MPIDI_HINT_VCIS] = {"operations often find the VCI taken", 0},
        [MPIDI_HINT_LOCKQ_OR_VCIS] = {"threads wait for the lock", 1},
        [MPIDI_HINT_LOCKQ] = {"threads wait for the lock", 1},
        [MPIDI_HINT_FAIR_LOCK] = {"one thread keeps the lock", 1},
        [MPIDI_HINT_CROWDED] = {"there are more threads than processors, and one keeps the lock", 1},
        [MPIDI_HINT_POLLS] = {"polls keep threads from the lock", 1},
        [MPIDI_HINT_IDLE] = {"the server thread, which lockq does without, is mostly idle", 1},
        [MPIDI_HINT_DANGLING] = {"many completed requests wait for MPI_Wait or MPI_Test", 0}
    };

    return reason[hint];
}

/* Write the hint into text, of so many bytes: REASON [VCI]: ADVICE, or use lockq. */
static inline void MPIDI_hint_write(MPIDI_hint_t hint, const MPIDI_hint_facts_t * k, char *text,
                                    size_t bytes)
{
    const MPIDI_hint_reason_t reason = MPIDI_hint_reason(hint);
    const char *advice = MPIDI_hint_advice(hint, k);
    const char *lockq = !reason.lockq || k->is_lockq ? "" :
        k->is_runtime ? "use MPIR_CVAR_CH4_THREAD_CS=lockq" : "configure --enable-thread-cs=lockq";
    char vci[16] = "";

    if (hint == MPIDI_HINT_ONE_VCI)
        snprintf(vci, sizeof(vci), " %d", k->busiest_vci);
    snprintf(text, bytes, "%s%s%s%s%s%s", reason.text, vci, hint ? ": " : "", advice,
             *advice && *lockq ? ", or " : "", lockq);
}

#endif /* MPIDI_STATS_HINT_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_MODEL_H_INCLUDED
#define MPIDI_MODEL_H_INCLUDED

/* The model in force, a row of models.def. configure defines MPICH_THREAD_MODEL as an id of the table
 * or as RUNTIME. With a fixed model MPIDI_MODEL_ISSUE is a constant, so that the other branches fold
 * away; with RUNTIME it is a variable set in MPI_Init. The kind of progress is always a variable,
 * since only slow paths read it. */

enum {
    MPIDI_ISSUE_LOCK,
    MPIDI_ISSUE_LOCKQ,
    MPIDI_ISSUE_LOCKQ_CHOSEN,   /* lockq with MPIDI_LOCK_CHOSEN: apart, so that the other has no test */
    MPIDI_ISSUE_CSYNC,
    MPIDI_ISSUE_OFFLOAD,
    MPIDI_ISSUE_MP_SERVER,
    MPIDI_ISSUE_HYBCOMB
};

/* Which lock a VCI has: that of its mutex, chosen by configure and inlined; the combining lock of
 * csync; or one that was chosen when the program started. */
enum {
    MPIDI_LOCK_OWN,
    MPIDI_LOCK_COMBINING,
    MPIDI_LOCK_CHOSEN
};

#define TSM_MODEL(id_, name_, alias_, issue_, progress_, scope_, lock_, locks_, where_, help_)
#define TSM_PROGRESS(id_, name_, scope_, help_) MPIDI_PROGRESS_##id_##_KIND,
enum {
#include "models.def"
};
#undef TSM_MODEL
#undef TSM_PROGRESS

#define TSM_PROGRESS(id_, name_, scope_, help_)
#define TSM_MODEL(id_, name_, alias_, issue_, progress_, scope_, lock_, locks_, where_, help_) \
    MPIDI_MODEL_##id_,
enum {
#include "models.def"
    MPIDI_MODEL_RUNTIME
};
#undef TSM_MODEL

#define TSM_MODEL(id_, name_, alias_, issue_, progress_, scope_, lock_, locks_, where_, help_) \
    MPIDI_MODEL_ISSUE_##id_ = MPIDI_ISSUE_##issue_,
enum {
#include "models.def"
};
#undef TSM_MODEL
#undef TSM_PROGRESS

#define MPIDI_MODEL_CONCAT_(a_, b_) a_##b_
#define MPIDI_MODEL_CONCAT(a_, b_) MPIDI_MODEL_CONCAT_(a_, b_)

/* The model of configure: a row, or MPIDI_MODEL_RUNTIME. */
#define MPIDI_MODEL_CONFIGURED MPIDI_MODEL_CONCAT(MPIDI_MODEL_, MPICH_THREAD_MODEL)

/* The columns of the chosen row. Only MPIDI_model_init writes it. */
typedef struct MPIDI_model {
    int row;
    int issue;
    int progress;               /* MPIDI_PROGRESS_*_KIND */
    int post_queue;             /* MPIDI_POST_QUEUE_* */
    int lock;                   /* MPIDI_LOCK_* */
    int polls_plainly;          /* progress backoff or usc, and MPIDI_LOCK_OWN; see poll.h */
    const struct tsm_lock_kind *lock_kind;      /* the lock that was chosen, or NULL */
} MPIDI_model_t;
/* hidden: the fast paths compare it with a constant, without a load of its address */
extern MPIDI_model_t MPIDI_model __attribute__((visibility("hidden")));

#if MPICH_THREAD_MODEL_IS_RUNTIME
#define MPIDI_MODEL_ISSUE MPIDI_model.issue
#define MPIDI_MODEL_LOCK MPIDI_model.lock
#else
#define MPIDI_MODEL_ISSUE ((int) MPIDI_MODEL_CONCAT(MPIDI_MODEL_ISSUE_, MPICH_THREAD_MODEL))
#define MPIDI_MODEL_LOCK \
    (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_CSYNC ? MPIDI_LOCK_COMBINING : MPIDI_LOCK_OWN)
#endif

/* The names of the model, the kind of progress and the lock in force. After MPIDI_model_init. */
void MPIDI_model_names(const char **model, const char **progress, const char **lock);

/* 1 if the lock of the VCIs may be any: not with csync and hmcs-usc. After MPIDI_model_init. */
int MPIDI_model_may_choose_lock(void);

/* Read and check our control variables. In MPID_Init, by one thread. */
int MPIDI_model_init(void);

#endif /* MPIDI_MODEL_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_VCI_H_INCLUDED
#define MPIDI_VCI_H_INCLUDED

/* What the thread-safety models keep for each VCI. The lock of the VCI points to it (`vci` in
 * MPIDU_Thread_mutex_t, NULL in all other mutexes). The lock guards all fields, except where noted. */

#include "post_queue.h"
#include "tsm/combine/tsm_dsm_lock.h"
#include "tsm/queue/tsm_second_look.h"
#include "tsm/tsm_usc.h"

/* A thread that waits until a counter of operations is 0; on its stack. */
typedef struct MPIDI_counter_wait {
    struct MPIDI_counter_wait *next;
    MPIR_cc_t *counter;
    struct MPIR_Request *req;   /* completes then */
} MPIDI_counter_wait_t;

typedef struct MPIDI_vci {
    /* written by threads that post, read by the holder */
    MPIDI_post_queue_t posted;  /* posted.h: any thread pushes, the holder pops */
    /* written by threads that wait, read by the holder, which looks each time it leaves */
    TSM_ATOMIC(int) poll_wanted TSM_ALIGNED;    /* a thread asks the holder to drive the VCI */
    /* where a thread of the library polls: threads that wait for the lock; those threads */
    TSM_ATOMIC(int) entering;
    /* the holder's */
    MPIDI_count_t polls TSM_ALIGNED;    /* times the VCI was driven; read by any thread */
    int draining;               /* the holder is issuing posted operations */
    int poll_error;             /* error of a poll for another thread, for the next poll to return */
    unsigned nm_skipped;        /* polls and messages since the netmod's last turn */
    unsigned shm_quiet;         /* polls since shared memory brought something; see drive.c */
    uint64_t nm_asked;          /* when the clock last decided to ask the netmod */
#ifdef ENABLE_THREAD_STATS
    MPIDI_vci_held_t held;
#endif
    /* waiting threads, under its own lock; see progress/wait.c */
    tsm_usc_t usc TSM_ALIGNED;
    /* seldom written */
    TSM_ATOMIC(int) flushing TSM_ALIGNED;       /* flushes that hold operations back; any thread */
    tsm_second_look_t second_look;      /* of a holder that finds an operation half posted */
    int index;                  /* this is MPIDI_VCI(index); threads that post read it */
    MPIDI_counter_wait_t *counter_waits;        /* for one-sided operations; see complete.h */
    struct MPIDI_combiner *combiner;    /* with the model hybcomb, else NULL; see issue/hybcomb.h */
    void *chosen_lock;          /* MPIDI_LOCK_CHOSEN: the lock of the VCI, else NULL */
    /* the lock of the VCI with the model csync, in place of the mutex's own; see issue/csync.h */
    tsm_dsm_lock_t csync TSM_ALIGNED;
#ifdef ENABLE_THREAD_STATS
    MPIDI_vci_stats_t stats;    /* see stats/counters.h; all counts go on over MPI_Finalize */
#endif
} MPIDI_vci_t;

/* Around operations that the holder of the VCI issues for other threads. Meanwhile it waits for no lock
 * and runs no progress hook, even if the netmod has no room (progress/turn.h). */
static inline void MPIDI_vci_issue_begin(MPIDI_vci_t * vci)
{
    vci->draining = 1;
    MPIDI_thread_local.draining++;
}

static inline void MPIDI_vci_issue_end(MPIDI_vci_t * vci)
{
    MPIDI_thread_local.draining--;
    vci->draining = 0;
}

/* Make the state of a VCI and attach it to the VCI's lock; destroy it. By the thread that initializes
 * or finalizes MPI, while no other uses the VCI. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
void MPIDI_vci_init(int vci);
void MPIDI_vci_finalize(int vci);
#else
#define MPIDI_vci_init(vci_) do { } while (0)
#define MPIDI_vci_finalize(vci_) do { } while (0)
#endif

#endif /* MPIDI_VCI_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ itself: the section, the queue of posted operations, the cells and the posting of src/ch4, with
 * as much of MPICH as they need, for one VCI with the futex lock. The operations are one-sided ones
 * without a request. The fences are those of processors other than x86, whose own fences rely on more
 * than C11 promises. The client defines
 *   void issued(int tag)    an operation is issued: called with the VCI held
 * and has from here
 *   void issue(int tag)     as MPIDI_issue with lockq
 *   void poll(void)         as MPIDI_poll
 *   void flush(void)        as a call that enters the VCI
 *   client_me               the number of the thread, from 1; main's is 0
 * With CLIENT_WFQ the queue is the wait-free one, with few handles. The Makefile lets the names
 * threads/ and tsm/ lead to src/ch4 and src/sync. */

#ifndef CLIENT_SECTION_H_INCLUDED
#define CLIENT_SECTION_H_INCLUDED

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#ifdef CLIENT_WFQ
#define TSM_WFQ_CELLS 4
#define TSM_WFQ_MARGIN(handles_) 8
#define TSM_WFQ_STRIDE(handles_) 2
#define TSM_WFQ_POOL 1
#define TSM_WFQ_PATIENCE 0
#endif

#include "client.h"
#include "tsm_wait.h"

#define CLIENT_THREADS 8

#ifdef TSM_MODEL
#define client_me ((int) pthread_self())
#else
static __thread int client_me;
#endif
#undef TSM_MODEL                        /* a row of models.def from here on */

/* for the fences of another processor; what is included above has its own already */
#undef __x86_64__
#undef __i386__

/* ---- MPL and MPI ---- */

#define MPL_STATIC_INLINE_PREFIX static inline __attribute__((unused))
#define MPL_CACHELINE_SIZE 64
#define MPL_ATTR_ALIGNED(n_) __attribute__((aligned(n_)))
#define MPL_MAX(a_, b_) ((a_) > (b_) ? (a_) : (b_))
#define MPL_MIN(a_, b_) ((a_) < (b_) ? (a_) : (b_))
#define MPL_container_of(ptr_, type_, member_) \
    ((type_ *) (void *) ((char *) (ptr_) - offsetof(type_, member_)))
#define likely(x_) (x_)
#define unlikely(x_) (x_)
#define MPI_SUCCESS 0
#define MPI_NO_OP 1
#define MPI_DATATYPE_NULL 0
#define MPIX_ERR_NOREQ 1
#define MPIR_ERR_NONE 0
#define MPIR_Assert assert

typedef int MPI_Datatype, MPI_Op, MPIR_Errflag_t;
typedef long MPI_Aint;
typedef int MPIR_cc_t;
typedef struct { int unused; } MPIDIG_req_ext_t;
typedef pthread_t MPL_thread_id_t;

/* a model of one row, as configure chooses it */
#define MPICH_THREAD_GRANULARITY__VCI 1
#define MPICH_THREAD_GRANULARITY MPICH_THREAD_GRANULARITY__VCI
#define MPICH_THREAD_MODEL LOCKQ
#define MPICH_THREAD_MODEL_IS_RUNTIME 0
#define MPICH_THREAD_LOCK TSM_LOCK_KIND
#define MPIDI_CH4_MAX_VCIS 1

/* a bound that no run reaches: beyond it, operations may be left */
#ifndef CLIENT_COMBINE
#define CLIENT_COMBINE 64
#endif
static const int MPIR_CVAR_CH4_MAX_COMBINE = CLIENT_COMBINE, MPIR_CVAR_CH4_NAP_TURNS = INT_MAX;
static const struct { int isThreaded; } MPIR_ThreadInfo = { 1 };

/* ---- what takes the place of headers of src/ch4 ---- */

#define MPIDI_THREAD_H_INCLUDED         /* thread-local variables */
#define MPIDI_WATCHED_H_INCLUDED
#define MPIDI_COMPLETE_H_INCLUDED       /* no operation has a request */
#define MPIDI_OP_APPLY_H_INCLUDED
#define MPIDI_ISSUE_H_INCLUDED
#define MPIDI_ONE_NODE_H_INCLUDED

#define MPIDI_THREAD_SECTION 1
#define MPIDI_THREAD_VCI (1 << 16 | MPIDI_THREAD_SECTION)

typedef struct MPIDI_thread {
    struct MPIDI_op_pool *op_pool;
    struct tsm_wfq_handle *post_handle[MPIDI_CH4_MAX_VCIS];
} MPIDI_thread_t;

typedef struct MPIDI_thread_local {
    int to_wake, held, draining, is_server, is_low;
    MPIDI_thread_t record;
} MPIDI_thread_local_t;

static MPIDI_thread_local_t locals[CLIENT_THREADS];
#define MPIDI_thread_local locals[client_me]
static inline MPIDI_thread_t *MPIDI_thread_self(void)
{
    return &MPIDI_thread_local.record;
}

static inline int MPIDI_thread_holds_vci(void)
{
    return MPIDI_thread_local.held >= MPIDI_THREAD_VCI;
}

#define MPIDI_thread_foreach(fn_) ((void) (fn_))
#define MPIDI_watchdog_on 0
#define MPIDI_WATCHED_OTHER_LOCK (-1)
#define MPIDI_watchdog_lock_begin(vci_) ((void) (vci_))
#define MPIDI_watchdog_lock_end() ((void) 0)
#define MPIDI_complete_wake() ((void) 0)
#define MPIDI_on_one_node() 0
#define MPIDI_polls_briefly() 0
int tsm_load_wanted(void);

/* ---- a VCI, a request, a window ---- */

#define TSM_LOCK_KIND 9
#include "tsm/lock/tsm_lock.h"
#define MPIDU_lock_t tsm_lock_t

typedef struct {
    MPIDU_lock_t mutex;
    MPL_thread_id_t owner;
    int count;
    void *vci;
} MPIDU_Thread_mutex_t;

#include "threads/model.h"
#include "threads/op.h"
#include "threads/vci.h"

typedef struct MPIDI_per_vci {
    MPIDU_Thread_mutex_t lock;
    MPIDI_vci_t threads;
} MPIDI_per_vci_t;

static struct {
    MPIDI_per_vci_t per_vci[1];
    int n_vcis;
} MPIDI_global = { .n_vcis = 1 };
#define MPIDI_VCI(i_) MPIDI_global.per_vci[i_]

MPIDI_model_t MPIDI_model = { .issue = MPIDI_ISSUE_LOCKQ };

typedef struct MPIR_Request {
    MPIR_cc_t *cc_ptr, cc;
    struct { int MPI_ERROR; } status;
    int handle;
    struct MPIR_Comm *comm;
    struct { MPIDI_request_part_t threads; } dev;
} MPIR_Request;

typedef struct MPIR_Win {
    MPIDI_win_part_t threads;
} MPIR_Win;
#define MPIDI_WIN(win_, part_) (win_)->part_

/* an operation has no request and no type of the program's */
typedef int MPIR_Request_kind_t;
#define MPIR_REQUEST_KIND__RECV 0
#define MPIR_REQUEST_KIND__RMA 1
#define MPIR_REQUEST_KIND__SEND 2
#define MPIR_Datatype_add_ref_if_not_builtin(type_) ((void) (type_))
#define MPIR_Datatype_release_if_not_builtin(type_) ((void) (type_))
#define MPIR_Request_create_from_pool(kind_, pool_, refs_) ((void) (kind_), (MPIR_Request *) NULL)
#define MPIR_Request_is_complete(req_) ((req_) != NULL)
#define MPIR_Request_free(req_) ((void) (req_))
#define MPIR_Request_add_ref(req_) ((void) (req_))
#define MPIR_Comm_add_ref(comm_) ((void) (comm_))
#define MPIDI_complete(req_) ((void) (req_))
#define MPIR_cc_set(cc_, value_) (*(cc_) = (value_))
#define MPIR_STATUS_SET_COUNT(status_, n_) ((void) (status_))
#define HANDLE_IS_BUILTIN(handle_) ((handle_) == 0)
#define MPIR_ERR_CHKANDJUMP(cond_, errno_, class_, text_) \
    do { \
        if (cond_) { \
            errno_ = class_; \
            goto fn_fail; \
        } \
    } while (0)
#define MPIDIG_RMA_OP_CHECK_SYNC(rank_, win_) \
    do { \
        if ((win_) == NULL) \
            goto fn_fail; \
    } while (0)
#define MPIDI_PROGRESS_ALL 3

static void issued(int tag);

static int client_apply(const MPIDI_op_t *op)
{
    issued(op->rank);
    return MPI_SUCCESS;
}

#define MPIDI_op_apply(op_, req_) ((void) (req_), client_apply(op_))
#define MPIDI_op_apply_any MPIDI_op_apply

/* ---- src/ch4 ---- */

/* GCC's ThreadSanitizer does not know a fence; the checker does. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wtsan"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "threads/section/section.h"

/* of vci_lock.c: a futex lock has neither priorities nor a thread that gives way */
void MPIDI_vci_lock_wait(MPIDU_Thread_mutex_t *m, int low)
{
    (void) low;
    tsm_lock_acquire(&m->mutex);
}

void MPIDI_vci_other_enter(MPIDU_Thread_mutex_t *m, int low)
{
    (void) m;
    (void) low;
    abort();
}

int MPIDI_vci_other_try(MPIDU_Thread_mutex_t *m)
{
    (void) m;
    abort();
}

void MPIDI_vci_other_release(MPIDU_Thread_mutex_t *m)
{
    (void) m;
    abort();
}

int MPIDI_drive(MPIDI_per_vci_t *vci, int flag, int wait);
int MPIDI_drive(MPIDI_per_vci_t *vci, int flag, int wait)
{
    (void) flag;
    (void) wait;
    tsm_store(&vci->threads.poll_wanted, 0, TSM_RELAXED);
    return MPI_SUCCESS;
}

/* the yields of a thread are counted in functions that no client calls */
#define __thread
#include "threads/section/section.c"
#undef __thread
#ifdef CLIENT_WFQ
#undef MPIDI_POST_QUEUE_THREADS
#undef MPIDI_POST_QUEUE_SEGMENTS
#undef MPIDI_POST_QUEUE_MESSAGES
#define MPIDI_POST_QUEUE_THREADS 2      /* one less than may post */
#define MPIDI_POST_QUEUE_SEGMENTS 3
#define MPIDI_POST_QUEUE_MESSAGES 2
#define CLIENT_QUEUE MPIDI_POST_QUEUE_WAIT_FREE
#else
#define CLIENT_QUEUE MPIDI_POST_QUEUE_SWP
#endif
#include "threads/post_queue.c"
#include "threads/posted.c"
#include "threads/op_pool.c"
#include "threads/issue/lockq.h"
#include "threads/issue/lockq.c"

#define VCI_LOCK (&MPIDI_VCI(0).lock)

/* a window of any kind */
static MPIR_Win client_win;

/* MPIDI_issue */
static inline void issue(int tag)
{
    const MPIDI_op_t op = { .kind = MPIDI_OP_PUT, .rank = tag, .win = &client_win };
    MPIR_Request *none;

    if (!MPIDI_lockq_enter(&MPIDI_VCI(0), 0)) {
        MPIDI_lockq_post(0, &op, &none);
        return;
    }
    MPIDI_op_apply(&op, &none);
    MPIDI_section_leave_vci(VCI_LOCK, &MPIDI_VCI(0).threads, 0);
}

/* At the begin of a thread. arg: what client_team gives it */
static inline void begin(void *arg)
{
#ifdef client_me
    (void) arg;
#else
    client_me = (int) (intptr_t) arg + 1;
#endif
}

/* A thread that issues n operations, whose tags name it and them. */
static inline void issue_all(void *arg, int n)
{
    begin(arg);
    for (int i = 0; i < n; i++)
        issue(client_me * n + i);
}

/* MPIDI_poll, without the poll itself */
static inline void poll(void)
{
    if (!MPIDI_section_try_(VCI_LOCK, 0))
        return;
    if (MPIDI_post_queue_may_have(&MPIDI_VCI(0).threads.posted))
        MPIDI_posted_issue(&MPIDI_VCI(0).threads, MPIR_CVAR_CH4_MAX_COMBINE);
    MPIDI_section_leave_vci(VCI_LOCK, &MPIDI_VCI(0).threads, 0);
}

static inline void flush(void)
{
    MPIDI_section_enter(VCI_LOCK, 0, 0);
    MPIDI_section_exit(VCI_LOCK);
}

/* MPIDI_vci_init */
static void client_begin(void)
{
    MPIDI_vci_t *v = &MPIDI_VCI(0).threads;

    tsm_lock_init(&VCI_LOCK->mutex);
    VCI_LOCK->vci = v;
    MPIDI_post_queue_init(&v->posted, CLIENT_QUEUE);
    tsm_store(&v->second_look, TSM_SECOND_LOOK_NONE, TSM_RELAXED);
}

#endif /* CLIENT_SECTION_H_INCLUDED */

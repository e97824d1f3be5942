/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* In place of MPICH's own mpidimpl.h: as much of MPICH as the files of src/ch4 need that bench/scale
 * compiles, with the fields in MPICH's order where threads share them. The network is ../net.h. */
#ifndef MPIDIMPL_H_INCLUDED
#define MPIDIMPL_H_INCLUDED

/* ../net.h has its own send */
#define MPIDI_DIRECT_SEND_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpl.h"

/* ---- types of MPI ---- */

#define MPI_SUCCESS 0
#define MPI_ERR_NO_MEM 34
#define MPI_ERR_OTHER 15
#define MPIX_ERR_NOREQ 101
#define MPI_DATATYPE_NULL 0
#define MPI_NO_OP 1
#define MPI_OP_NULL 0
#define MPI_STATUS_IGNORE NULL
typedef int MPI_Datatype, MPI_Op, MPIR_Errflag_t;
typedef long MPI_Aint;
typedef struct MPI_Status {
    int count_lo, count_hi, MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;
#define MPIR_STATUS_SET_COUNT(status_, count_) \
    do { (status_).count_lo = (int) (count_); (status_).count_hi = 0; } while (0)
#define MPIR_ERR_NONE 0

/* ---- what configure chooses: the runtime library, with the lock that the Makefile names ---- */

#define MPICH_IS_THREADED 1
#define MPICH_THREAD_GRANULARITY__VCI 3
#define MPICH_THREAD_GRANULARITY MPICH_THREAD_GRANULARITY__VCI
#define MPICH_THREAD_MODEL RUNTIME
#define MPICH_THREAD_MODEL_IS_RUNTIME 1
#define MPIDI_CH4_DIRECT_NETMOD 1
#define MPIDI_CH4_MAX_VCIS 2

#define MPIR_CVAR_CH4_WAIT_SPIN_USEC 1000
#define MPIR_CVAR_CH4_WAIT_POLLS 8
#define MPIR_CVAR_CH4_POLL_PAUSES 16
#define MPIR_CVAR_CH4_POLLER_YIELD 8
#define MPIR_CVAR_CH4_NAP_TURNS 64
#define MPIR_CVAR_CH4_TEST_BACKOFF_NSEC 16000
#define MPIR_CVAR_CH4_TEST_YIELD 32
#define MPIR_CVAR_CH4_LOCK_SPIN_NSEC 8000
#define MPIR_CVAR_CH4_SERVER_NAP_USEC 1000
#define MPIR_CVAR_CH4_EARLY_YIELD 4
#define MPIR_CVAR_CH4_NETMOD_TURN 64
#define MPIR_CVAR_CH4_SERVER_THREADS MPIDI_global.n_vcis
#define MPIR_CVAR_ASYNC_PROGRESS 0
#define MPIR_CVAR_CH4_GLOBAL_PROGRESS 0 /* the second VCI is the other process's */
#define MPIR_CVAR_ENABLE_FT 0
#define MPIR_CVAR_PROGRESS_THREAD_AFFINITY ((const char *) NULL)
extern int MPIR_CVAR_CH4_MAX_COMBINE;
extern int MPIR_CVAR_CH4_TAKEN_PAUSES;

/* ---- errors ---- */

#define MPIR_Assert assert
#define MPIR_Assertp assert
#define MPIR_ERR_CHECK(err_) do { if ((err_) != MPI_SUCCESS) goto fn_fail; } while (0)
#define MPIR_ERR_CHKANDJUMP(cond_, err_, class_, text_) \
    do { if (cond_) { err_ = class_; goto fn_fail; } } while (0)

/* ---- locks ---- */

#include "threads/section/mpidu_lock.h"

typedef struct {
    MPIDU_lock_t mutex;
    MPIDU_LOCK_PAD
    pthread_t owner;
    int count;
    void *vci;
} MPIDU_Thread_mutex_t;

#define MPID_THREAD_CS_ENTER(name_, mutex_) MPIDUI_THREAD_CS_ENTER_##name_(mutex_)
#define MPID_THREAD_CS_EXIT(name_, mutex_) MPIDUI_THREAD_CS_EXIT_##name_(mutex_)

typedef struct {
    int isThreaded;
} MPIR_Thread_info_t;
extern MPIR_Thread_info_t MPIR_ThreadInfo;

/* ---- objects ---- */

typedef _Atomic int MPIR_cc_t;
#define MPIR_cc_set(p_, v_) __atomic_store_n(p_, v_, __ATOMIC_RELAXED)
#define MPIR_cc_get(cc_) __atomic_load_n(&(cc_), __ATOMIC_ACQUIRE)
#define MPIR_cc_is_complete(p_) (__atomic_load_n(p_, __ATOMIC_ACQUIRE) == 0)
#define MPIR_cc_decr(p_, incomplete_) \
    (*(incomplete_) = __atomic_fetch_sub(p_, 1, __ATOMIC_ACQ_REL) != 1)

typedef struct MPIR_Comm {
    int handle;
    _Atomic int ref_count;
    int rank, vci;
    char pad[MPL_CACHELINE_SIZE];
} MPIR_Comm;

/* references to MPI_COMM_WORLD are not counted (configure.ac) */
#define MPIR_Comm_add_ref(comm_) ((void) (comm_))
#define MPIR_Comm_release(comm_) ((void) (comm_))
#define MPIR_Datatype_add_ref_if_not_builtin(datatype_) ((void) (datatype_))
#define MPIR_Datatype_release_if_not_builtin(datatype_) ((void) (datatype_))

typedef struct MPIDI_av_entry MPIDI_av_entry_t;
typedef int MPIDI_winattr_t;

#include "threads/op.h"

typedef struct MPIR_Win {
    MPIDI_win_part_t threads;
    int winattr, am_vci;
} MPIR_Win;
#define MPIDI_WIN(win_, field_) ((win_)->field_)
#define MPIDI_WINATTR_ACCU_NO_SHM 1
#define MPIDIG_RMA_OP_CHECK_SYNC(rank_, win_) \
    do { (void) (rank_); (void) (win_); if (0) goto fn_fail; } while (0)

typedef enum {
    MPIR_REQUEST_KIND__SEND, MPIR_REQUEST_KIND__RECV, MPIR_REQUEST_KIND__RMA,
    MPIR_REQUEST_KIND__PREQUEST_SEND, MPIR_REQUEST_KIND__PREQUEST_RECV,
    MPIR_REQUEST_KIND__GREQUEST
} MPIR_Request_kind_t;

typedef struct MPIR_Request {
    int handle;
    _Atomic int ref_count;
    MPIR_Request_kind_t kind;
    MPIR_cc_t cc;
    MPIR_cc_t *cc_ptr;
    MPIR_cc_t *completion_notification;
    MPIDI_REQUEST_HEAD
    MPIR_Comm *comm;
    MPI_Status status;
    MPIDI_REQUEST_QUEUED
    union {
        struct { void *greq_fns; } ureq;
        struct { struct MPIR_Request *real_request; void *sched; void *more; } persist;
    } u;
    struct {
        char netmod[192];
        MPIDI_REQUEST_POSTED
    } dev;
} MPIR_Request;

#define MPIR_Request_is_complete(req_) MPIR_cc_is_complete((req_)->cc_ptr)
#define MPIR_Request_is_active(req_) 1
#define MPIR_Request_has_poll_fn(req_) ((void) (req_), 0)       /* no generalized requests here */

/* handles, as in MPICH: 2+4+6+8+12 bits for type, kind, pool, block, object */
#define MPIR_REQUEST_NUM_POOLS 64
#define REQUEST_NUM_BLOCKS 256
#define REQUEST_NUM_INDICES 1024
#define REQUEST_OBJECT_MAX 4096
#define REQUEST_POOL_SHIFT 20
#define REQUEST_BLOCK_SHIFT 12
#define HANDLE_KIND_SHIFT 30
#define HANDLE_MPI_KIND_SHIFT 26
#define HANDLE_KIND_INDIRECT 3
#define HANDLE_KIND_BUILTIN 1
#define MPIR_REQUEST 0xb
#define HANDLE_IS_BUILTIN(handle_) ((unsigned) (handle_) >> HANDLE_KIND_SHIFT == HANDLE_KIND_BUILTIN)
#define MPIR_REQUEST_POOL(req_) ((req_)->handle >> REQUEST_POOL_SHIFT & 0x3f)
#define MPIDI_Request_get_vci(req_) MPIR_REQUEST_POOL(req_)

typedef struct MPIR_Handle_common {
    int handle;
    _Atomic int ref_count;
    void *next;
} MPIR_Handle_common;

typedef struct {
    void **indirect;
    int indirect_size;
} MPIR_Object_alloc_t;
extern MPIR_Object_alloc_t MPIR_Request_mem[MPIR_REQUEST_NUM_POOLS];

#define MPIR_Request_get_ptr(a_, ptr_) \
    (ptr_ = (MPIR_Request *) MPIR_Request_mem[(a_) >> REQUEST_POOL_SHIFT & 0x3f] \
        .indirect[(a_) >> REQUEST_BLOCK_SHIFT & 0xff] + ((a_) & 0xfff))
#define MPIR_Object_set_ref(obj_, n_) __atomic_store_n(&(obj_)->ref_count, n_, __ATOMIC_RELAXED)
#define MPIR_Object_release_ref_always(obj_, inuse_) \
    (*(inuse_) = __atomic_fetch_sub(&(obj_)->ref_count, 1, __ATOMIC_ACQ_REL) - 1)
#define MPIR_Request_add_ref(req_) \
    ((void) __atomic_fetch_add(&(req_)->ref_count, 1, __ATOMIC_RELAXED))
#define MPID_Request_free_hook(req_) do { } while (0)
#define MPID_Request_destroy_hook(req_) do { } while (0)

#include "threads/model.h"
#include "threads/request_cache.h"

static inline void MPIR_Request_free(MPIR_Request * req)
{
    if (!HANDLE_IS_BUILTIN(req->handle))
        MPIDI_request_cache_release(req);
}
#define MPIR_Request_free_unsafe MPIR_Request_free

#include "threads/complete.h"

static inline MPIR_Request *MPIR_Request_create_from_pool(MPIR_Request_kind_t kind, int pool,
                                                          int ref_count)
{
    MPIR_Request *req = MPIDI_request_cache_get(pool);

    if (!req)
        return NULL;
    req->handle |= pool << REQUEST_POOL_SHIFT;
    MPIR_Object_set_ref(req, ref_count);
    req->kind = kind;
    MPIR_cc_set(&req->cc, 1);
    req->cc_ptr = &req->cc;
    req->completion_notification = NULL;
    req->status.MPI_ERROR = MPI_SUCCESS;
    req->status.count_hi = 0;
    req->comm = NULL;
    req->match.head = NULL;
    tsm_usc_slot_init(&req->waiter);
    return req;
}

/* ---- the device ---- */

typedef struct MPID_Progress_state {
    int flag, progress_made, vci_count;
    int vci[MPIDI_CH4_MAX_VCIS];
    MPIDI_wait_t wait;
} MPID_Progress_state;

#include "threads/vci.h"

typedef struct MPIDI_per_vci {
    MPIDU_Thread_mutex_t lock;
    int progress_count;
    MPIR_Request *posted_list, *unexp_list;
    void *unexp_pack_buf_pool, *cmpl_list;
    uint64_t exp_seq_no, nxt_seq_no;
    MPIDI_match_table_t posted_table, unexp_table;
    MPIDI_vci_t threads MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE);
    char pad MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE);
} MPIDI_per_vci_t;

#define MPL_snprintf snprintf
#define MPID_Abort(comm_, mpi_errno_, code_, line_) (fprintf(stderr, "%s\n", line_), abort())

/* The network matches by itself (net.c). */
#define MPIDI_match_init(table_) do { } while (0)
#define MPIDI_match_free(table_) do { } while (0)

typedef struct MPIDI_CH4_Global {
    int n_vcis, is_initialized;
    MPIDI_per_vci_t per_vci[MPIDI_CH4_MAX_VCIS];
} MPIDI_CH4_Global_t;
extern MPIDI_CH4_Global_t MPIDI_global;
#define MPIDI_VCI(i_) MPIDI_global.per_vci[i_]

typedef struct {
    int local_rank;
    MPIR_Comm *comm_world;
} MPIR_Process_t;
extern MPIR_Process_t MPIR_Process;

#define SRC_VCI_FROM_SENDER 0
#define DST_VCI_FROM_RECVER 1
#define MPIDI_get_vci(flag_, comm_, from_, to_, tag_) ((void) (from_), (void) (to_), (comm_)->vci)

#define MPIDI_PROGRESS_NM 2
#define MPIDI_PROGRESS_SHM 4
#define MPIDI_PROGRESS_ALL 7
#define MPIR_Progress_hook_exec_all(made_) (*(made_) = 0, MPI_SUCCESS)

int MPIDI_NM_progress(int vci, int blocking);

/* Of the waits and polls here, only those for a window of requests are used. */
int MPID_Progress_test(MPID_Progress_state * state);
int MPID_Wait(MPIR_Request * req, MPI_Status * status);

#include "threads/section/section.h"
#include "threads/progress/progress.h"
#include "threads/op_apply.h"
#include "../net.h"

/* MPICH's function of that name, for the two kinds of progress that this network has. */
static inline int MPIDI_progress_test(MPID_Progress_state * state, int wait)
{
    int mpi_errno = MPI_SUCCESS;

    for (int i = 0; i < state->vci_count && mpi_errno == MPI_SUCCESS; i++)
        mpi_errno = MPIDI_poll(state->vci[i], state->flag, wait);
    return mpi_errno;
}

/* ---- the operations that the models issue ---- */

static inline int MPIDI_isend_direct(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                                     int tag, MPIR_Comm * comm, int context_offset,
                                     MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    (void) buf, (void) count, (void) datatype, (void) rank, (void) context_offset, (void) av;
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(comm->vci).lock);
    net_isend(comm, tag, req);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(comm->vci).lock);
    return MPI_SUCCESS;
}

static inline int MPIDI_irecv_direct(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                                     int tag, MPIR_Comm * comm, int context_offset,
                                     MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    (void) buf, (void) count, (void) datatype, (void) rank, (void) context_offset, (void) av;
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(comm->vci).lock);
    net_irecv(comm, tag, req);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(comm->vci).lock);
    return MPI_SUCCESS;
}

#include "unused_ops.h"

#endif /* MPIDIMPL_H_INCLUDED */

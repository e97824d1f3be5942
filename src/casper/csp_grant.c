/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_grant.h"
#include "csp_inner.h"
#include "csp_post.h"

#define RELEASE 0               /* in place of a type */

/* To the ghost: a request, or a release; and back: it is granted, or done. */
typedef struct message {
    uint64_t lock;
    uint64_t target;            /* csp_target_t of the process that asks */
    int32_t origin;             /* its number */
    int32_t type;
} message_t;

typedef struct asking {
    message_t msg;
    int origin_vci;
    struct asking *next;
} asking_t;

struct csp_lock {
    int holders, type, is_dropped;
    asking_t *first, **last;    /* what waits, the longest first */
};

static int to_ghost, to_user;   /* the handlers of the messages */
static int locks;

/* ---- the ghost ---- */

int csp_grant_any(void)
{
    return locks > 0;
}

csp_lock_t *csp_grant_new(void)
{
    csp_lock_t *lock = csp_must_malloc(sizeof(*lock));

    memset(lock, 0, sizeof(*lock));
    lock->last = &lock->first;
    locks++;
    return lock;
}

static void free_if_unused(csp_lock_t * lock)
{
    if (!lock->is_dropped || lock->holders > 0)
        return;
    MPL_free(lock);
    locks--;
}

void csp_grant_drop(csp_lock_t * lock)
{
    lock->is_dropped = 1;
    free_if_unused(lock);
}

/* Tell the process that asks. The VCI is held. */
static int answer(const message_t * msg, int vci, int origin_vci)
{
    int mpi_errno;

    CH4_CALL(am_send_hdr_reply(csp_inner->comm_ptr, msg->origin, to_user, msg, sizeof(*msg), vci,
                               origin_vci),
             MPIDI_rank_is_local(msg->origin, csp_inner->comm_ptr), mpi_errno);
    return mpi_errno;
}

static int grant(csp_lock_t * lock, const asking_t * a, int vci)
{
    lock->holders++;
    lock->type = a->msg.type;
    return answer(&a->msg, vci, a->origin_vci);
}

static int release(csp_lock_t * lock, const message_t * msg, int vci, int origin_vci)
{
    lock->holders--;
    return answer(msg, vci, origin_vci);
}

static int fits(const csp_lock_t * lock, const asking_t * a)
{
    return lock->holders == 0 ||
        (lock->type == MPI_LOCK_SHARED && a->msg.type == MPI_LOCK_SHARED);
}

static int grant_waiting(csp_lock_t * lock, int vci)
{
    int mpi_errno = MPI_SUCCESS;

    while (lock->first && fits(lock, lock->first) && mpi_errno == MPI_SUCCESS) {
        asking_t *a = lock->first;
        lock->first = a->next;
        if (!lock->first)
            lock->last = &lock->first;
        mpi_errno = grant(lock, a, vci);
        MPL_free(a);
    }
    return mpi_errno;
}

/* Waits behind those that wait already, so that no process waits for ever. */
static void line_up(csp_lock_t * lock, const message_t * msg, int origin_vci)
{
    asking_t *a = csp_must_malloc(sizeof(*a));

    a->msg = *msg;
    a->origin_vci = origin_vci;
    a->next = NULL;
    *lock->last = a;
    lock->last = &a->next;
}

/* A header without data; the transport makes no request for it. */
static int ghost_cb(void *am_hdr, void *data, MPI_Aint bytes, uint32_t attr, MPIR_Request ** req)
{
    const message_t *msg = am_hdr;
    csp_lock_t *lock = (csp_lock_t *) (uintptr_t) msg->lock;
    int vci = MPIDIG_AM_ATTR_DST_VCI(attr), origin_vci = MPIDIG_AM_ATTR_SRC_VCI(attr);
    int mpi_errno = MPI_SUCCESS;

    if (msg->type == RELEASE)
        mpi_errno = release(lock, msg, vci, origin_vci);
    else
        line_up(lock, msg, origin_vci);
    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = grant_waiting(lock, vci);
    free_if_unused(lock);
    MPIDIG_rma_set_am_flag();
    if (attr & MPIDIG_AM_ATTR__IS_ASYNC)
        *req = NULL;
    return mpi_errno;
}

/* ---- the user ---- */

static int user_cb(void *am_hdr, void *data, MPI_Aint bytes, uint32_t attr, MPIR_Request ** req)
{
    const message_t *msg = am_hdr;
    csp_target_t *target = (csp_target_t *) (uintptr_t) msg->target;

    tsm_store(&target->is_answered, 1, TSM_RELEASE);
    if (attr & MPIDIG_AM_ATTR__IS_ASYNC)
        *req = NULL;
    return MPI_SUCCESS;
}

static int send_to_ghost(csp_target_t * target, int type)
{
    const message_t msg = {
        .lock = target->lock,.target = (uint64_t) (uintptr_t) target,
        .origin = MPIR_Process.rank,.type = type
    };
    int vci = MPIDI_WIN(csp_inner, am_vci), mpi_errno;

    tsm_store(&target->is_answered, 0, TSM_RELAXED);
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
    CH4_CALL(am_send_hdr(target->ghost, csp_inner->comm_ptr, to_ghost, &msg, sizeof(msg), vci, vci),
             MPIDI_rank_is_local(target->ghost, csp_inner->comm_ptr), mpi_errno);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    if (mpi_errno == MPI_SUCCESS)
        target->lock_type = type;
    csp_node_wake(target->ghost);
    return mpi_errno;
}

int csp_grant_ask(csp_target_t * target, int type)
{
    return send_to_ghost(target, type);
}

int csp_grant_await(csp_target_t * target)
{
    int mpi_errno = MPI_SUCCESS;

    while (mpi_errno == MPI_SUCCESS && !tsm_load(&target->is_answered, TSM_ACQUIRE)) {
        mpi_errno = MPID_Progress_test(NULL);
        csp_let_in();
        csp_look_again();
    }
    csp_look_ends();
    return mpi_errno;
}

int csp_grant_release(csp_target_t * target)
{
    return send_to_ghost(target, RELEASE);
}

int csp_grant_open(void)
{
    int mpi_errno = MPI_SUCCESS;

    to_ghost = MPIDIG_am_reg_cb_dynamic(NULL, ghost_cb);
    to_user = MPIDIG_am_reg_cb_dynamic(NULL, user_cb);
    MPIR_ERR_CHKANDJUMP(to_ghost < 0 || to_user < 0, mpi_errno, MPI_ERR_OTHER, "**intern");

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

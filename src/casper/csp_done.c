/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <pthread.h>
#include "csp_envelope.h"
#include "csp_help.h"
#include "csp_ring.h"
#include "csp_stage.h"

/* Looks of a waiting process between two that check whether its ghost lives. */
#define LOOKS_PER_CHECK (1u << 16)

/* The same for a process that waits for something else: the hook runs with every eighth poll only where
 * one-sided operations wait, and each millisecond where a server thread sleeps (poll.c, server.c). */
#define IDLE_LOOKS_PER_CHECK (1u << 12)

/* Posts that may wait for room while more small messages are sent, some 9 MB of them. */
#define MOST_WAITING 65536

/* So many vain looks while no processor seems to be short. */
#define LOOKS_ALONE 512

/* Vain looks between two that look at the clock. */
#define LOOKS_PER_CLOCK 8

/* Vain looks between two that wake the ghost, which may have slept until now. */
#define LOOKS_PER_RING 512

/* Vain looks before the caller offers its processor to the ghost. */
#define LOOKS_PER_YIELD 16

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int try_lock(void)
{
    return !MPIR_IS_THREADED || pthread_mutex_trylock(&mutex) == 0;
}

static void unlock(void)
{
    if (MPIR_IS_THREADED)
        pthread_mutex_unlock(&mutex);
}

/* The error code of an error class that the ghost has found. */
static int error_of(const csp_answer_t * answer, MPI_Aint room)
{
    if (answer->error == MPI_ERR_TRUNCATE)
        return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                                    MPI_ERR_TRUNCATE, "**truncate", "**truncate %d %d %d %d",
                                    answer->source, answer->tag,
                                    (int) MPL_MIN(answer->bytes, INT_MAX),
                                    (int) MPL_MIN(room, INT_MAX));
    return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                                answer->error, "**buffer", 0);
}

/* Data that has come with the answer. */
static void take_data(csp_op_t * op, const csp_answer_t * answer, MPI_Aint bytes)
{
    if (answer->flags & CSP_ANSWER_INLINE)
        memcpy(op->data.addr, answer->data, bytes);
    if (!(answer->flags & CSP_ANSWER_SLOT))
        return;
    memcpy(op->data.addr, csp_node.user[answer->segment].slot[answer->object], bytes);
    csp_slot_free((int) answer->segment, answer->object);
}

static void complete_recv(csp_op_t * op, csp_answer_t * answer)
{
    MPI_Status *status = &op->req->status;
    MPI_Aint got = MPL_MIN((MPI_Aint) answer->bytes, op->data.bytes);
    int mpi_errno;

    if (answer->flags & CSP_ANSWER_CANCELLED) {
        MPIR_STATUS_SET_CANCEL_BIT(*status, TRUE);
        MPIR_STATUS_SET_COUNT(*status, 0);
        return;
    }
    csp_envelope_read(op->rank, answer);
    status->MPI_SOURCE = answer->source;
    status->MPI_TAG = answer->tag;
    MPIR_STATUS_SET_COUNT(*status, got);
    take_data(op, answer, got);
    mpi_errno = csp_data_arrived(&op->data, got);
    if (answer->error != MPI_SUCCESS)
        mpi_errno = error_of(answer, op->data.bytes);
    status->MPI_ERROR = mpi_errno;
}

/* After the port of completion nothing touches the request or the buffer, which the caller may reuse at
 * once. The operation is freed only then: a cancel that finds it in use again must find the request
 * complete (csp_cancel.c). */
static void complete(csp_op_t * op, csp_answer_t * answer)
{
    MPIR_Request *req = op->req;

    if (answer->flags & (CSP_ANSWER_FILL | CSP_ANSWER_DRAIN)) {
        csp_stage_copy(op, answer);
        return;
    }
    if (!req) {
        op->answer = *answer;
        tsm_store(&op->is_answered, 1, TSM_RELEASE);
        return;
    }
    if (req->kind == MPIR_REQUEST_KIND__RECV)
        complete_recv(op, answer);
    else if (answer->error != MPI_SUCCESS)
        req->status.MPI_ERROR = error_of(answer, op->data.bytes);
    if (req->kind == MPIR_REQUEST_KIND__SEND)
        csp_count_send(-1);
    csp_data_free(&op->data);
    MPIDI_complete(req);
    csp_op_free(op);
}

/* Returns 0 if there is no answer, or another thread takes one just now. */
static int take_one(csp_answer_t * answer)
{
    csp_user_t *me = csp_node.my_user;
    int is_there;

    if (!csp_ring_has_entry(&me->answers) || !try_lock())
        return 0;
    is_there = csp_ring_has_entry(&me->answers);
    if (is_there) {
        *answer = me->answer[csp_ring_read(&me->answers)];
        csp_ring_release(&me->answers);
    }
    unlock();
    return is_there;
}

/* Without the lock, and one after the other: a completion may free a datatype, whose attributes
 * have callbacks of the user, which may call MPI and wait for an answer themselves. */
static int complete_all(void)
{
    csp_answer_t answer;
    unsigned answered = 0, by_ghost = 0;        /* csp_ring.h */
    int n = 0;

    for (; take_one(&answer); n++) {
        csp_op_t *op = (csp_op_t *) (uintptr_t) answer.op;
        const unsigned bit = 1u << csp_ring_class(op->data.bytes);

        answered |= bit;
        by_ghost |= answer.flags & CSP_ANSWER_GHOST ? bit : 0;
        complete(op, &answer);
    }
    if (n > 0)
        csp_ring_judge(answered, by_ghost);
    return n;
}

void csp_let_in(void)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__GLOBAL
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
#endif
}

/* It may leave just now, so look first whether it lives. */
void csp_check_ghost(void)
{
    if (csp_world.offloads && !csp_node_lives(csp_node.my_ghost->pid) &&
        !tsm_load(&csp_node.my_ghost->is_gone, TSM_ACQUIRE))
        csp_fail("the ghost of process %d has died", MPIR_Process.rank);
}

/* Let the ghost know that we wait: then we copy our data, and not it. Not if we cannot. */
static void show_that_we_wait(unsigned looks)
{
    TSM_ATOMIC(uint64_t) *looked = &csp_node.my_user->looked;

    if (!tsm_load(&csp_node.reaches, TSM_RELAXED))
        return;
    if (looks % LOOKS_PER_CLOCK == 0 || tsm_load(looked, TSM_RELAXED) == 0)
        tsm_store(looked, tsm_now_ns(), TSM_RELAXED);
}

/* Vain looks of this thread in a row. */
static __thread unsigned looks;

/* Whether the ghost has not run since the last look: it sleeps or has no processor. With ghosts that
 * serve several nodes the load knows only processes of our own, so the ghost itself must show it. */
static int ghost_is_still(void)
{
    static __thread uint64_t seen;
    uint64_t turns = tsm_load(&csp_node.my_ghost->counts.turns, TSM_RELAXED);
    int is_still = turns == seen;

    seen = turns;
    return is_still;
}

/* While the ghost copies, perhaps our data, it may be our processor that it needs; and after a while it
 * may be so, too, if the others do not show that they want one. */
static int is_time_to_yield(void)
{
    if (tsm_load(&csp_node.my_ghost->desk.is_copying, TSM_RELAXED))
        return 1;
    if (looks % LOOKS_PER_YIELD != 0)
        return 0;
    if (csp_world.ghosts > 1 && ghost_is_still()) {
        csp_ring();
        return 1;
    }
    return looks > LOOKS_ALONE || tsm_load_crowded();
}

void csp_look_again(void)
{
    looks++;
    show_that_we_wait(looks);
    if (looks % LOOKS_PER_YIELD == 0)
        tsm_load_touch();
    if (is_time_to_yield())
        tsm_yield();
    if (looks % LOOKS_PER_RING == 0)
        csp_ring();
    if (looks % LOOKS_PER_CHECK == 0)
        csp_check_ghost();
}

void csp_look_ends(void)
{
    looks = 0;
}

static TSM_ATOMIC(int) is_closed;

void csp_take_no_more(void)
{
    tsm_store(&is_closed, 1, TSM_RELAXED);
}

/* The caller waits for no answer, but perhaps for what a dead ghost does not do. */
static void look_beside(void)
{
    static __thread unsigned idle_looks;

    if (++idle_looks % IDLE_LOOKS_PER_CHECK == 0)
        csp_check_ghost();
}

/* The first answers tell whether it was of use to wake the ghost (csp_ring.c). */
int csp_take_answers(int *made_progress)
{
    int n = 0;

    if (!csp_outstanding() || tsm_load(&is_closed, TSM_RELAXED)) {
        csp_post_waiting();
        look_beside();
        return MPI_SUCCESS;
    }
    n = complete_all();
    if (n == 0 && csp_help())
        n = complete_all();
    if (n > 0)
        looks = 0;
    n += csp_post_waiting();
    if (n > 0)
        *made_progress = 1;
    else
        csp_look_again();
    return MPI_SUCCESS;
}

static void move_posts(void)
{
    csp_post_waiting();
    csp_let_in();
    if (!csp_help())            /* the ghost leaves to us what we wait for */
        csp_look_again();
}

void csp_await_room(void)
{
    while (csp_posts_wait() > MOST_WAITING)
        move_posts();
}

/* Not for what other threads post meanwhile: that may go on without end. */
void csp_post_all(void)
{
    const unsigned last = csp_posts_last();

    while (!csp_posts_went(last))
        move_posts();
}

static int await_answer(csp_op_t * op)
{
    int mpi_errno = MPI_SUCCESS, made_progress;

    while (!tsm_load(&op->is_answered, TSM_ACQUIRE) &&
           mpi_errno == MPI_SUCCESS) {
        mpi_errno = csp_take_answers(&made_progress);
        csp_let_in();
        tsm_cpu_pause();
    }
    return mpi_errno;
}

int csp_ask(csp_post_t * post, csp_op_t ** op)
{
    int mpi_errno = MPI_SUCCESS;

    *op = csp_op_new(NULL);
    MPIR_ERR_CHKANDJUMP(!*op, mpi_errno, MPI_ERR_OTHER, "**nomem");
    post->op = (uint64_t) (uintptr_t) *op;
    mpi_errno = csp_post(post);
    if (mpi_errno)
        csp_op_free(*op);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = await_answer(*op);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIR_STAY_UP_H_INCLUDED
#define MPIR_STAY_UP_H_INCLUDED

/* A process that has had an MPI session keeps the library until it exits.  The end of its last
 * session, or MPI_Finalize, only completes what the process still has to send; another session, or
 * MPI_Init, then starts at once.  Only mpir_init.c includes this file, and calls everything here but
 * MPII_end_first with MPIR_init_lock held.
 *
 *   MPII_may_start       an error once the library has been taken down
 *   MPII_is_up           whether there is nothing left to initialize
 *   MPII_end_first       before a session or MPI_COMM_WORLD ends
 *   MPII_stays_up        after a session or MPI_COMM_WORLD has ended: whether to leave it at that
 *   MPII_quiesce         before the library is taken down
 *
 * MPIR_init_lock comes before the lock of global: a thread that has the first may make a communicator,
 * and lets others have the second while it waits for other processes.
 *
 * Finalizing the library and initializing it again cannot work: both need all processes at the same
 * time, but each process opens and closes its sessions independently.  One process may have closed
 * its last session while another has two open.
 *
 * A process that has never had a session finalizes the library in MPI_Finalize, as before; a
 * later session returns an error. */

#include <stdlib.h>
#include <unistd.h>
#include "tsm/tsm_wait.h"

#define ANSWER_SECONDS 1        /* to wait at most for room for answers to other processes */

static struct {
    bool has_had_session, is_up, is_down, is_exiting;
    pid_t pid;                  /* of the process that initialized: a child must not finalize */
} stay;

static int MPII_may_start(bool is_world_model)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP1(stay.is_down, mpi_errno, MPI_ERR_OTHER, "**intern", "**intern %s",
                         "no session after an MPI_Finalize that had none before it");
    if (!is_world_model)
        stay.has_had_session = true;
#ifdef MPIDI_CH4_MAX_VCIS
    if (stay.is_up)
        mpi_errno = MPIDI_server_start();
#endif
  fn_fail:
    return mpi_errno;
}

static bool MPII_is_up(void)
{
    if (stay.is_up)
        MPL_atomic_store_int(&MPIR_Process.mpich_state, MPICH_MPI_STATE__INITIALIZED);
    return stay.is_up;
}

static void end_at_exit(void)
{
    bool is_mine = stay.pid == getpid() &&
        MPL_atomic_load_int(&MPIR_Process.mpich_state) == MPICH_MPI_STATE__UNINITIALIZED;

    if (is_mine) {      /* else a session is open: the program ends by an error */
        stay.is_exiting = true;
        init_counter = 1;
        MPL_atomic_store_int(&MPIR_Process.mpich_state, MPICH_MPI_STATE__INITIALIZED);
        MPII_Finalize(NULL);
    }
}

#ifdef ENABLE_CASPER
/* For a ghost, which leaves out what the program does at exit (csp_ghost.c). */
void MPII_end_at_exit(void)
{
    end_at_exit();
}
#endif

/* Waits for a send whose request the user has freed. */
static int finish_send(MPIR_Request * req)
{
    int mpi_errno = MPI_SUCCESS;

    if (MPIR_Object_get_ref(req) > 0 && req->kind == MPIR_REQUEST_KIND__SEND &&
        !MPIR_Request_is_complete(req)) {
        MPIR_Request_add_ref(req);
        mpi_errno = MPID_Wait(req, MPI_STATUS_IGNORE);
        MPIR_Request_free(req);
    }
    return mpi_errno;
}

#ifdef MPIDI_CH4_MAX_VCIS
#ifdef HAVE_CH4_NETMOD_UCX
/* UCX keeps its messages itself, and says only when all of a worker have gone. */
static ucs_status_ptr_t ucx_flushes[MPIDI_CH4_MAX_VCIS];

static void begin_ucx_flushes(void)
{
    const ucp_request_param_t param = { 0 };

    for (int vni = 0; vni < MPIDI_UCX_global.num_vnis; vni++) {
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vni).lock);
        ucx_flushes[vni] = MPIDI_UCX_global.ctx[vni].worker ?
            ucp_worker_flush_nbx(MPIDI_UCX_global.ctx[vni].worker, &param) : NULL;
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni).lock);
    }
}

static bool have_ucx_flushes(void)
{
    for (int vni = 0; vni < MPIDI_UCX_global.num_vnis; vni++)
        if (UCS_PTR_IS_PTR(ucx_flushes[vni]) &&
            ucp_request_check_status(ucx_flushes[vni]) == UCS_INPROGRESS)
            return true;
    return false;
}

/* One that has not ended goes on. */
static void end_ucx_flushes(void)
{
    for (int vni = 0; vni < MPIDI_UCX_global.num_vnis; vni++) {
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vni).lock);
        if (UCS_PTR_IS_PTR(ucx_flushes[vni]))
            ucp_request_free(ucx_flushes[vni]);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni).lock);
    }
}
#else
#define begin_ucx_flushes()
#define have_ucx_flushes() false
#define end_ucx_flushes()
#endif

/* Messages without a request, such as the answer to a synchronous send, that found no room. */
static bool have_answers(void)
{
#ifndef MPIDI_CH4_DIRECT_NETMOD
    for (int vsi = 0; vsi < MPIDI_POSIX_global.num_vsis; vsi++)
        if (MPIDI_POSIX_global.per_vsi[vsi].postponed.waiting)
            return true;
#endif
#ifdef HAVE_CH4_NETMOD_OFI
    for (int vni = 0; vni < MPIDI_OFI_global.num_vnis; vni++)
        for (int nic = 0; nic < MPIDI_OFI_global.num_nics; nic++)
            if (MPIDI_OFI_HAS_DEFERRED_PEERS(MPIDI_OFI_get_ctx_index(NULL, vni, nic)))
                return true;
#endif
    return have_ucx_flushes();
}

/* Not for ever: a process outside MPI makes no room. What is left goes at exit. */
static int finish_answers(void)
{
    int mpi_errno = MPI_SUCCESS;
    double gap = 0;
    MPL_time_t start, now;

    MPL_wtime(&start);
    begin_ucx_flushes();
    while (have_answers() && gap < ANSWER_SECONDS && mpi_errno == MPI_SUCCESS) {
        mpi_errno = MPID_Progress_test(NULL);
        tsm_yield();
        MPL_wtime(&now);
        MPL_wtime_diff(&start, &now, &gap);
    }
    end_ucx_flushes();
    return mpi_errno;
}

/* Small sends are complete while they still wait for room in the ring to their ghost. Other threads may
 * be in MPI, if sessions are open. */
static void finish_posts(void)
{
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    csp_post_all();
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}
#else
#define finish_answers() MPI_SUCCESS
#define finish_posts()
#endif

/* No other thread is in MPI any more, so none creates or frees requests. */
static int finish_sends(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    for (int pool = 0; pool < MPIR_REQUEST_NUM_POOLS; pool++) {
        MPIR_Object_alloc_t *mem = &MPIR_Request_mem[pool];
        for (int i = 0; i < mem->direct_size && mem->initialized && !mpi_errno; i++)
            mpi_errno = finish_send((MPIR_Request *) mem->direct + i);
        for (int block = 0; block < mem->indirect_size; block++)
            for (int i = 0; mem->indirect[block] && i < REQUEST_NUM_INDICES && !mpi_errno; i++)
                mpi_errno = finish_send((MPIR_Request *) mem->indirect[block] + i);
    }
    mpi_errno = mpi_errno ? mpi_errno : finish_answers();
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

/* The processes of MPI_COMM_WORLD receive what they wait for before MPIDI_progress_quiesce ends: it has
 * a barrier. Others, which were spawned or have connected, may do so later. */
static int MPII_quiesce(void)
{
    int mpi_errno = MPI_SUCCESS, quiesce_errno;

#ifdef MPIDI_CH4_MAX_VCIS
    if (MPIDIU_get_n_avts() > 1) {      /* there are others, or have been */
        MPIDI_server_stop();
        mpi_errno = finish_sends();
    }
#endif
    quiesce_errno = MPIDI_progress_quiesce();
    return mpi_errno ? mpi_errno : quiesce_errno;
}

/* MPI_Finalize must call the delete functions of MPI_COMM_SELF's attributes; they cannot wait until
 * exit.  It does so before anything else and without MPIR_init_lock, because they may begin and end
 * sessions, or wait for threads that do.  MPI_COMM_WORLD still counts as open then.  MPICH leaves the
 * global section around such a function. */
static int end_self(void)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Comm *self = MPIR_Process.comm_self;

    if (!stay.is_exiting && MPIR_Process.attr_free && self->attributes) {
        MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
        mpi_errno = MPIR_Process.attr_free(self->handle, &self->attributes);
        MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    }
    return mpi_errno;
}

/* session: NULL for MPI_Finalize. */
static int MPII_end_first(MPIR_Session * session)
{
    if (!session)
        return end_self();
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPIR_Errhandler_free_impl(session->errhandler);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return MPI_SUCCESS;
}

/* init_counter: sessions that are still open, and MPI_COMM_WORLD. self_errno: of MPII_end_first;
 * if the library stays up, the rest ends all the same. *err: an MPI error code. */
static bool MPII_stays_up(int self_errno, int *err)
{
    int mpi_errno = MPI_SUCCESS;

    stay.is_down = !stay.has_had_session || stay.is_exiting;
    if (stay.is_down)
        goto fn_exit;
    if (init_counter == 0) {
        mpi_errno = MPII_finalize_async();
        MPIR_ERR_CHECK(mpi_errno);
#ifdef MPIDI_CH4_MAX_VCIS
        MPIDI_server_stop();    /* they complete and free requests, too */
#endif
        mpi_errno = finish_sends();
        MPIR_ERR_CHECK(mpi_errno);
    }
    finish_posts();
    if (init_counter == 0) {
        if (!stay.is_up) {
            stay.is_up = true;
            stay.pid = getpid();
            MPIR_ERR_CHKANDJUMP(atexit(end_at_exit), mpi_errno, MPI_ERR_OTHER, "**nomem");
        }
        MPL_atomic_store_int(&MPIR_Process.mpich_state, MPICH_MPI_STATE__UNINITIALIZED);
    }
  fn_exit:
    *err = self_errno ? self_errno : mpi_errno;
    return !stay.is_down || init_counter > 0;
  fn_fail:
    goto fn_exit;
}

#endif /* MPIR_STAY_UP_H_INCLUDED */

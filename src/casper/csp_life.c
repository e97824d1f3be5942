/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_count.h"
#include "csp_envelope.h"
#include "csp_ghost.h"
#include "csp_inner.h"

static int hook = -1;

int csp_join_node(void)
{
    return csp_world.ghosts > 0 ? csp_node_open() : MPI_SUCCESS;
}

static int add_hook(int (*function) (int *made_progress))
{
    int mpi_errno = MPIR_Progress_hook_register(function, &hook);

    if (mpi_errno == MPI_SUCCESS)
        MPIR_Progress_hook_activate(hook);
    return mpi_errno;
}

/* By all processes, also for a session, which has MPI_COMM_WORLD then (mpir_init.c). Users get their
 * hook; the lock of MPI_Init must be free for the end of a ghost. */
int csp_start(void)
{
    int mpi_errno = MPI_SUCCESS;

    if (csp_world.ghosts == 0 || csp_world.is_split)
        goto fn_exit;
    if (csp_world.is_ghost)
        csp_ghost_ignore_signals();
    mpi_errno = csp_node_agree();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = csp_inner_open();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = csp_world_split();
    MPIR_ERR_CHECK(mpi_errno);
    if (csp_world.is_ghost) {
        MPL_initlock_unlock(&MPIR_init_lock);
        csp_ghost_run();
    }
    csp_envelope_start();
    csp_count_start();
    mpi_errno = add_hook(csp_take_answers);
    MPIR_ERR_CHECK(mpi_errno);
    csp_world.has_direct = csp_world.offloads;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_quiesce(void)
{
    int mpi_errno = MPI_SUCCESS, made_progress;

    while (hook >= 0 && csp_outstanding_sends() > 0 && mpi_errno == MPI_SUCCESS)
        mpi_errno = csp_take_answers(&made_progress);
    return mpi_errno;
}

/* Posts that wait for room in the ring go before the last one. The hook stays: the ghost may die before
 * it has taken part in the end. */
static void say_goodbye(void)
{
    const csp_post_t post = {.kind = CSP_POST_LEAVE };

    csp_world.has_direct = 0;
    if (csp_post(&post))
        csp_fail("process %d cannot leave", MPIR_Process.rank);
    csp_post_all();
    csp_take_no_more();
}

/* What follows needs no ghost, and no user needs this one any more. */
static void end_parts(void)
{
    if (csp_world.is_ghost)
        tsm_store(&csp_node.my_ghost->is_gone, 1, TSM_RELEASE);
    MPIR_Progress_hook_deactivate(hook);
    hook = -1;
}

/* Users and ghosts wait for each other to close csp_inner, so each looks there whether the other
 * lives. */
void csp_leave(void)
{
    int mpi_errno = MPI_SUCCESS;

    if (!csp_world.is_split)
        return;
    if (csp_world.is_ghost)
        mpi_errno = add_hook(csp_ghost_watch);
    else
        say_goodbye();
    if (mpi_errno != MPI_SUCCESS || csp_inner_close() != MPI_SUCCESS)
        csp_fail("process %d cannot leave", MPIR_Process.rank);
    end_parts();
    if (!csp_world.is_ghost)
        csp_count_end();
    csp_node_close();
    csp_world_show_all();
    csp_world.is_split = 0;
    MPL_free(csp_world.ghost_of);
    csp_envelope_end();
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_agree.h"
#include "csp_inner.h"
#include "csp_node.h"
#include "csp_share.h"

/* What the processes of a window tell each other. */
typedef struct part {
    uint64_t base, lock;
    int64_t size;
    int32_t disp_unit, ghost, is_ready;
} part_t;

/* ---- does it go to the ghosts? ---- */

/* A hint of the window itself goes before what the communicator has. All processes must want it. */
static int all_want(MPIR_Comm * comm, MPIR_Info * info, MPIR_Win * win, int *wanted)
{
    int wish = csp_comm_wish(win->comm_ptr, info, "async_config"), is_same = 1, mpi_errno;

    *wanted = wish < 0 ? MPIDI_COMM(comm, casper) : wish;
    mpi_errno = csp_agree(win->comm_ptr, 1, wanted, &is_same);
    if (!is_same && comm->rank == 0)
        fprintf(stderr, "MPI ghost processes: a window is not offloaded, because its processes differ "
                "in async_config\n");
    return mpi_errno;
}

/* ---- its processes ---- */

static void note_target(csp_target_t * target, const part_t * part, int is_far)
{
    target->base = part->base;
    target->lock = part->lock;
    target->size = part->size;
    target->disp_unit = part->disp_unit;
    target->ghost = part->ghost;
    target->is_far = is_far;
}

static int shares_memory(int rank, MPIR_Comm * comm)
{
    return rank == comm->rank || (comm->node_comm && MPIDI_rank_is_local(rank, comm));
}

/* Tell all what we have. *is_ready: every process has mapped its memory and so has its ghost. */
static int exchange(MPIR_Win * win, csp_win_t * w, const part_t * mine, int *is_ready)
{
    MPIR_Comm *comm = win->comm_ptr;
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    part_t *parts = csp_must_malloc(comm->local_size * sizeof(*parts));
    int mpi_errno = MPI_SUCCESS;

    parts[comm->rank] = *mine;
    mpi_errno = MPIR_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, parts, sizeof(*parts), MPI_BYTE,
                               comm, &errflag);
    MPIR_ERR_CHECK(mpi_errno);
    *is_ready = 1;
    for (int i = 0; i < comm->local_size; i++) {
        *is_ready &= parts[i].is_ready;
        note_target(&w->target[i], &parts[i], !shares_memory(i, comm));
    }

  fn_exit:
    MPL_free(parts);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- begin ---- */

static csp_win_t *new_win(int processes)
{
    csp_win_t *w = csp_must_calloc(1, sizeof(*w));

    w->target = csp_must_calloc(processes, sizeof(*w->target));
    w->share = csp_must_calloc(1, sizeof(*w->share));
    return w;
}

static void close_win(MPIR_Win * win, csp_win_t * w)
{
    csp_share_close(w->share, &w->target[win->comm_ptr->rank]);
    MPL_free(MPIDIG_WIN(win, shared_table));
    MPIDIG_WIN(win, shared_table) = NULL;
    MPL_free(w->target);
    MPL_free(w->share);
    MPL_free(w);
}

static int open_share(MPIR_Win * win, csp_win_t * w, MPI_Aint size, int disp_unit)
{
    MPIR_Comm *node = win->comm_ptr->node_comm;

    if (node)
        MPIDIG_WIN(win, shared_table) =
            csp_must_malloc(node->local_size * sizeof(MPIDIG_win_shared_info_t));
    return csp_share_open(w->share, win, size, disp_unit, MPIDIG_WIN(win, shared_table));
}

static int open_win(MPIR_Win * win, csp_win_t * w, MPI_Aint size, int disp_unit, int *is_ready)
{
    csp_target_t *me = &w->target[win->comm_ptr->rank];
    int mpi_errno = open_share(win, w, size, disp_unit);
    part_t mine = {.size = size,.disp_unit = disp_unit };

    MPIR_ERR_CHECK(mpi_errno);
    mine.is_ready = csp_share_map(w->share, size, me);
    mine.base = me->base;
    mine.lock = me->lock;
    mine.ghost = csp_world.users + csp_world.ghost_of[MPIR_Process.rank];
    mpi_errno = exchange(win, w, &mine, is_ready);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    csp_share_unname(w->share, win);    /* after an error, too */
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_win_alloc(MPI_Aint size, int disp_unit, MPIR_Comm * comm, MPIR_Info * info, void **base,
                  MPIR_Win * win)
{
    int mpi_errno = MPI_SUCCESS, is_wanted, is_ready;
    csp_win_t *w;

    if (!csp_comm_is_possible(comm) || !MPL_proc_mutex_enabled())
        goto fn_exit;
    mpi_errno = all_want(comm, info, win, &is_wanted);
    MPIR_ERR_CHECK(mpi_errno);
    if (!is_wanted)
        goto fn_exit;
    w = new_win(win->comm_ptr->local_size);
    mpi_errno = open_win(win, w, size, disp_unit, &is_ready);
    if (mpi_errno || !is_ready) {
        close_win(win, w);
        goto fn_exit;
    }
    *base = size > 0 ? (char *) w->share->addr + w->share->offset : NULL;
    MPIDI_WIN(win, threads).casper = w;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* All accumulates of the node go under one mutex, those of the ghosts, too. */
void csp_win_ready(MPIR_Win * win)
{
    if (!csp_win_has(win))
        return;
    win->dev.shm.posix.shm_mutex_ptr = &csp_node.ghost[0].accumulates;
    MPIDI_WIN(win, winattr) |= MPIDI_WINATTR_SHM_ALLOCATED;
    MPIDI_WIN(win, winattr) &= ~(MPIDI_winattr_t) MPIDI_WINATTR_ACCU_NO_SHM;
}

/* ---- end ---- */

void csp_win_free(MPIR_Win * win)
{
    csp_win_unshare(win);
    if (!csp_win_has(win))
        return;
    MPIDI_WIN(win, winattr) &= ~(MPIDI_winattr_t) MPIDI_WINATTR_SHM_ALLOCATED;
    win->dev.shm.posix.shm_mutex_ptr = NULL;
    win->base = NULL;
    close_win(win, MPIDI_WIN(win, threads).casper);
    MPIDI_WIN(win, threads).casper = NULL;
}

int csp_win_info(MPIR_Win * win, MPIR_Info * info)
{
    if (csp_world.ghosts == 0)
        return MPI_SUCCESS;
    return MPIR_Info_set_impl(info, "async_config", csp_win_has(win) ? "true" : "false");
}

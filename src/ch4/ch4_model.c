/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_CH4_THREAD_CS
      category    : CH4
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Thread-safety model of MPI_THREAD_MULTIPLE: lockq or per-vci. A library configured with
        --enable-thread-cs=runtime takes either (default lockq); any other accepts only the model
        it was configured with.

    - name        : MPIR_CVAR_CH4_MAX_COMBINE
      category    : CH4
      type        : int
      default     : 1024
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        With lockq, the most operations of other threads that a thread issues before its own call
        goes on. At least 1.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#if MPICH_THREAD_MODEL == MPICH_THREAD_MODEL__RUNTIME
int MPIDI_tsm_model = MPICH_THREAD_MODEL__LOCKQ;
#else
int MPIDI_tsm_model = MPICH_THREAD_MODEL;
#endif

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "ch4_issue.h"
#include "ch4_usc.h"

static int parse_model(const char *name)
{
    if (!strcasecmp(name, "lockq"))
        return MPICH_THREAD_MODEL__LOCKQ;
    if (!strcasecmp(name, "per-vci") || !strcasecmp(name, "per-vni"))
        return MPICH_THREAD_MODEL__PER_VCI;
    return -1;
}

static const char *model_name(int model)
{
    return model == MPICH_THREAD_MODEL__LOCKQ ? "lockq" : "per-vci";
}

/* Read the model from its CVAR. Errors are told on stderr, because MPI_Init cannot say more than
 * that it failed, and returned. Called once in MPID_Init, by one thread. */
int MPIDI_tsm_model_init(void)
{
    int mpi_errno = MPI_SUCCESS;
    const char *name = MPIR_CVAR_CH4_THREAD_CS;

    MPIDI_tsm_thread_open();
    if (MPIR_CVAR_CH4_MAX_COMBINE < 1) {
        fprintf(stderr, "MPIR_CVAR_CH4_MAX_COMBINE=%d: must be at least 1\n",
                MPIR_CVAR_CH4_MAX_COMBINE);
        MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_OTHER, "**other");
    }
    if (name && *name) {
        int model = parse_model(name);
        if (model < 0) {
            fprintf(stderr, "MPIR_CVAR_CH4_THREAD_CS=%s: unknown thread-safety model; "
                    "choose one of: lockq, per-vci\n", name);
            MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_OTHER, "**other");
        }
#if MPICH_THREAD_MODEL == MPICH_THREAD_MODEL__RUNTIME
        MPIDI_tsm_model = model;
#else
        if (model != MPIDI_tsm_model) {
            fprintf(stderr, "MPIR_CVAR_CH4_THREAD_CS=%s: this library was configured with "
                    "--enable-thread-cs=%s; choosing at run time needs "
                    "--enable-thread-cs=runtime\n", name, model_name(MPIDI_tsm_model));
            MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_OTHER, "**other");
        }
#endif
    }
    if (MPIR_CVAR_DEBUG_SUMMARY && MPIR_Process.rank == 0)
        printf("==== Thread safety ====\nthread-cs: %s\nthread lock: %s\n",
               model_name(MPIDI_tsm_model), tsm_lock_name());

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Give the lock of a VCI its queue. Before any other thread uses the VCI. */
void MPIDI_tsm_vci_init(int vci)
{
    MPIDU_workq_t *workq = &MPIDI_VCI(vci).workq;

    tsm_swp_init(&workq->queue);
    workq->draining = 0;
    workq->nm_skipped = 0;
    workq->shm_quiet = MPIDI_TSM_NM_TURN;
    workq->vci = vci;
    MPIDI_VCI(vci).lock.workq = workq;
    memset(&MPIDI_VCI(vci).posted_table, 0, sizeof(MPIDI_tsm_match_table_t));
    memset(&MPIDI_VCI(vci).unexp_table, 0, sizeof(MPIDI_tsm_match_table_t));
    MPIDI_tsm_usc_init(vci);
}

static void drain_vci(int vci)
{
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
    MPIDI_tsm_drain_all(&MPIDI_VCI(vci).workq);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
}

/* In MPI_Finalize, by the last thread in MPI, while the communicators still stand: issue what is
 * still queued, then make progress until every process is here. A process comes here only when it
 * has received all it waits for, so sends whose requests were freed are through afterwards (the
 * unpatched release waits in Finalize without progress and hangs). */
int MPIDI_tsm_finalize(void)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;

    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++)
        drain_vci(vci);
    if (MPIR_Process.comm_world && MPIR_Process.size > 1)
        mpi_errno = MPIR_Barrier(MPIR_Process.comm_world, &errflag);
    return mpi_errno;
}

#else

int MPIDI_tsm_model_init(void)
{
    return MPI_SUCCESS;
}

void MPIDI_tsm_vci_init(int vci)
{
}

int MPIDI_tsm_finalize(void)
{
    return MPI_SUCCESS;
}

void MPIDI_tsm_thread_close(void)
{
}

#endif

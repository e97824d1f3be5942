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
        Thread-safety model of MPI_THREAD_MULTIPLE: lockq, per-vci or global. A library configured
        with --enable-thread-cs=runtime takes lockq (the default) or per-vci; any other accepts only
        the model it was configured with.

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
#define IS_VCI_LOCKED 1
#include "ch4_issue.h"
#include "ch4_usc.h"
#else
#define IS_VCI_LOCKED 0
#endif

#ifdef TSM_LOCK_KIND
#define LOCK_NAME tsm_lock_name()
#else
#define LOCK_NAME "that of the thread package"
#endif

static int parse_model(const char *name)
{
    if (!strcasecmp(name, "lockq"))
        return MPICH_THREAD_MODEL__LOCKQ;
    if (!strcasecmp(name, "per-vci") || !strcasecmp(name, "per-vni"))
        return MPICH_THREAD_MODEL__PER_VCI;
    if (!strcasecmp(name, "global"))
        return MPICH_THREAD_MODEL__GLOBAL;
    return -1;
}

static const char *model_name(int model)
{
    switch (model) {
        case MPICH_THREAD_MODEL__LOCKQ:
            return "lockq";
        case MPICH_THREAD_MODEL__PER_VCI:
            return "per-vci";
        default:
            return "global";
    }
}

/* Whether this library can be told to use the model. */
static int has_model(int model)
{
#if MPICH_THREAD_MODEL == MPICH_THREAD_MODEL__RUNTIME
    return model == MPICH_THREAD_MODEL__LOCKQ || model == MPICH_THREAD_MODEL__PER_VCI;
#else
    return model == MPICH_THREAD_MODEL;
#endif
}

/* Set the model by its name; 0, with a message, if that cannot be. */
static int choose_model(const char *name)
{
    int model = parse_model(name);

    if (model < 0)
        fprintf(stderr, "MPIR_CVAR_CH4_THREAD_CS=%s: unknown thread-safety model; "
                "choose one of: lockq, per-vci, global\n", name);
    else if (!has_model(model))
        fprintf(stderr, "MPIR_CVAR_CH4_THREAD_CS=%s: this library was configured with "
                "--enable-thread-cs=%s; lockq or per-vci at run time needs "
                "--enable-thread-cs=runtime, global its own library\n", name,
                MPICH_THREAD_MODEL == MPICH_THREAD_MODEL__RUNTIME ? "runtime" :
                model_name(MPICH_THREAD_MODEL));
    else
        MPIDI_tsm_model = model;
    return model >= 0 && has_model(model);
}

/* Numbers of ours, and one of MPICH's that it would answer with a failed assertion. */
static int check_numbers(void)
{
    if (MPIR_CVAR_CH4_MAX_COMBINE < 1) {
        fprintf(stderr, "MPIR_CVAR_CH4_MAX_COMBINE=%d: must be at least 1\n",
                MPIR_CVAR_CH4_MAX_COMBINE);
        return 0;
    }
    if (MPIR_CVAR_CH4_NUM_VCIS > MPIDI_CH4_MAX_VCIS) {
        fprintf(stderr, "MPIR_CVAR_CH4_NUM_VCIS=%d: this library was configured for at most %d "
                "(--with-ch4-max-vcis; always 1 for --enable-thread-cs=global)\n",
                MPIR_CVAR_CH4_NUM_VCIS, MPIDI_CH4_MAX_VCIS);
        return 0;
    }
    return 1;
}

/* Read the model from its CVAR. Errors are told on stderr, because MPI_Init cannot say more than
 * that it failed, and returned. Called once in MPID_Init, by one thread. */
int MPIDI_tsm_model_init(void)
{
    int mpi_errno = MPI_SUCCESS;
    const char *name = MPIR_CVAR_CH4_THREAD_CS;

#if IS_VCI_LOCKED
    MPIDI_tsm_thread_open();
#endif
    MPIR_ERR_CHKANDJUMP(!check_numbers() || (name && *name && !choose_model(name)), mpi_errno,
                        MPI_ERR_OTHER, "**other");
    if (MPIR_CVAR_DEBUG_SUMMARY && MPIR_Process.rank == 0)
        printf("==== Thread safety ====\nthread-cs: %s\nthread lock: %s\n",
               model_name(MPIDI_tsm_model), LOCK_NAME);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#if IS_VCI_LOCKED

/* Give the lock of a VCI its queue. Before any other thread uses the VCI. */
void MPIDI_tsm_vci_init(int vci)
{
    MPIDU_workq_t *workq = &MPIDI_VCI(vci).workq;

    tsm_swp_init(&workq->queue);
    workq->draining = 0;
    MPL_atomic_relaxed_store_int(&workq->polls, 0);
    MPL_atomic_relaxed_store_int(&workq->poll_wanted, 0);
    workq->poll_error = MPI_SUCCESS;
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

#else

void MPIDI_tsm_vci_init(int vci)
{
}

void MPIDI_tsm_thread_close(void)
{
}

#endif

/* In MPI_Finalize, by the last thread in MPI, while the communicators still stand: issue what is
 * still queued, then make progress until every process is here. A process comes here only when it
 * has received all it waits for, so sends whose requests were freed are through afterwards (the
 * unpatched release waits in Finalize without progress and hangs). */
int MPIDI_tsm_finalize(void)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;

#if IS_VCI_LOCKED
    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++)
        drain_vci(vci);
#endif
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    if (MPIR_Process.comm_world && MPIR_Process.size > 1)
        mpi_errno = MPIR_Barrier(MPIR_Process.comm_world, &errflag);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

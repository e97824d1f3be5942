/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/combiner.h"
#include "tsm/lock/tsm_lock_kind.h"

void MPIDI_vci_init(int vci)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;
    int err = tsm_usc_init(&v->usc);

    MPIR_Assert(err == 0);
    MPIDI_post_queue_init(&v->posted, MPIDI_model.post_queue);
    v->combiner = MPIDI_MODEL_ISSUE == MPIDI_ISSUE_HYBCOMB ?
        MPIDI_combiner_create((uint32_t) MPIR_CVAR_CH4_MAX_COMBINE) : NULL;
    v->chosen_lock = NULL;
    if (MPIDI_MODEL_LOCK == MPIDI_LOCK_CHOSEN) {
        v->chosen_lock = MPIDI_model.lock_kind->create();
        MPIR_Assertp(v->chosen_lock);   /* also where assertions are off: else the first try crashes */
    }
    tsm_dsm_lock_init(&v->csync, (uint32_t) MPIR_CVAR_CH4_MAX_COMBINE);
    tsm_store(&v->poll_wanted, 0, TSM_RELAXED);
    tsm_store(&v->entering, 0, TSM_RELAXED);
    tsm_store(&v->flushing, 0, TSM_RELAXED);
    tsm_store(&v->second_look, TSM_SECOND_LOOK_NONE, TSM_RELAXED);
    v->counter_waits = NULL;
    v->draining = 0;
    v->poll_error = MPI_SUCCESS;
    v->index = vci;
    v->nm_skipped = 0;
    v->shm_quiet = MPIR_CVAR_CH4_NETMOD_TURN;
    v->nm_asked = 0;
    MPIDI_VCI(vci).lock.vci = v;
    MPIDI_match_init(&MPIDI_VCI(vci).posted_table);
    MPIDI_match_init(&MPIDI_VCI(vci).unexp_table);
}

void MPIDI_vci_finalize(int vci)
{
    MPIDI_VCI(vci).lock.vci = NULL;
    MPIDI_match_free(&MPIDI_VCI(vci).posted_table);
    MPIDI_match_free(&MPIDI_VCI(vci).unexp_table);
    if (MPIDI_VCI(vci).threads.combiner)
        MPIDI_combiner_destroy(MPIDI_VCI(vci).threads.combiner, vci);
    MPIDI_post_queue_destroy(&MPIDI_VCI(vci).threads.posted, vci);
    if (MPIDI_VCI(vci).threads.chosen_lock)
        MPIDI_model.lock_kind->destroy(MPIDI_VCI(vci).threads.chosen_lock);
    tsm_usc_destroy(&MPIDI_VCI(vci).threads.usc);
}

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/combiner.h"

MPIDI_combiner_t *MPIDI_combiner_create(uint32_t max_combine)
{
    MPIDI_combiner_t *combiner = aligned_alloc(TSM_CACHELINE, sizeof(*combiner));

    if (!combiner) {
        fprintf(stderr, "MPI: no memory for the combiner of a VCI (%zu bytes)\n",
                sizeof(*combiner));
        abort();
    }
    tsm_hybcomb_init(&combiner->comb, combiner->member, MPIDI_COMBINER_MEMBERS,
                     MPL_MIN(max_combine, TSM_HYBCOMB_OPS_LIMIT));
    return combiner;
}

/* The VCI whose mailboxes forget() takes from all threads; of the one thread in MPI. */
static int leaving;

static void forget(MPIDI_thread_t * thread)
{
    thread->member[leaving].combiner = NULL;
}

void MPIDI_combiner_destroy(MPIDI_combiner_t * combiner, int vci)
{
    leaving = vci;
    MPIDI_thread_foreach(forget);
    (free) (combiner);
}

tsm_hybcomb_member_t *MPIDI_combiner_member(MPIDI_combiner_t * combiner, int vci)
{
    MPIDI_thread_member_t *mine = &MPIDI_thread_self()->member[vci];

    if (!mine->combiner) {
        int id = tsm_ids_take(&combiner->comb.ids);
        if (id < 0)
            return NULL;
        mine->combiner = combiner;
        mine->id = id;
    }
    return &combiner->member[mine->id];
}

void MPIDI_combiner_thread_exit(MPIDI_thread_t * thread)
{
    for (int i = 0; i < MPIDI_CH4_MAX_VCIS; i++) {
        MPIDI_combiner_t *combiner = thread->member[i].combiner;
        if (combiner)
            tsm_hybcomb_unregister(&combiner->comb, &combiner->member[thread->member[i].id]);
    }
}

#endif

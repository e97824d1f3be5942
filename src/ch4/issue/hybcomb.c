/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/combiner.h"
#include "threads/issue/announced.h"
#include "threads/issue/issue.h"

static uint64_t issue(void *arg)
{
    MPIDI_announced_issue(arg);
    return 0;
}

/* With the lock of the VCI, which it releases. */
static void issue_alone(MPIDU_Thread_mutex_t * m, MPIDI_announced_t * mine)
{
    MPIDI_announced_issue(mine);
    MPIDI_section_exit(m);
}

/* As the combiner: our operation and those of others. */
static void combine(MPIDU_Thread_mutex_t * m, tsm_hybcomb_member_t * member,
                    MPIDI_announced_t * mine)
{
    MPIDI_vci_t *vci = m->vci;
    uint32_t served;

    MPIDI_section_enter(m, 0, 0);
    MPIDI_vci_issue_begin(vci);
    MPIDI_announced_issue(mine);
    served = tsm_hybcomb_combine(&vci->combiner->comb, member);
    MPIDI_vci_issue_end(vci);
    MPIDI_STATS(MPIDI_stats_combined(vci, served));
    (void) served;              /* only counted */
    MPIDI_section_exit(m);
}

/* Returns 1 with the lock, not owned yet; or 0 as the next combiner, with *before; or 0 and *before
 * NULL with the operation issued. Gives way first: an operation in a mailbox needs two threads that get
 * a processor in turn, and its combiner waits for the lock as well. */
static int wait_for_turn(MPIDU_Thread_mutex_t * m, tsm_hybcomb_t * comb, tsm_hybcomb_member_t * member,
                         MPIDI_announced_t * mine, tsm_hybcomb_node_t ** before)
{
    uint64_t unused;

    *before = NULL;
    if (MPIDI_vci_lock_give_way(m, MPIDI_MODEL_LOCK != MPIDI_LOCK_OWN, 0))
        return 1;
    *before = tsm_hybcomb_begin(comb, member, issue, mine, &unused);
    return 0;
}

int MPIDI_hybcomb_delegate_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;
    MPIDI_combiner_t *combiner = MPIDI_VCI(vci).threads.combiner;
    MPIDI_announced_t mine = MPIDI_announced_make(vci, op, req);
    tsm_hybcomb_member_t *member = MPIDI_thread_local.held ? NULL :
        MPIDI_combiner_member(combiner, vci);
    tsm_hybcomb_node_t *before = NULL;
    int is_ours = 1;

    tsm_load_touch();
    if (member) {
        MPIDI_VCI_LOCK_WAIT(&MPIDI_VCI(vci).threads, MPIDI_STATS_MAIN,
                            is_ours = wait_for_turn(m, &combiner->comb, member, &mine, &before));
        if (is_ours)
            MPIDI_vci_lock_own_(m, 1);
    } else {
        MPIDI_section_enter(m, 0, 0);
    }
    MPIDI_STATS(MPIDI_stats_issued(is_ours || before ? MPIDI_STATS_DIRECT : MPIDI_STATS_DELEGATED,
                                   MPIDI_op_stats_kind(op->kind)));
    if (is_ours) {
        issue_alone(m, &mine);
    } else if (before) {
        combine(m, member, &mine);
        tsm_hybcomb_end(member, before);
    }
    *req = mine.req;
    return mine.mpi_errno;
}

#endif

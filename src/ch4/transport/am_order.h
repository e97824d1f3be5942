/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef AM_ORDER_H_INCLUDED
#define AM_ORDER_H_INCLUDED

/* The order of accumulates that arrive as active messages; in place of MPICH's mpidig_util.h. Those of
 * one origin to one window are carried out in the order in which they began to arrive, as MPI demands.
 * MPICH orders all that arrive at a VCI, so an origin whose accumulate arrives in several messages, and
 * that computes before the last one, holds up every other origin.
 *
 * The list of the VCI has the accumulates that have begun to arrive, oldest first. One whose data is
 * there is carried out if none before it has its key; else `request` says that it is ready, and the one
 * before it sees to it. With the VCI held. A search looks at each accumulate that is not complete;
 * those with all data in one message, most of them, never are in the list but alone. */

/* Two orders may have one key by chance; then one waits for the other. */
MPL_STATIC_INLINE_PREFIX uint64_t MPIDIG_cmpl_key(uint64_t win_id, int origin)
{
    return (win_id << 20) ^ (win_id >> 44) ^ (uint64_t) origin;
}

/* req begins to arrive. */
MPL_STATIC_INLINE_PREFIX void MPIDIG_begin_cmpl_order(MPIR_Request * req, int vci, uint64_t win_id,
                                                      int origin)
{
    MPIDIG_REQUEST(req, req->seq_no) = MPIDIG_cmpl_key(win_id, origin);
    MPIDIG_REQUEST(req, req->request) = NULL;
    DL_APPEND(MPIDI_global.per_vci[vci].cmpl_list, req->dev.ch4.am.req);
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_is_first_of_key(const MPIDIG_req_ext_t * req, int vci)
{
    const MPIDIG_req_ext_t *older = MPIDI_global.per_vci[vci].cmpl_list;

    while (older->seq_no != req->seq_no)
        older = older->next;
    return older == req;
}

/* The data of req is there. Returns 1: carry it out; 0: MPIDIG_progress_compl_list will. */
MPL_STATIC_INLINE_PREFIX int MPIDIG_check_cmpl_order(MPIR_Request * req, int vci)
{
    MPIDIG_req_ext_t *mine = MPIDIG_REQUEST(req, req);
    int is_first = MPIDIG_is_first_of_key(mine, vci);

    if (is_first)
        DL_DELETE(MPIDI_global.per_vci[vci].cmpl_list, mine);
    else
        mine->request = req;
    return is_first;
}

/* The oldest that is ready and whose turn it is, or NULL. */
MPL_STATIC_INLINE_PREFIX MPIDIG_req_ext_t *MPIDIG_next_in_turn(int vci)
{
    MPIDIG_req_ext_t *req = MPIDI_global.per_vci[vci].cmpl_list;

    while (req && !(req->request && MPIDIG_is_first_of_key(req, vci)))
        req = req->next;
    return req;
}

/* One has been carried out: carry out those whose turn it is. Each of them comes back here and leaves
 * the next to the first call, so that the stack does not grow with their number. */
MPL_STATIC_INLINE_PREFIX void MPIDIG_progress_compl_list(int vci)
{
    MPIDIG_req_ext_t *req;

    if (MPIDI_global.per_vci[vci].cmpl_running)
        return;
    MPIDI_global.per_vci[vci].cmpl_running = 1;
    while ((req = MPIDIG_next_in_turn(vci)) != NULL)
        req->target_cmpl_cb(req->request);
    MPIDI_global.per_vci[vci].cmpl_running = 0;
}

#endif /* AM_ORDER_H_INCLUDED */

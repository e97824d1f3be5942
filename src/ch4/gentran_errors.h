/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef GENTRAN_ERRORS_H_INCLUDED
#define GENTRAN_ERRORS_H_INCLUDED

/* For gentran_utils.c: a nonblocking collective fails if one of its messages does. Its schedule goes on
 * to the end, so that no other process waits for what it still has to send. A message that cannot be
 * started has a complete request instead of its own, which may be NULL or never complete.
 *
 * The macros stand for calls in many places there: each frees or starts a part of `sched`. */

static inline void gentran_note(MPIR_Request * coll, int err)
{
    if (unlikely(err) && coll->u.nbc.errflag == MPIR_ERR_NONE)
        coll->u.nbc.errflag = MPIR_ERR_GET_CLASS(err) == MPIX_ERR_PROC_FAILED ?
            MPIR_ERR_PROC_FAILED : MPIR_ERR_OTHER;
}

/* A message, or a schedule within this one, is complete. */
static inline void gentran_end(MPIR_Request * coll, MPIR_Request * part)
{
    gentran_note(coll, part->status.MPI_ERROR);
    if (part->kind == MPIR_REQUEST_KIND__RECV && !HANDLE_IS_BUILTIN(part->handle))
        MPIR_Process_status(&part->status, &coll->u.nbc.errflag);       /* the sender has failed */
    MPIR_Request_free(part);
}

static inline void gentran_started(MPIR_Request * coll, int err, MPIR_Request ** part)
{
    if (unlikely(err)) {
        gentran_note(coll, err);
        *part = MPIR_Request_create_complete(MPIR_REQUEST_KIND__SEND);
    }
}

#define MPIR_Request_free(part_) gentran_end(sched->req, part_)

#define MPIC_Irecv(buf_, count_, type_, source_, tag_, comm_, req_) \
    gentran_started(sched->req, MPIC_Irecv(buf_, count_, type_, source_, tag_, comm_, req_), req_)
#define MPIC_Isend(buf_, count_, type_, dest_, tag_, comm_, req_, flag_) \
    gentran_started(sched->req, MPIC_Isend(buf_, count_, type_, dest_, tag_, comm_, req_, flag_), req_)
#define MPIC_Issend(buf_, count_, type_, dest_, tag_, comm_, req_, flag_) \
    gentran_started(sched->req, MPIC_Issend(buf_, count_, type_, dest_, tag_, comm_, req_, flag_), req_)

#endif /* GENTRAN_ERRORS_H_INCLUDED */

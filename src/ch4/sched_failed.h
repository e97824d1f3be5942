/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef SCHED_FAILED_H_INCLUDED
#define SCHED_FAILED_H_INCLUDED

/* For mpidu_sched.c. A message that cannot be started is not looked at any more, so a schedule that
 * gives back what each message holds when it has completed does it here. All other schedules keep that
 * until they are freed. A request that the failed call has left does not complete. */
static inline void sched_failed(struct MPIDU_Sched *s, struct MPIDU_Sched_entry *e)
{
    const int is_send = e->type == MPIDU_SCHED_ENTRY_SEND || e->type == MPIDU_SCHED_ENTRY_PT2PT_SEND;
    const int is_recv = e->type == MPIDU_SCHED_ENTRY_RECV || e->type == MPIDU_SCHED_ENTRY_PT2PT_RECV;

    if (e->status != MPIDU_SCHED_ENTRY_STATUS_FAILED || !(is_send || is_recv))
        return;
    if (is_send)
        e->u.send.sreq = NULL;
    else
        e->u.recv.rreq = NULL;
    if (s->kind == MPIR_SCHED_KIND_GENERALIZED) {
        MPIR_Comm_release(is_send ? e->u.send.comm : e->u.recv.comm);
        MPIR_Datatype_release_if_not_builtin(is_send ? e->u.send.datatype : e->u.recv.datatype);
    }
}

#endif /* SCHED_FAILED_H_INCLUDED */

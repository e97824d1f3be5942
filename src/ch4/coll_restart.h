/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef COLL_RESTART_H_INCLUDED
#define COLL_RESTART_H_INCLUDED

/* For MPI_Allgather_init and MPI_Iallgather by recursive doubling, whose schedule may start again. The
 * file counts in callbacks what has arrived, from where the start before ended, and each start gives
 * back one reference to the datatype that these callbacks need. With 2^n processes, and it is used for
 * no others, a step sends what all steps before it have brought: the macros give it that number, and
 * there are no callbacks and no reference. */
#undef MPIR_Sched_send_defer
#define MPIR_Sched_send_defer(buf_, count_, datatype_, dest_, comm_, s_)                    \
    MPIR_Sched_send(buf_, ((void) (count_), mask * recvcount), datatype_, dest_, comm_, s_)

#undef MPIR_Sched_cb
#define MPIR_Sched_cb(callback_, state_, s_) ((void) (callback_), MPI_SUCCESS)

#undef MPIR_Datatype_ptr_add_ref
#define MPIR_Datatype_ptr_add_ref(datatype_) ((void) 0)

#endif /* COLL_RESTART_H_INCLUDED */

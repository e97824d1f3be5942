/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef COLL_RESTART_SCATTER_H_INCLUDED
#define COLL_RESTART_SCATTER_H_INCLUDED

/* For MPI_Scatter_init by a binomial tree. The root's callbacks count down what is left to send, and
 * the file sets their count when it makes the schedule; a persistent scatter needs it at each start.
 * Other processes take theirs from the message that they receive. */
static int coll_set_count(MPIR_Comm * comm ATTRIBUTE((unused)), int tag ATTRIBUTE((unused)),
                          void *state, void *count)
{
    ((struct shared_state *) state)->curr_count = (MPI_Aint) count;
    return MPI_SUCCESS;
}

static inline int coll_count_at_start(struct shared_state *state, MPIR_Sched_t s)
{
    int mpi_errno = MPIR_Sched_cb2(coll_set_count, state, (void *) state->curr_count, s);

    return mpi_errno ? mpi_errno : MPIR_Sched_barrier(s);
}

#endif /* COLL_RESTART_SCATTER_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_INNER_H_INCLUDED
#define CSP_INNER_H_INCLUDED

/* The inner window: a window of all processes, users and ghosts, without memory of its own (as of
 * MPI_Win_create_dynamic). A displacement in it is an address in the ghost. Users have it locked all
 * the time, so they can use it at any time. It is the only window in which ghosts take part, so ghosts
 * never wait for the creation of another one.
 *
 * All its operations are active messages: the ghost carries them out when it makes progress. It does so
 * under the mutex for accumulates of its node, as its users do with those that need no ghost. */

/* NULL without ghosts. Its ranks are the numbers of the processes. */
extern MPIR_Win *csp_inner;

/* Make it and free it; collective over all processes: in MPI_Init, while MPI_COMM_WORLD still holds
 * all, and in MPI_Finalize, when no other window is left. Each returns an MPI error code. */
int csp_inner_open(void);
int csp_inner_close(void);

#endif /* CSP_INNER_H_INCLUDED */

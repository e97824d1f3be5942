/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_AGREE_H_INCLUDED
#define CSP_AGREE_H_INCLUDED

/* Do all processes of a communicator have the same numbers? Collective; of an intercommunicator, over
 * both groups. Its messages are those of a collective operation, which needs no ghost. */

#define CSP_AGREE_MOST 2        /* numbers at a time; each at least -INT_MAX */

/* Each number becomes the least that a process has; is_same[i]: all had the same. Returns an MPI error
 * code. */
int csp_agree(MPIR_Comm * comm, int n, int *numbers, int *is_same);

#endif /* CSP_AGREE_H_INCLUDED */

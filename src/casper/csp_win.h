/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_WIN_H_INCLUDED
#define CSP_WIN_H_INCLUDED

/* What a user keeps of an offloaded window (doc/casper.md). The window itself is an ordinary one, with
 * its memory in shared memory that the ghosts of the node have mapped, too. Operations at a process of
 * the same node copy directly, as in any window of MPI_Win_allocate. Operations at another node, which
 * are "far", become operations of the inner window (csp_inner.h) at the ghost of their target. All
 * locks are the ghosts' (csp_grant.h). */

#include <stdint.h>
#include "tsm/tsm_atomic.h"

/* A process of the window. */
typedef struct csp_target {
    uint64_t base;              /* of its memory, in its ghost */
    int64_t size;
    uint64_t lock;              /* its ghost's name for its lock */
    int disp_unit;
    int ghost;                  /* rank of its ghost in the inner window */
    int is_far;
    int lock_type;              /* that we hold by its ghost; 0: none */
    TSM_ATOMIC(int) is_answered;        /* what we have asked the ghost for with the lock */
} csp_target_t;

typedef struct csp_win {
    csp_target_t *target;       /* by rank */
    struct csp_share *share;    /* memory of the node */
} csp_win_t;

#endif /* CSP_WIN_H_INCLUDED */

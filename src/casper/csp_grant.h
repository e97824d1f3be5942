/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_GRANT_H_INCLUDED
#define CSP_GRANT_H_INCLUDED

/* The locks of offloaded windows. The ghost of a user keeps the user's lock, grants it in the order in
 * which it is asked for, and so needs nothing from the user. Asking, granting and releasing are active
 * messages of their own. A release has an answer, too: without one it might stay in the process that
 * releases, where a network has no room for it, while that computes.
 *
 * csp_target_t.is_answered: the thread that asks clears it and then sends; the handler of the answer,
 * in whichever thread makes progress, sets it (release); the thread that waits reads it (acquire). So
 * it sees what the ghost did before the answer. lock_type belongs to the thread in the epoch.
 *
 * A lock that its window has given up lives until the last release has arrived. */

#include "csp_win.h"

typedef struct csp_lock csp_lock_t;

/* Make the messages known; by all processes, in the same order. Returns an MPI error code. */
int csp_grant_open(void);

/* By a user, without a VCI held. Ask for the lock of *target, of type MPI_LOCK_SHARED or
 * MPI_LOCK_EXCLUSIVE, or release it, and then wait until it is granted, or released. Nothing of the
 * caller may be under way at the target when it releases the lock. Each returns an MPI error code. */
int csp_grant_ask(csp_target_t * target, int type);
int csp_grant_await(csp_target_t * target);
int csp_grant_release(csp_target_t * target);

/* By a ghost. Returns a new lock, which nobody holds. csp_grant_drop: nobody asks for it any more.
 * csp_grant_any: 1 if there is a lock. */
csp_lock_t *csp_grant_new(void);
void csp_grant_drop(csp_lock_t * lock);
int csp_grant_any(void);

#endif /* CSP_GRANT_H_INCLUDED */

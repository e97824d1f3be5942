/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_RING_H_INCLUDED
#define CSP_RING_H_INCLUDED

/* When a user wakes its ghost. To wake a process costs as much as to move some kilobytes, and is of
 * no use if the user waits at once, because it then helps itself (csp_help.h), or if no processor is
 * free for the ghost. So a user wakes it only while that pays: while the first answers after a post
 * come from the ghost. Now and then it tries again. A ghost that is awake costs nothing to call. */

#include "csp_entry.h"

/* Wake the ghost if it sleeps. Any thread. */
void csp_ring(void);

/* A post was published. must: the ghost is behind. Any thread. */
void csp_ring_for(const csp_post_t * post, int must);

/* There are answers: are some from the ghost? Any thread. */
void csp_ring_judge(int was_there);

#endif /* CSP_RING_H_INCLUDED */

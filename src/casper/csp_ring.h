/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_RING_H_INCLUDED
#define CSP_RING_H_INCLUDED

/* When a user wakes its ghost. To wake a process costs as much as to move some kilobytes, and is of
 * no use if the user waits at once, because it then helps itself (csp_help.h), or if no processor is
 * free for the ghost. So a user wakes it only while that pays: while the first answers after a post
 * come from the ghost. Now and then it tries again. A ghost that is awake costs nothing to call. Small
 * and large messages have a count each. */

#include "csp_entry.h"

/* Wake the ghost if it sleeps. Any thread. */
void csp_ring(void);

/* A post was published. must: the ghost is behind. Any thread. */
void csp_ring_for(const csp_post_t * post, int must);

/* The class of a message or a room of so many bytes: 0 or 1. */
int csp_ring_class(uint64_t bytes);

/* A look has found answers: for which classes, and for which there are some from the ghost; a bit for
 * each class. Any thread. */
void csp_ring_judge(unsigned answered, unsigned by_ghost);

#endif /* CSP_RING_H_INCLUDED */

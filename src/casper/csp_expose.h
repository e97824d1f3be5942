/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_EXPOSE_H_INCLUDED
#define CSP_EXPOSE_H_INCLUDED

/* The memory of users that a ghost maps: segments of windows, whose locks it keeps (csp_grant.h), and
 * direct memory (csp_direct.h). A segment stays mapped until its users have given it up and no
 * operation has data in it, so a user that frees memory too early harms only itself. By ghosts. */

#include "csp_copy.h"
#include "csp_ghost.h"

/* Map the segment of a post, if it is not mapped yet, and make a lock for the user if it wants one; the
 * answer tells the address of the segment in this ghost (object), the segment's name for posts, and the
 * lock (bytes), or an error. */
void csp_expose_map(csp_client_t * client, const csp_post_t * post);

/* A user no longer needs a segment and its lock. */
void csp_expose_unmap(const csp_post_t * post);

/* The data of a direct post: fill in where it is in this process, and hold its segment until
 * csp_expose_release (NULL: nothing). Leaves the spot as it is if there is no such segment. */
void csp_expose_hold(csp_spot_t * spot, const csp_post_t * post);
void csp_expose_release(struct csp_segment *segment);

/* Carry out what has arrived for windows. Returns 0 if it was nothing. */
int csp_expose_progress(void);

#endif /* CSP_EXPOSE_H_INCLUDED */

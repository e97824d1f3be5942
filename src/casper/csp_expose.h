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
#include "csp_node.h"

/* Map the segment of a post, if it is not mapped yet, and make a lock for the user if it wants one; the
 * answer has the address of the segment in this ghost (object), the segment's name for posts, and the
 * lock (bytes), or an error. */
void csp_expose_map(int user, const csp_post_t * post);

/* A user no longer needs a segment and its lock. */
void csp_expose_unmap(const csp_post_t * post);

/* Where direct data is in this process; NULL if its segment is not mapped. */
char *csp_expose_find(const csp_spot_t * spot);

/* Items at the desk hold the segments of their data. For data of which there is no item: hold the
 * segment (0: nothing), and let it go. */
void csp_expose_hold(uint64_t segment);
void csp_expose_release(uint64_t segment);

/* Unmap what nothing holds any more. */
void csp_expose_clean(void);

/* Carry out what has arrived for windows. Returns 0 if it was nothing. */
int csp_expose_progress(void);

#endif /* CSP_EXPOSE_H_INCLUDED */

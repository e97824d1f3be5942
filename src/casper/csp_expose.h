/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_EXPOSE_H_INCLUDED
#define CSP_EXPOSE_H_INCLUDED

/* The ghost's side of windows: it maps the memory of its users and keeps their locks (csp_grant.h).
 * What is done to the memory comes through the inner window. By ghosts. */

#include "csp_ghost.h"

/* Map the segment of a post, if it is not mapped yet, and make a lock for the user; the answer tells
 * the address of the user's part in this ghost (object) and the lock (bytes), or an error. */
void csp_expose_map(csp_client_t * client, const csp_post_t * post);

/* A user no longer needs a segment and its lock. The last one unmaps it. */
void csp_expose_unmap(const csp_post_t * post);

/* Carry out what has arrived for windows. Returns 0 if it was nothing. */
int csp_expose_progress(void);

#endif /* CSP_EXPOSE_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_HELP_H_INCLUDED
#define CSP_HELP_H_INCLUDED

/* A user that waits does what its ghost would do, if nobody is at the desk: it takes the posts,
 * matches, and copies what goes to it or comes from it. So a message between two users that wait
 * needs no ghost, and one to or from a user that waits needs none, either. */

/* Returns 1 if it has done something, 0 if there was nothing to do or it is not for us. Any thread,
 * with no VCI held or with one held. */
int csp_help(void);

#endif /* CSP_HELP_H_INCLUDED */

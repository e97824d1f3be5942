/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_GHOST_H_INCLUDED
#define CSP_GHOST_H_INCLUDED

/* The ghost's side. A ghost has one thread. It sits down at its desk (csp_desk.h), where it takes the
 * posts of its users and matches, copies what is matched, and exchanges messages with other ghosts
 * (csp_wire.h). */

#include "csp_node.h"

/* Now and then, and so also in a wait: do our users live? Ends the job if not. csp_ghost_watch: as a
 * progress hook; until csp_leave ends. */
void csp_ghost_check_users(void);
int csp_ghost_watch(int *made_progress);

/* Signals that may be sent to all processes of a program, or come from a timer that it has set before
 * MPI_Init, are for users, which may handle them; they would end the ghost, and so the job. A user that
 * ends by one is missed. Before any user returns from MPI_Init. */
void csp_ghost_ignore_signals(void);

/* Serve until all users have left, then leave MPI and exit. Does not return. */
void csp_ghost_run(void) ATTRIBUTE((noreturn));

#endif /* CSP_GHOST_H_INCLUDED */

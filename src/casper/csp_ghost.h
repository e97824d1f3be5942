/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_GHOST_H_INCLUDED
#define CSP_GHOST_H_INCLUDED

/* The ghost's side. A ghost has one thread. It takes the posts of its users, matches (csp_match.h),
 * exchanges messages with other ghosts (csp_wire.h) and answers. */

#include "csp_node.h"

/* An answer that waits for room in the ring. */
typedef struct csp_late {
    csp_answer_t answer;
    struct csp_late *next;
} csp_late_t;

/* What a ghost keeps for one of its users. */
typedef struct csp_client {
    csp_user_t *user;           /* in shared memory */
    int is_gone;
    csp_late_t *first_late, **last_late;
    struct csp_recv *first_recv, **last_recv;   /* receives without a message, oldest first */
    struct csp_msg *first_msg, **last_msg;      /* messages without a receive, oldest first */
} csp_client_t;

/* Answer, now or as soon as there is room; nothing if answer->op is 0. */
void csp_answer(csp_client_t * client, const csp_answer_t * answer);

/* The client with this number; it is one of ours. */
csp_client_t *csp_client_of(int number);

/* Serve until all users have left, then leave MPI and exit. Does not return. */
void csp_ghost_run(void) ATTRIBUTE((noreturn));

/* Abort unless mpi_errno is MPI_SUCCESS; what: what this ghost was to do. */
void csp_must(int mpi_errno, const char *what);

/* Memory that a ghost cannot do without; aborts if there is none. */
void *csp_must_malloc(size_t bytes);

#endif /* CSP_GHOST_H_INCLUDED */

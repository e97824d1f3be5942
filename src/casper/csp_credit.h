/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_CREDIT_H_INCLUDED
#define CSP_CREDIT_H_INCLUDED

/* How much data a ghost may send to another one before there is a receive for it. Each has credit with
 * each other: a message that takes its data along costs some, and the receiving ghost gives that back,
 * many messages at a time, when they have left its memory. So what it keeps for others is limited, and
 * nobody is ever told to stop: without credit, data stays where it is until it is asked for. (How many
 * messages are under way at a time is another limit, in csp_outbox.c.) Knows nothing of MPI. By one
 * thread. */

#include <stdint.h>

typedef struct csp_credit {
    uint64_t most;              /* that one ghost may owe another one */
    struct csp_credit_peer *peer;       /* [ghosts] */
    int *due, n_due;            /* peers to whom much is to be given back */
} csp_credit_t;

/* For so many ghosts. Returns 0 without memory. */
int csp_credit_open(csp_credit_t * credit, int ghosts);
void csp_credit_close(csp_credit_t * credit);

/* ---- the ghost that sends ---- */

/* May a message with so much data take it along to the ghost `to`? If it may, or must, pays for it. */
int csp_credit_take(csp_credit_t * credit, int to, uint64_t bytes, int must);

/* Is the credit all used up? */
int csp_credit_is_spent(const csp_credit_t * credit, int to);

/* So much data was paid for that did not go along. */
void csp_credit_undo(csp_credit_t * credit, int to, uint64_t bytes);

/* That ghost has given back so much. */
void csp_credit_refill(csp_credit_t * credit, int to, uint64_t amount);

/* ---- the ghost that receives ---- */

/* Such a message from the ghost `from` has left our memory. */
void csp_credit_free(csp_credit_t * credit, int from, uint64_t bytes);

/* A ghost to give back to, and how much; -1: there is none. */
int csp_credit_next(csp_credit_t * credit, uint64_t * amount);

#endif /* CSP_CREDIT_H_INCLUDED */

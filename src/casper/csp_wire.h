/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_WIRE_H_INCLUDED
#define CSP_WIRE_H_INCLUDED

/* Messages between ghosts, over MPI's own point-to-point calls (csp_link.h). The sender's ghost
 * sends an envelope to the receiver's ghost (csp_outbox.h), with the data if that is small and there
 * is credit (csp_account.h). Else it only offers the data (csp_offer.h): the receiver's ghost asks
 * for as much as the receive has room for, once it is matched, and the data follows in pieces
 * (csp_stream.h). Envelopes between two ghosts arrive in the order in which they were sent, so
 * messages are matched in that order; if many have not arrived yet, further ones wait in the
 * sender's ghost. By ghosts, which do not hold the desk. */

#include "csp_node.h"

/* Prepare to receive from other ghosts; nothing if there is no other. */
void csp_wire_open(void);

/* Send on the post of csp_node.user[user], whose receiver is another ghost's. */
void csp_wire_send(int user, const csp_post_t * post);

/* Make progress. Returns the number of events. */
int csp_wire_progress(void);

/* 1 if nothing is being sent or received but what other ghosts may still begin. */
int csp_wire_is_idle(void);

/* 1 when no ghost sends any more. From the first call on, this one does not: it must be idle then, and
 * still makes progress. csp_wire_close stops receiving, after that. */
int csp_wire_has_ended(void);
void csp_wire_close(void);

#endif /* CSP_WIRE_H_INCLUDED */

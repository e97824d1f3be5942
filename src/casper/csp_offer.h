/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_OFFER_H_INCLUDED
#define CSP_OFFER_H_INCLUDED

/* Sends to users of other ghosts whose envelope goes first: the receiver's ghost fetches the data once
 * it is matched. By ghosts, which do not hold the desk. */

#include "csp_outbox.h"

/* Send on the post of csp_node.user[user]. csp_offer_paid: the data was to go along, and is paid for
 * (csp_account.h), but only the user can copy it (csp_stage.h); so it comes to this ghost meanwhile. */
void csp_offer(int user, const csp_post_t * post, int ghost);
void csp_offer_paid(int user, const csp_post_t * post, int ghost);

/* FETCH has come. */
void csp_offer_fetched(const csp_envelope_t * fetch);

/* Are there any for which it has not, and whose sends are not complete? */
int csp_offer_is_pending(void);

#endif /* CSP_OFFER_H_INCLUDED */

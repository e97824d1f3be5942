/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_ACCOUNT_H_INCLUDED
#define CSP_ACCOUNT_H_INCLUDED

/* The credit that this ghost has with others, and they with it (csp_credit.h). Its users see where none
 * is left (csp_node_is_full); envelopes give it back. By ghosts. */

#include "csp_node.h"

void csp_account_open(void);
void csp_account_close(void);

/* May a message with so much data take it along to that ghost? If it may, or must, pays for it.
 * csp_account_undo: it was paid for, and is not on its way there. */
int csp_account_pay(int ghost, uint64_t bytes, int must);
void csp_account_undo(int ghost, uint64_t bytes);

/* That ghost has given back so much. */
void csp_account_refill(int ghost, uint64_t amount);

/* A message that costs credit has left our memory; *msg stays the caller's. This also at the desk. */
void csp_account_freed(const csp_item_t * msg);

/* Give back what is due. Returns to how many ghosts. */
int csp_account_give_back(void);

#endif /* CSP_ACCOUNT_H_INCLUDED */

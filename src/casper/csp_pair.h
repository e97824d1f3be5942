/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_PAIR_H_INCLUDED
#define CSP_PAIR_H_INCLUDED

/* What becomes of a message and a receive that belong together. Small data goes to the receiver with
 * the answer. Larger data is copied with the desk free: by the ghost, or by the sender or the
 * receiver, who takes the pair from a list and comes back to answer. Whoever copies holds up nobody
 * else. A user that finds the desk taken when it comes back puts the pair aside, and the next one at
 * the desk answers. */

#include "csp_desk.h"

/* ---- by who holds the desk ---- */

/* They are to be copied, once the data is there. Takes over both. */
void csp_pair_make(csp_ref_t msg, csp_ref_t recv);

/* A pair for this process to copy, for which may() is true; 0: there is none. csp_pair_end: if all of
 * it is copied, answer, and free it; else put it back, and somebody goes on with it.
 * csp_pair_end_aside: the same for all that were put aside; returns how many. */
csp_ref_t csp_pair_take(int (*may) (const csp_item_t * msg, const csp_item_t * recv));
void csp_pair_end(csp_ref_t pair);
int csp_pair_end_aside(void);

/* Has the last vain csp_pair_take left pairs for which may() was false? */
int csp_pair_remains(void);

/* The bytes that are still to be copied. */
uint64_t csp_pair_rest(csp_ref_t pair);

/* Free a message, with what it has in the memory of the ghost. */
void csp_pair_free_msg(csp_ref_t msg);

/* ---- with the desk free ---- */

/* May there be a pair to take? A hint. */
int csp_pair_is_there(void);

/* Copy `most` bytes more. What a user cannot copy it leaves to the ghost. Returns 1, and the caller
 * ends it, or 0 in the ghost if that cannot copy either: then users are asked to (csp_stage.h), and
 * the pair ends after that. */
int csp_pair_copy(csp_ref_t pair, uint64_t most);

/* Leave csp_pair_end to the next one at the desk, and let the ghost see to it. Lock-free. Has one been
 * left? A hint. */
void csp_pair_put_aside(csp_ref_t pair);
int csp_pair_is_aside(void);

/* ---- by the ghost ---- */

/* The data of the message is now here, or comes here, in memory that it owns. */
void csp_pair_put_in_ghost(csp_item_t * msg, void *memory);

/* Bytes of sends of its own users in memory of this ghost, with what each takes beside its data. What
 * comes from other ghosts has a limit of its own (csp_credit.h). */
uint64_t csp_pair_bytes_of_users(void);

/* Do what users have left to the ghost. Returns how much. With the desk free. */
int csp_pair_left(void);

#endif /* CSP_PAIR_H_INCLUDED */

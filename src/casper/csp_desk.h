/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_DESK_H_INCLUDED
#define CSP_DESK_H_INCLUDED

/* The desk of a ghost: where posts are matched. It is in the memory of the node, so a user that waits
 * in MPI can sit down at it, when nobody else does, and match in place of a ghost that sleeps or has no
 * processor. The holder of the desk takes the posts of all users of the ghost and writes their answers.
 *
 * Data is copied with the desk free. Whoever matches a message and a receive leaves them as a pair; the
 * ghost, or one of the two users, takes the pair and later comes back to answer.
 *
 * Only the ghost can do some things (csp_left_t); a user leaves these to it. If items run short, the
 * ghost adds some, in a file that users map when they next sit down. If there is no shared memory for
 * that, it uses items of its own memory; until they are gone it sits there alone.
 *
 *   csp_desk_unlock -> csp_desk_try, csp_desk_lock     release, acquire: all that belongs to the desk
 *   aside: release when a pair is put there, acquire by its next holder, which takes all of them
 *   made: a hint whether it is worth while to look for pairs
 *   owed: seq_cst, as the publication of work for the bell (tsm_bell.h): a user adds to it and then
 *   looks at the bell, the ghost arms the bell and then looks at it */

#include "csp_node.h"

/* What a user leaves to the ghost. */
typedef enum csp_left {
    CSP_LEFT_FETCH = 1,         /* a pair whose data is with another ghost */
    CSP_LEFT_ANSWER,            /* an answer that finds no room */
    CSP_LEFT_MEMORY             /* a message that is no longer needed: it has memory of the ghost, or
                                 * credit of another one */
} csp_left_t;

/* With fewer free items than this, users leave the posts to the ghost: a post takes one, and what comes
 * of it at most two more, for answers. */
#define CSP_DESK_RESERVE 8

/* Sit down at our ghost's desk if nobody else does: returns 1 then. csp_desk_lock waits; the holder
 * copies nothing large meanwhile, so it is not long unless that process is stopped. So it is for the
 * ghost, and for users at the start; what a user does later has to be done by nonblocking calls too. */
int csp_desk_try(void);
void csp_desk_lock(void);
void csp_desk_unlock(void);

/* In the ghost, at the desk: add items if few are free. In a user, at the desk: 1 if it can look at all
 * items of the node; else it never will, and has to leave the desk to others. */
void csp_desk_add_items(void);
int csp_desk_sees_items(void);

/* Give the items of this user to its desk. Without contention: before any use. */
void csp_desk_give_items(void);

/* All that follows: by the holder of the desk. */

/* A new item, of zeros; NULL if there is none left, never in the ghost. csp_item_free gives it back. */
csp_item_t *csp_item_new(csp_ref_t * ref);
void csp_item_free(csp_ref_t ref);
csp_item_t *csp_item_of(csp_ref_t ref);

/* Lists. csp_list_push: the item becomes the first; of a list without fresh ones. csp_list_cut: take
 * out the item ref, which comes after `before` (0: it is the first). csp_list_see: the first fresh one,
 * which is fresh no longer; 0: there is none. */
void csp_list_add(csp_list_t * list, csp_ref_t ref);
void csp_list_push(csp_list_t * list, csp_ref_t ref);
void csp_list_cut(csp_list_t * list, csp_ref_t before, csp_ref_t ref);
csp_ref_t csp_list_see(csp_list_t * list);

/* Leave an item to the ghost; csp_desk_take_left: the ghost takes one, 0 if there is none.
 * csp_desk_owe: the ghost is to wake, for this (is_urgent) or for something else, when the bell
 * rings. */
void csp_desk_leave(csp_ref_t ref, csp_left_t what, int is_urgent);
csp_ref_t csp_desk_take_left(void);
void csp_desk_owe(void);

/* How often that was; seq_cst, for the bell. Anyone. */
uint32_t csp_desk_owed(void);

#endif /* CSP_DESK_H_INCLUDED */

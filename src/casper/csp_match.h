/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_MATCH_H_INCLUDED
#define CSP_MATCH_H_INCLUDED

/* Matching, at the desk of the receiver's ghost. For each user there is a list of receives without a
 * message and one of messages without a receive. A message goes to the oldest receive that accepts it,
 * and a receive takes the oldest message: context, rank of the sender in the communicator, and tag
 * decide, with wildcards as MPI says. The posts of a user are taken in order, whoever takes them, so no
 * message overtakes another. */

#include "csp_desk.h"

/* 1 if the post is matched at our desk, and anybody there can do that; 0: only the ghost handles it. */
int csp_match_is_local(const csp_post_t * post);

/* Where the buffer of a post is. */
csp_spot_t csp_match_spot(int user, const csp_post_t * post);

/* Take posts of csp_node.user[user], up to `most`; in a user, up to one that it has to leave to the
 * ghost. In the ghost, up to one that is not for the desk: *other is a copy of it, and the desk is free
 * then; else other->kind is 0. Returns how many were taken. A probe among them that finds nothing first
 * takes what other users of our ghost have posted. By who holds the desk. */
int csp_match_posts(int user, int most, csp_post_t * other);

/* A message from another ghost to the user with number `dest`, with *data if place is IN_POST, of any
 * size. *msg is copied. By the ghost, which does not hold the desk. */
void csp_match_arrived(csp_item_t * msg, int dest, const void *data);

#endif /* CSP_MATCH_H_INCLUDED */

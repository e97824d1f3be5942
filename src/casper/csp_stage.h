/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_STAGE_H_INCLUDED
#define CSP_STAGE_H_INCLUDED

/* The way for data that csp_copy.c cannot copy: the system hides some memory from other processes, as
 * that of a process that has given up privileges, or of memfd_secret. The owner copies it itself. Its
 * ghost asks it, by an answer to the operation, to put a piece into its stage, in the memory of the
 * node, or to take one out of it; the user does so when it next looks for answers, and says so by a
 * post. What the owner cannot read or write either is an error.
 *
 * There is one stage for each user, and its ghost uses it for one piece at a time, in the order of the
 * calls: only the user itself can hold that up. The ring of answers hands the stage to the user, the
 * ring of posts hands it back. */

#include "csp_post.h"

/* ---- the ghost ---- */

/* Bytes from `offset` on of the data of an operation of csp_node.user[user] that is not complete: copy
 * them to `here`, or from there. Then call then(arg, error), with the desk free; error: 0 or an error
 * number. Until then `here` stays. With or without the desk. */
typedef void (*csp_stage_then_t) (void *arg, int error);
void csp_stage_fetch(int user, uint64_t op, uint64_t offset, void *here, size_t bytes,
                     csp_stage_then_t then, void *arg);
void csp_stage_deliver(int user, uint64_t op, uint64_t offset, void *here, size_t bytes,
                       csp_stage_then_t then, void *arg);

/* Ask for the next pieces, and end what users that have left would have to do, as an error. Returns how
 * much there was. csp_stage_took: the user has done its part; the post says how it went.
 * csp_stage_left: the user has left, and posts nothing more. Without the desk. */
int csp_stage_progress(void);
void csp_stage_took(int user, const csp_post_t * post);
void csp_stage_left(int user);

/* ---- the user ---- */

/* Do what the answer asks for. Any thread. */
void csp_stage_copy(const csp_op_t * op, const csp_answer_t * answer);

#endif /* CSP_STAGE_H_INCLUDED */

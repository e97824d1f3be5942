/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_ANSWER_H_INCLUDED
#define CSP_ANSWER_H_INCLUDED

/* Answers to users. What finds no room in the ring of a user waits in the ghost. */

#include <errno.h>

#include "csp_desk.h"

/* The error number where only another ghost knows why data could not be read. */
#define CSP_UNREAD EFAULT

/* The error class of an error number. */
int csp_answer_class(int error);

/* The answers at the end of a receive and of a send. error: 0 or an error number of the system. */
csp_answer_t csp_answer_of_recv(const csp_item_t * recv, int rank, int tag, uint64_t bytes, int error);
csp_answer_t csp_answer_of_send(const csp_item_t * msg, int error);

/* ---- by who holds the desk ---- */

/* Answer a user, now or as soon as there is room; nothing if answer->op is 0.
 * csp_answer_put_and_free: at the end of a pair the item is no longer needed. */
void csp_answer_put(int user, const csp_answer_t * answer);
void csp_answer_put_and_free(csp_ref_t ref, int user, const csp_answer_t * answer);

/* Answer both ends, after the data was copied, or with it. */
void csp_answer_both(const csp_item_t * msg, const csp_item_t * recv, int error);

/* In the ghost: those that wait, as far as there is room now. Returns how many. */
int csp_answer_late(int user);

/* ---- by the ghost, with the desk free ---- */

/* Do any wait? */
int csp_answer_owes(void);

/* The end of a receive, and of a send, with another ghost. csp_answer_reply: any answer. */
void csp_answer_received(const csp_item_t * recv, int rank, int tag, uint64_t bytes, int error);
void csp_answer_sent(int user, uint64_t op, int error);
void csp_answer_reply(int user, const csp_answer_t * answer);

#endif /* CSP_ANSWER_H_INCLUDED */

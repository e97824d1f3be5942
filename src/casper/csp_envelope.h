/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_ENVELOPE_H_INCLUDED
#define CSP_ENVELOPE_H_INCLUDED

/* What a post names a message by, so that the desk (csp_match.h) only compares context, rank and tag.
 * CSP_MATCHING chooses:
 *
 *            context                          rank              tag
 *   masked   of the communicator              of the sender     of the message
 *   dup      of the communicator, and place   of the sender     of the message
 *            of the receiver at its ghost
 *   tag      of the communicator              of the sender's   of the message, and places of
 *                                             ghost             sender and receiver at their ghosts
 *
 * dup and tag are those of CasperII, but name both ends. The place of a user is its number among the
 * users of its ghost. */

#include "csp_post.h"

/* By a user, once the ghosts are known: with tag, MPI_TAG_UB becomes what the places leave. If that is
 * too little, the job ends. */
void csp_envelope_start(void);
void csp_envelope_end(void);

/* 1 if receives with such wildcards (CSP_HINT_ANY_...) can be named. */
int csp_envelope_permits(int wildcards);

/* "masked", "tag" or "dup". */
const char *csp_envelope_mode(void);

/* Name the message that is sent to rank of comm, the receive or probe from rank. The second one
 * returns an MPI error code if the program breaks its promise to use no wildcards. Any thread. */
void csp_envelope_send(MPIR_Comm * comm, int rank, int tag, csp_post_t * post);
int csp_envelope_recv(MPIR_Comm * comm, int rank, int tag, csp_post_t * post);

/* Make source and tag of the answer to a receive or probe from rank those of the program. */
void csp_envelope_read(int rank, csp_answer_t * answer);

#endif /* CSP_ENVELOPE_H_INCLUDED */

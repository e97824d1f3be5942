/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_MATCH_H_INCLUDED
#define CSP_MATCH_H_INCLUDED

/* Matching, in the ghost of the receiver. For each user there is a list of receives without a message
 * and one of messages without a receive. A message goes to the oldest receive that accepts it, and a
 * receive takes the oldest message: context, rank of the sender in the communicator, and tag decide,
 * with wildcards as MPI says. All messages of one user come through one ghost and in order, so none
 * overtakes another.
 *
 * A message is data in the memory of a user of this ghost, data in the ghost, or an announcement by
 * another ghost. */

#include <errno.h>

#include "csp_copy.h"
#include "csp_ghost.h"

/* Data of up to so many bytes is kept in the ghost, so that its send completes before it is matched. */
#define CSP_EAGER 65536

typedef struct csp_recv {
    uint32_t context;
    int32_t rank, tag;
    uint64_t op, serial, bytes;
    csp_spot_t spot;
    csp_client_t *client;
    struct csp_recv *next;
} csp_recv_t;

/* The error number where only another ghost knows why data could not be read. */
#define CSP_UNREAD EFAULT

typedef enum csp_place {
    CSP_IN_USER,                /* of this ghost */
    CSP_IN_GHOST,
    CSP_ELSEWHERE               /* with another ghost */
} csp_place_t;

typedef struct csp_msg {
    uint32_t context;
    int32_t rank, tag;
    uint64_t bytes;
    csp_place_t place;
    csp_client_t *sender;       /* IN_USER: its user; IN_GHOST: NULL, or whom to answer when matched */
    csp_spot_t spot;            /* IN_USER: the data */
    uint64_t op;                /* in the sender */
    int is_synchronous;
    const void *data;           /* IN_GHOST; owned, if it is not inside the post */
    int error;                  /* IN_GHOST: an error number if the data could not be read */
    void *owned;                /* to free */
    int ghost;                  /* ELSEWHERE: rank of the ghost */
    uint64_t name;              /* ELSEWHERE: its name for the send */
    csp_client_t *client;       /* the receiver */
    struct csp_msg *next;
} csp_msg_t;

/* Handle a receive, or a message. Both are copied; what msg owns, and the memory that each holds, pass
 * to the callee. */
void csp_match_recv(const csp_recv_t * recv);
void csp_match_msg(const csp_msg_t * msg);

/* Receive the message with this name, from a matched probe. */
void csp_match_mrecv(const csp_recv_t * recv, uint64_t name);

/* Look for a message; answers at once. is_matched: take it out of the list and give it a name. */
void csp_match_probe(const csp_recv_t * recv, int is_matched);

/* Cancel a receive of the client, unless it is matched. */
void csp_match_cancel(csp_client_t * client, uint64_t op, uint64_t serial);

/* The end of a receive: `error` is 0 or an error number of the system, met when copying. Lets go of the
 * memory that recv holds. */
void csp_match_received(const csp_recv_t * recv, int rank, int tag, uint64_t bytes, int error);

/* The end of a send, with its data at spot, whose memory is let go. */
void csp_match_sent(csp_client_t * client, uint64_t op, const csp_spot_t * spot, int error);

#endif /* CSP_MATCH_H_INCLUDED */

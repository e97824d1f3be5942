/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_OUTBOX_H_INCLUDED
#define CSP_OUTBOX_H_INCLUDED

/* Envelopes to other ghosts, some with data. Those to one ghost arrive in the order in which they are
 * sent. By ghosts. */

#include "csp_entry.h"

typedef enum csp_envelope_kind {
    CSP_ENVELOPE_EAGER,         /* a message, with its data */
    CSP_ENVELOPE_ASK,           /* a message whose data may be fetched */
    CSP_ENVELOPE_FETCH,
    CSP_ENVELOPE_DONE,          /* the receiver has the answer */
    CSP_ENVELOPE_CREDIT
} csp_envelope_kind_t;

typedef struct csp_envelope {
    uint32_t kind;
    uint32_t context;
    int32_t rank, tag;
    int32_t dest;               /* number of the receiver */
    union {
        int32_t data_tag;       /* FETCH, DONE: tag of the data */
        int32_t is_sync;        /* ASK: the sender's ghost waits for DONE */
    };
    uint64_t bytes;             /* FETCH: how many to send; CREDIT: how much */
    uint64_t name;              /* of the send, in its ghost */
} csp_envelope_t;

/* The most bytes of an envelope with its data. */
#define CSP_ENVELOPE_MOST (sizeof(csp_envelope_t) + CSP_EAGER)

/* That of the message of a post. */
csp_envelope_t csp_envelope_of(const csp_post_t * post, csp_envelope_kind_t kind);

void csp_outbox_open(void);
void csp_outbox_close(void);

/* Send an envelope without data. is_sync: this ghost is not idle before the other one has it. */
void csp_outbox_send(const csp_envelope_t * e, int ghost, int is_sync);

/* With data: new, then the data goes to csp_outbox_data, then post or drop. */
typedef struct csp_sending csp_sending_t;
csp_sending_t *csp_outbox_new(size_t bytes);
char *csp_outbox_data(csp_sending_t * s);
void csp_outbox_post(csp_sending_t * s, const csp_envelope_t * e, int ghost);
void csp_outbox_drop(csp_sending_t * s);

/* Returns how many have left. csp_outbox_is_empty: all have. */
int csp_outbox_progress(void);
int csp_outbox_is_empty(void);

#endif /* CSP_OUTBOX_H_INCLUDED */

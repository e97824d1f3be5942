/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_STREAM_H_INCLUDED
#define CSP_STREAM_H_INCLUDED

/* The data of messages that does not go along with the envelope, from ghost to ghost in pieces. The
 * receiver's ghost asks for it. By ghosts, which do not hold the desk. */

#include "csp_item.h"
#include "csp_outbox.h"

/* Data that the ghost of a receiver may ask for. */
typedef struct csp_source {
    int ghost;                  /* that one */
    int user;                   /* who sends: csp_node.user[] */
    uint64_t op;                /* 0: complete, with `error` */
    int error, is_sync;
    csp_spot_t spot;
    char *memory;               /* of this ghost, with the data; NULL: it stays with the user */
    uint64_t paid;              /* bytes, with `memory` (csp_account.h) */
} csp_source_t;

void csp_stream_open(void);
void csp_stream_close(void);

/* Ask for the data of a message elsewhere, for a receive. Both are copied. */
void csp_stream_fetch(const csp_item_t * msg, const csp_item_t * recv);

/* Send what FETCH asks for, and then answer the sender. *from is copied, and gives up its memory. */
void csp_stream_send(const csp_source_t * from, const csp_envelope_t * fetch);

/* DONE has come from that ghost. */
void csp_stream_done(const csp_envelope_t * done, int ghost);

/* Returns the number of events. csp_stream_is_idle: there are no streams. */
int csp_stream_progress(void);
int csp_stream_is_idle(void);

#endif /* CSP_STREAM_H_INCLUDED */

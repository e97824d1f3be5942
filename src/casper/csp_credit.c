/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include <stdlib.h>
#include "csp_credit.h"

/* What a ghost keeps for all others together, but at least that much for each of them. */
#define ALL_OTHERS 268435456
#define LEAST      1048576

/* What a message costs beside its data: the item at the desk, and what malloc adds. */
#define FIXED 320

/* It is given back in so many parts. */
#define PARTS 4

struct csp_credit_peer {
    uint64_t owed;              /* to it: it has not given this back */
    uint64_t freed;             /* by us, and not given back yet */
    int is_due;
};

int csp_credit_open(csp_credit_t * credit, int ghosts)
{
    uint64_t others = ghosts > 1 ? (uint64_t) ghosts - 1 : 1;

    credit->most = ALL_OTHERS / others > LEAST ? ALL_OTHERS / others : LEAST;
    credit->n_due = 0;
    credit->peer = calloc((size_t) ghosts, sizeof(*credit->peer));
    credit->due = calloc((size_t) ghosts, sizeof(*credit->due));
    if (credit->peer && credit->due)
        return 1;
    csp_credit_close(credit);
    return 0;
}

void csp_credit_close(csp_credit_t * credit)
{
    free(credit->peer);
    free(credit->due);
    credit->peer = NULL;
    credit->due = NULL;
}

int csp_credit_take(csp_credit_t * credit, int to, uint64_t bytes, int must)
{
    uint64_t owed = credit->peer[to].owed + bytes + FIXED;

    if (owed > credit->most && !must)
        return 0;
    credit->peer[to].owed = owed;
    return 1;
}

void csp_credit_undo(csp_credit_t * credit, int to, uint64_t bytes)
{
    credit->peer[to].owed -= bytes + FIXED;
}

int csp_credit_is_spent(const csp_credit_t * credit, int to)
{
    return credit->peer[to].owed + FIXED > credit->most;
}

void csp_credit_refill(csp_credit_t * credit, int to, uint64_t amount)
{
    credit->peer[to].owed -= amount;
}

void csp_credit_free(csp_credit_t * credit, int from, uint64_t bytes)
{
    struct csp_credit_peer *peer = &credit->peer[from];

    peer->freed += bytes + FIXED;
    if (peer->is_due || peer->freed < credit->most / PARTS)
        return;
    peer->is_due = 1;
    credit->due[credit->n_due++] = from;
}

int csp_credit_next(csp_credit_t * credit, uint64_t * amount)
{
    struct csp_credit_peer *peer;
    int to;

    if (credit->n_due == 0)
        return -1;
    to = credit->due[--credit->n_due];
    peer = &credit->peer[to];
    *amount = peer->freed;
    peer->freed = 0;
    peer->is_due = 0;
    return to;
}

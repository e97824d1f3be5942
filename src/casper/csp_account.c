/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_account.h"
#include "csp_credit.h"
#include "csp_outbox.h"

static csp_credit_t credit;

void csp_account_open(void)
{
    if (!csp_credit_open(&credit, csp_world.ghosts))
        csp_fail("ghost %d is out of memory", MPIR_Process.comm_world->rank);
}

void csp_account_close(void)
{
    csp_credit_close(&credit);
}

static void show(int ghost)
{
    csp_node_tell_full(ghost, csp_credit_is_spent(&credit, ghost));
}

int csp_account_pay(int ghost, uint64_t bytes, int must)
{
    int does = csp_credit_take(&credit, ghost, bytes, must);

    show(ghost);
    return does;
}

void csp_account_undo(int ghost, uint64_t bytes)
{
    csp_credit_undo(&credit, ghost, bytes);
    show(ghost);
}

void csp_account_refill(int ghost, uint64_t amount)
{
    csp_credit_refill(&credit, ghost, amount);
    show(ghost);
}

void csp_account_freed(const csp_item_t * msg)
{
    csp_credit_free(&credit, msg->ghost, msg->bytes);
}

/* A synchronous send, so that this ghost is not idle before the other one has the envelope: no other
 * message would show that it has, and it would be lost in the end. It waits its turn as the others. */
static void send_amount(int ghost, uint64_t amount)
{
    const csp_envelope_t e = {.kind = CSP_ENVELOPE_CREDIT,.bytes = amount };

    csp_outbox_send(&e, ghost, 1);
}

int csp_account_give_back(void)
{
    uint64_t amount;
    int n = 0, ghost;

    while ((ghost = csp_credit_next(&credit, &amount)) >= 0) {
        send_amount(ghost, amount);
        n++;
    }
    return n;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_account.h"
#include "csp_answer.h"
#include "csp_link.h"
#include "csp_match.h"
#include "csp_offer.h"
#include "csp_stream.h"
#include "csp_wire.h"

#define RECEIVES 16             /* receives for envelopes */

static struct {
    MPIR_Request *req;
    char *buf;
} receives[RECEIVES];
static int next_receive, is_open;
static int is_ending;           /* this ghost sends no more */

/* ---- sends ---- */

/* Returns an error number of the system. */
static int copy_data(int user, const csp_post_t * post, void *data)
{
    csp_spot_t spot;

    if (post->flags & CSP_POST_INLINE) {
        memcpy(data, post->data, post->bytes);
    } else if (post->flags & CSP_POST_SLOT) {
        memcpy(data, csp_node.user[user].slot[post->object], post->bytes);
        csp_slot_free(user, post->object);
    } else {
        spot = csp_match_spot(user, post);
        return csp_copy_from(&spot, 0, data, post->bytes);
    }
    return 0;
}

/* Returns 0 if this ghost cannot copy the data. */
static int send_eager(int user, const csp_post_t * post, int ghost)
{
    const csp_envelope_t e = csp_envelope_of(post, CSP_ENVELOPE_EAGER);
    csp_sending_t *s = csp_outbox_new(post->bytes);

    if (copy_data(user, post, csp_outbox_data(s))) {
        csp_outbox_drop(s);
        return 0;
    }
    csp_outbox_post(s, &e, ghost);
    csp_answer_sent(user, post->op, 0);
    return 1;
}

/* The send of a post without an operation is complete, so the data is nowhere else. */
static int goes_along(const csp_post_t * post, int ghost)
{
    return !(post->flags & CSP_POST_SYNC) && post->bytes <= CSP_EAGER &&
        csp_account_pay(ghost, post->bytes, post->op == 0);
}

void csp_wire_send(int user, const csp_post_t * post)
{
    int ghost = csp_world.ghost_of[post->dest];

    if (!goes_along(post, ghost))
        csp_offer(user, post, ghost);
    else if (!send_eager(user, post, ghost))
        csp_offer_paid(user, post, ghost);
}

/* ---- what arrives ---- */

static void handle_msg(const csp_envelope_t * e, const void *data, int ghost)
{
    csp_item_t msg = {
        .context = e->context,.rank = e->rank,.tag = e->tag,.bytes = e->bytes,.ghost = ghost,
        .place = e->kind == CSP_ENVELOPE_EAGER ? CSP_IN_POST : CSP_ELSEWHERE,.name = e->name,
        .is_synchronous = e->kind == CSP_ENVELOPE_ASK && e->is_sync,
        .costs_credit = e->kind == CSP_ENVELOPE_EAGER
    };

    csp_match_arrived(&msg, e->dest, data);
}

static void handle_envelope(const char *buf, int ghost)
{
    csp_envelope_t e;

    memcpy(&e, buf, sizeof(e));
    switch (e.kind) {
        case CSP_ENVELOPE_FETCH:
            csp_offer_fetched(&e);
            break;
        case CSP_ENVELOPE_DONE:
            csp_stream_done(&e, ghost);
            break;
        case CSP_ENVELOPE_CREDIT:
            csp_account_refill(ghost, e.bytes);
            break;
        default:
            handle_msg(&e, buf + sizeof(e), ghost);
    }
}

static void receive(int i)
{
    receives[i].req = csp_link_recv(receives[i].buf, CSP_ENVELOPE_MOST, MPI_ANY_SOURCE,
                                    CSP_LINK_ENVELOPE);
}

/* Envelopes are handled in the order of the receives, which is that of their arrival. */
static int progress_receives(void)
{
    int n = 0;

    while (MPIR_Request_is_complete(receives[next_receive].req)) {
        int i = next_receive, ghost = receives[i].req->status.MPI_SOURCE;
        csp_link_is_done(&receives[i].req);
        handle_envelope(receives[i].buf, ghost);
        receive(i);
        next_receive = (i + 1) % RECEIVES;
        n++;
    }
    return n;
}

/* ---- start, progress, end ---- */

void csp_wire_open(void)
{
    if (csp_world.ghosts == 1)
        return;
    csp_account_open();
    csp_outbox_open();
    csp_stream_open();
    for (int i = 0; i < RECEIVES; i++) {
        receives[i].buf = csp_must_malloc(CSP_ENVELOPE_MOST);
        receive(i);
    }
    is_open = 1;
}

int csp_wire_progress(void)
{
    int n;

    if (!is_open)
        return 0;
    csp_link_progress();
    n = progress_receives();
    n += csp_outbox_progress();
    n += csp_stream_progress();
    n += is_ending ? 0 : csp_account_give_back();
    return n;
}

int csp_wire_is_idle(void)
{
    return csp_outbox_is_empty() && csp_stream_is_idle() && !csp_offer_is_pending();
}

int csp_wire_has_ended(void)
{
    static MPIR_Request *barrier;

    if (!is_open)
        return 1;
    is_ending = 1;
    if (!barrier)
        csp_must(MPIR_Ibarrier(MPIR_Process.comm_world, &barrier), "enter a barrier");
    return csp_link_is_done(&barrier);
}

static void stop_receiving(int i)
{
    csp_must(MPID_Cancel_recv(receives[i].req), "cancel a receive");
    while (!MPIR_Request_is_complete(receives[i].req))
        csp_link_progress();
    MPIR_Request_free(receives[i].req);
    MPL_free(receives[i].buf);
}

void csp_wire_close(void)
{
    if (!is_open)
        return;
    for (int i = 0; i < RECEIVES; i++)
        stop_receiving(i);
    csp_stream_close();
    csp_outbox_close();
    csp_account_close();
    is_open = 0;
}

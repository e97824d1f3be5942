/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_answer.h"
#include "csp_expose.h"
#include "csp_match.h"
#include "csp_offer.h"
#include "csp_stage.h"
#include "csp_stream.h"

typedef struct offer {
    csp_source_t from;
    int is_asked;               /* the user is asked for the data */
    int is_wanted;              /* by FETCH, which waits for that: */
    csp_envelope_t fetch;
} offer_t;

static int pending;             /* sends that are not complete */

/* The data of a synchronous send is where it was, also if it is in the post or in a slot. */
static offer_t *make(int user, const csp_post_t * post, int ghost)
{
    csp_envelope_t e = csp_envelope_of(post, CSP_ENVELOPE_ASK);
    offer_t *offer = csp_must_calloc(1, sizeof(*offer));

    if (post->flags & CSP_POST_SLOT)
        csp_slot_free(user, post->object);
    offer->from.user = user;
    offer->from.ghost = ghost;
    offer->from.is_sync = (post->flags & CSP_POST_SYNC) != 0;
    offer->from.op = post->op;
    offer->from.spot = csp_match_spot(user, post);
    csp_expose_hold(offer->from.spot.segment);
    e.name = (uint64_t) (uintptr_t) offer;
    e.is_sync = offer->from.is_sync;
    csp_outbox_send(&e, ghost, 0);
    pending++;
    return offer;
}

static void begin(offer_t * offer)
{
    csp_stream_send(&offer->from, &offer->fetch);
    MPL_free(offer);
}

static void kept(void *arg, int error)
{
    offer_t *offer = arg;
    csp_source_t *from = &offer->from;
    const csp_spot_t spot = {.pid = csp_world.pid,.addr = (uint64_t) (uintptr_t) from->memory };

    from->spot = spot;          /* it was in no segment: a ghost can copy from those */
    from->error = error;
    csp_answer_sent(from->user, from->op, error);
    from->op = 0;
    pending--;
    offer->is_asked = 0;
    if (offer->is_wanted)
        begin(offer);
}

void csp_offer(int user, const csp_post_t * post, int ghost)
{
    make(user, post, ghost);
}

/* Others must not wait for the user, so the envelope goes first. */
void csp_offer_paid(int user, const csp_post_t * post, int ghost)
{
    offer_t *offer = make(user, post, ghost);

    offer->from.memory = csp_must_malloc(post->bytes);
    offer->from.paid = post->bytes;
    offer->is_asked = 1;
    csp_stage_fetch(user, post->op, 0, offer->from.memory, post->bytes, kept, offer);
}

void csp_offer_fetched(const csp_envelope_t * fetch)
{
    offer_t *offer = (offer_t *) (uintptr_t) fetch->name;

    offer->fetch = *fetch;
    offer->is_wanted = 1;
    if (offer->is_asked)
        return;
    pending -= offer->from.op != 0;
    begin(offer);
}

int csp_offer_is_pending(void)
{
    return pending > 0;
}

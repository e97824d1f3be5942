/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_link.h"
#include "csp_node.h"
#include "csp_outbox.h"

#define SYNC_EVERY 32           /* one of so many envelopes is a synchronous send */
#define SYNCS   2               /* of these under way to one ghost */
#define LOOKS   64              /* sends under way looked at in one turn: there may be very many */

/* Under way, or waiting in its target. */
struct csp_sending {
    MPIR_Request *req;
    struct csp_sending *next;
    size_t size;
    int ghost, is_sync;
    char bytes[];               /* the envelope, the data */
};

/* Envelopes to one ghost. A network may keep each message that nobody has received yet in a buffer of
 * its own, of 16 KB with tcp, so only some at a time go out before that ghost has received them: fewer
 * than SYNC_EVERY before each of SYNCS synchronous ones, and behind the last of these. That ghost
 * always goes on to receive, so those that wait go out in the end, in order. */
typedef struct target {
    int since_sync;             /* sent since the last synchronous one */
    int syncs;                  /* synchronous ones under way */
    csp_sending_t *first, **last;   /* those that wait */
} target_t;

static csp_sending_t *sendings, **last_sending = &sendings; /* under way */
static target_t *targets;       /* [ghosts] */
static int waiting;             /* in targets */

csp_envelope_t csp_envelope_of(const csp_post_t * post, csp_envelope_kind_t kind)
{
    const csp_envelope_t e = {
        .kind = kind,.context = post->context,.rank = post->rank,.tag = post->tag,
        .dest = post->dest,.bytes = post->bytes
    };

    return e;
}

void csp_outbox_open(void)
{
    targets = csp_must_calloc((size_t) csp_world.ghosts, sizeof(*targets));
    for (int i = 0; i < csp_world.ghosts; i++)
        targets[i].last = &targets[i].first;
}

void csp_outbox_close(void)
{
    MPL_free(targets);
}

static void note_sending(csp_sending_t * s)
{
    s->next = NULL;
    *last_sending = s;
    last_sending = &s->next;
}

static csp_sending_t *take_oldest(void)
{
    csp_sending_t *s = sendings;

    sendings = s->next;
    if (!sendings)
        last_sending = &sendings;
    return s;
}

static void send_envelope(target_t * to, csp_sending_t * s)
{
    if (s->is_sync) {
        s->req = csp_link_send_sync(s->bytes, s->size, s->ghost, CSP_LINK_ENVELOPE);
        to->since_sync = 0;
        to->syncs++;
    } else {
        s->req = csp_link_send(s->bytes, s->size, s->ghost, CSP_LINK_ENVELOPE);
        to->since_sync++;
    }
    note_sending(s);
    csp_node_wake(csp_world.users + s->ghost);
}

static void send_waiting(target_t * to)
{
    while (to->first) {
        csp_sending_t *s = to->first;
        s->is_sync |= to->since_sync + 1 == SYNC_EVERY;
        if (s->is_sync && to->syncs == SYNCS)
            return;
        to->first = s->next;
        if (!to->first)
            to->last = &to->first;
        waiting--;
        send_envelope(to, s);
    }
}

static void begin_sending(csp_sending_t * s, int ghost)
{
    target_t *to = &targets[ghost];

    s->ghost = ghost;
    s->next = NULL;
    *to->last = s;
    to->last = &s->next;
    waiting++;
    send_waiting(to);
}

csp_sending_t *csp_outbox_new(size_t bytes)
{
    csp_sending_t *s = csp_must_malloc(sizeof(csp_sending_t) + sizeof(csp_envelope_t) + bytes);

    s->size = sizeof(csp_envelope_t) + bytes;
    s->is_sync = 0;
    return s;
}

char *csp_outbox_data(csp_sending_t * s)
{
    return s->bytes + sizeof(csp_envelope_t);
}

void csp_outbox_post(csp_sending_t * s, const csp_envelope_t * e, int ghost)
{
    memcpy(s->bytes, e, sizeof(*e));
    begin_sending(s, ghost);
}

void csp_outbox_drop(csp_sending_t * s)
{
    MPL_free(s);
}

void csp_outbox_send(const csp_envelope_t * e, int ghost, int is_sync)
{
    csp_sending_t *s = csp_outbox_new(0);

    s->is_sync = is_sync;
    csp_outbox_post(s, e, ghost);
}

static void end_sending(csp_sending_t * s)
{
    target_t *to = &targets[s->ghost];

    to->syncs -= s->is_sync;
    send_waiting(to);
    MPL_free(s);
}

/* Those that are not complete go to the end, so that one ghost does not hold up the others. */
int csp_outbox_progress(void)
{
    const csp_sending_t *first_back = NULL;
    int n = 0, under_way = 0;

    while (sendings && sendings != first_back && under_way < LOOKS) {
        csp_sending_t *s = take_oldest();
        if (csp_link_is_done(&s->req)) {
            end_sending(s);
            n++;
        } else {
            note_sending(s);
            first_back = first_back ? first_back : s;
            under_way++;
        }
    }
    return n;
}

int csp_outbox_is_empty(void)
{
    return !sendings && waiting == 0;
}

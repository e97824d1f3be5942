/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_account.h"
#include "csp_answer.h"
#include "csp_expose.h"
#include "csp_link.h"
#include "csp_stage.h"
#include "csp_stream.h"

#define TAGS    32000           /* for data */
#define PIECE   262144          /* bytes of data in one message */
#define WINDOW  4               /* pieces of one message under way */
#define FETCHES 64              /* messages whose data is fetched at a time, each with up to 1 MiB: for
                                 * all users, and for one that takes in none (csp_stage.h) */
#define STEPS   8               /* pieces begun or ended, after which no other stream has its turn */

/* Data on its way, to or from another ghost, in pieces: piece i uses buffer i % WINDOW. The last piece
 * has a byte more: 1 if data of the message could not be read. A synchronous send must not be complete
 * before its receive: what hears of the one, by whatever way, may ask for the other. So the receiver's
 * ghost sends DONE when it has answered its user, unless 256 other answers wait there; only then does
 * the stream out end. */
typedef struct stream {
    int is_in;                  /* to one of our users */
    int is_sync;                /* in: DONE is to be sent; out: it has not come yet */
    int ghost, tag, error;
    uint64_t bytes;
    uint64_t begun, ended;      /* pieces */
    csp_source_t out;           /* out */
    csp_item_t recv;            /* in */
    int is_staging;             /* the user is to copy a piece: the next one begun, or ended */
    int rank, msg_tag;          /* in: of the message */
    uint64_t msg_bytes, name;
    MPIR_Request *req[WINDOW];
    char *buf[WINDOW];
    struct stream *next;
} stream_t;

static stream_t *streams, **last_stream = &streams;     /* whose turn it is comes first */
static int ins;                 /* streams in */
static int fetched;             /* of these, those that wait for no user of this ghost (is_staging) */

/* Of each user of the node. */
static struct receiver {
    int ins;                    /* streams */
    stream_t *first, **last;    /* not asked for yet */
} *receivers;
static int unfetched;           /* in receivers */

void csp_stream_open(void)
{
    receivers = csp_must_calloc((size_t) csp_node.users, sizeof(*receivers));
    for (int i = 0; i < csp_node.users; i++)
        receivers[i].last = &receivers[i].first;
}

void csp_stream_close(void)
{
    MPL_free(receivers);
}

static uint64_t pieces_of(const stream_t * s)
{
    return (s->bytes + PIECE - 1) / PIECE;
}

static size_t size_of_piece(const stream_t * s, uint64_t piece)
{
    return MPL_MIN(s->bytes - piece * PIECE, PIECE);
}

static int is_last(const stream_t * s, uint64_t piece)
{
    return piece + 1 == pieces_of(s);
}

/* Its data is in the buffer, if there is no error. */
static void send_piece(void *arg, int error)
{
    stream_t *s = arg;
    int i = (int) (s->begun % WINDOW);
    size_t size = size_of_piece(s, s->begun);

    s->is_staging = 0;
    s->error = error;
    s->buf[i][size] = error != 0;
    s->req[i] = csp_link_send(s->buf[i], size + is_last(s, s->begun), s->ghost, s->tag);
    s->begun++;
}

static void begin_piece(stream_t * s)
{
    int i = (int) (s->begun % WINDOW);
    uint64_t at = s->begun * PIECE;
    size_t size = size_of_piece(s, s->begun);

    if (!s->buf[i])
        s->buf[i] = csp_must_malloc(MPL_MIN(s->bytes, PIECE) + 1);
    if (s->is_in) {
        s->req[i] = csp_link_recv(s->buf[i], size + is_last(s, s->begun), s->ghost, s->tag);
        s->begun++;
    } else if (!s->error && csp_copy_from(&s->out.spot, at, s->buf[i], size)) {
        s->is_staging = 1;
        csp_stage_fetch(s->out.user, s->out.op, at, s->buf[i], size, send_piece, s);
    } else {
        send_piece(s, s->error);
    }
}

/* Its data is with the user, if there is no error. */
static void leave_piece(void *arg, int error)
{
    stream_t *s = arg;
    int i = (int) (s->ended % WINDOW);

    fetched += s->is_staging;
    s->is_staging = 0;
    s->error = error;
    if (s->is_in && !error && is_last(s, s->ended) && s->buf[i][size_of_piece(s, s->ended)])
        s->error = CSP_UNREAD;
    s->ended++;
}

static void end_piece(stream_t * s)
{
    int i = (int) (s->ended % WINDOW);
    uint64_t at = s->ended * PIECE;
    size_t size = size_of_piece(s, s->ended);

    if (s->is_in && !s->error && csp_copy_to(&s->recv.spot, at, s->buf[i], size)) {
        s->is_staging = 1;
        fetched--;
        csp_stage_deliver(s->recv.user, s->recv.op, at, s->buf[i], size, leave_piece, s);
    } else {
        leave_piece(s, s->error);
    }
}

/* The other ghost is not idle before it has this, so it need not be a synchronous send, and goes out
 * also after this ghost has begun to end. */
static void send_done(const stream_t * in)
{
    const csp_envelope_t e = {.kind = CSP_ENVELOPE_DONE,.data_tag = in->tag };

    csp_outbox_send(&e, in->ghost, 0);
}

static void drop_memory(const csp_source_t * from)
{
    if (!from->memory)
        return;
    MPL_free(from->memory);
    csp_account_undo(from->ghost, from->paid);
}

static void count_in(const stream_t * in, int n)
{
    ins += n;
    fetched += n;
    receivers[in->recv.user].ins += n;
}

static void end_stream(stream_t * s)
{
    csp_expose_release(s->is_in ? s->recv.spot.segment : s->out.spot.segment);
    if (s->is_in) {
        csp_answer_received(&s->recv, s->rank, s->msg_tag, s->msg_bytes, s->error);
        if (s->is_sync)
            send_done(s);
        count_in(s, -1);
    } else {
        csp_answer_sent(s->out.user, s->out.op, s->error);
        drop_memory(&s->out);
    }
    for (int i = 0; i < WINDOW; i++)
        MPL_free(s->buf[i]);
    MPL_free(s);
}

static int progress_stream(stream_t * s)
{
    int n = 0;

    while (!s->is_staging && s->begun < pieces_of(s) && s->begun - s->ended < WINDOW) {
        begin_piece(s);
        n++;
    }
    while (!s->is_staging && s->ended < s->begun && csp_link_is_done(&s->req[s->ended % WINDOW])) {
        end_piece(s);
        n++;
    }
    return n;
}

static int has_ended(const stream_t * s)
{
    return s->ended == pieces_of(s) && (s->is_in || !s->is_sync);
}

static void add_stream(stream_t * s)
{
    s->next = NULL;
    *last_stream = s;
    last_stream = &s->next;
}

static stream_t *take_stream(void)
{
    stream_t *s = streams;

    streams = s->next;
    if (!streams)
        last_stream = &streams;
    return s;
}

/* Each at most once, and only some, for posts of our users wait meanwhile; the next turn goes on with
 * the others. */
static int progress_streams(void)
{
    const stream_t *first_back = NULL;
    int n = 0;

    while (streams && streams != first_back && n < STEPS) {
        stream_t *s = take_stream();
        n += progress_stream(s);
        if (has_ended(s)) {
            end_stream(s);
            n++;
        } else {
            add_stream(s);
            first_back = first_back ? first_back : s;
        }
    }
    return n;
}

static stream_t *new_stream(int ghost, uint64_t bytes)
{
    stream_t *s = csp_must_malloc(sizeof(*s));

    memset(s, 0, sizeof(*s));
    s->ghost = ghost;
    s->bytes = bytes;
    return s;
}

static void begin_stream(stream_t * s, int tag)
{
    s->tag = tag;
    add_stream(s);
}

/* A tag that no other stream into this ghost uses. */
static int free_tag(void)
{
    static int last;
    stream_t *s;

    do {
        last = (last + 1) % TAGS;
        for (s = streams; s && !(s->is_in && s->tag == CSP_LINK_DATA + last); s = s->next);
    } while (s);
    return CSP_LINK_DATA + last;
}

static void fetch(stream_t * in)
{
    csp_envelope_t e = {.kind = CSP_ENVELOPE_FETCH,.bytes = in->bytes,.name = in->name };

    count_in(in, 1);
    begin_stream(in, free_tag());
    progress_stream(in);        /* the receives come before the data */
    e.data_tag = in->tag;
    csp_outbox_send(&e, in->ghost, 0);
}

static void line_up(stream_t * in)
{
    struct receiver *to = &receivers[in->recv.user];

    *to->last = in;
    to->last = &in->next;
    unfetched++;
}

static stream_t *take_first(struct receiver *to)
{
    stream_t *in = to->first;

    to->first = in->next;
    if (!to->first)
        to->last = &to->first;
    unfetched--;
    return in;
}

static int may_fetch(const struct receiver *to)
{
    return to->first && to->ins < FETCHES && fetched < FETCHES && ins < TAGS;
}

/* Returns how many it has asked for. Another user is the first the next time. */
static int fetch_next(void)
{
    static int turn;
    int n = 0;

    for (int i = 0; unfetched > 0 && i < csp_node.users; i++) {
        struct receiver *to = &receivers[(turn + i) % csp_node.users];
        for (; may_fetch(to); n++)
            fetch(take_first(to));
    }
    turn = (turn + 1) % csp_node.users;
    return n;
}

void csp_stream_fetch(const csp_item_t * msg, const csp_item_t * recv)
{
    stream_t *in = new_stream(msg->ghost, MPL_MIN(msg->bytes, recv->bytes));

    in->is_in = 1;
    in->is_sync = msg->is_synchronous;
    in->recv = *recv;
    csp_expose_hold(recv->spot.segment);
    in->rank = msg->rank;
    in->msg_tag = msg->tag;
    in->msg_bytes = msg->bytes;
    in->name = msg->name;
    line_up(in);
    fetch_next();
}

void csp_stream_send(const csp_source_t * from, const csp_envelope_t * fetch)
{
    stream_t *s = new_stream(from->ghost, fetch->bytes);

    s->out = *from;
    s->is_sync = from->is_sync;
    s->error = from->error;
    begin_stream(s, fetch->data_tag);
}

/* It comes behind FETCH, so the stream is there. An older one with this tag, which still sends, has had
 * its DONE. */
void csp_stream_done(const csp_envelope_t * done, int ghost)
{
    stream_t *s = streams;

    while (s && (s->is_in || !s->is_sync || s->ghost != ghost || s->tag != done->data_tag))
        s = s->next;
    MPIR_Assert(s);
    s->is_sync = 0;
}

int csp_stream_progress(void)
{
    int n = progress_streams();

    return n + fetch_next();
}

int csp_stream_is_idle(void)
{
    return !streams && unfetched == 0;
}

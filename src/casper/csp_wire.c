/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_credit.h"
#include "csp_expose.h"
#include "csp_ghost.h"
#include "csp_match.h"
#include "csp_pair.h"
#include "csp_stage.h"
#include "csp_wire.h"

#define TAG_ENVELOPE 1
#define TAG_DATA     16         /* the first of the tags for data */
#define DATA_TAGS    32000

#define PIECE   262144          /* bytes of data in one message */
#define WINDOW  4               /* pieces of one message under way */
#define RECEIVES 16             /* receives for envelopes */
#define FETCHES 64              /* messages whose data is fetched at a time, each with up to 1 MiB */
#define SYNC_EVERY 32           /* one of so many envelopes is a synchronous send */
#define SYNCS   2               /* of these under way to one ghost */
#define LOOKS   64              /* sends under way looked at in one turn: there may be very many */
#define STEPS   8               /* pieces begun or ended, after which no other stream has its turn */

enum { ENVELOPE_EAGER, ENVELOPE_ASK, ENVELOPE_FETCH, ENVELOPE_DONE, ENVELOPE_CREDIT };

typedef struct envelope {
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
} envelope_t;

#define MOST (sizeof(envelope_t) + CSP_EAGER)

/* A message of ours, an envelope with data: under way, or waiting in its target. */
typedef struct sending {
    MPIR_Request *req;
    struct sending *next;
    size_t size;
    int ghost, is_sync;
    char bytes[];
} sending_t;

/* Envelopes to one ghost. A network may keep each message that nobody has received yet in a buffer of
 * its own, of 16 KB with tcp, so only some at a time go out before that ghost has received them: fewer
 * than SYNC_EVERY before each of SYNCS synchronous ones, and behind the last of these. That ghost
 * always goes on to receive, so those that wait go out in the end, in order. */
typedef struct target {
    int since_sync;             /* sent since the last synchronous one */
    int syncs;                  /* synchronous ones under way */
    sending_t *first, **last;   /* those that wait */
} target_t;

/* A send whose data the receiver's ghost fetches. If the data was to go along, and only the user can
 * copy it (csp_stage.h), it comes to this ghost meanwhile, and takes the credit until it is sent. */
typedef struct outgoing {
    int user, is_sync, ghost;
    uint64_t op;                /* 0: complete, with `error` */
    csp_spot_t spot;
    char *memory;               /* for the data; NULL: it stays with the user */
    uint64_t paid;              /* bytes, with `memory` */
    int is_asked, error;        /* the user is asked for it */
    int is_wanted;              /* by FETCH, which waits for that: */
    int data_tag;
    uint64_t bytes;
} outgoing_t;

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
    outgoing_t out;             /* out */
    csp_item_t recv;            /* in */
    int is_staging;             /* the user is to copy a piece: the next one begun, or ended */
    int rank, msg_tag;          /* in: of the message */
    uint64_t msg_bytes, name;
    MPIR_Request *req[WINDOW];
    char *buf[WINDOW];
    struct stream *next;
} stream_t;

static sending_t *sendings, **last_sending = &sendings; /* under way */
static target_t *targets;       /* [ghosts] */
static int waiting;             /* in targets */
static stream_t *streams, **last_stream = &streams;     /* whose turn it is comes first */
static stream_t *unfetched, **last_unfetched = &unfetched;     /* in: not asked for yet */
static int fetched;             /* streams in that wait for no user of this ghost (is_staging) */
static struct {
    MPIR_Request *req;
    char *buf;
} receives[RECEIVES];
static int next_receive, is_open, unanswered;
static int is_ending;           /* this ghost sends no more */
static csp_credit_t credit;

/* ---- MPI ---- */

static MPIR_Request *isend(const void *buf, size_t bytes, int ghost, int tag)
{
    MPIR_Request *req = NULL;

    csp_must(MPID_Isend(buf, (MPI_Aint) bytes, MPI_BYTE, ghost, tag, MPIR_Process.comm_world,
                        MPIR_CONTEXT_INTRA_PT2PT, &req), "send");
    return req;
}

static MPIR_Request *irecv(void *buf, size_t bytes, int ghost, int tag)
{
    MPIR_Request *req = NULL;

    csp_must(MPID_Irecv(buf, (MPI_Aint) bytes, MPI_BYTE, ghost, tag, MPIR_Process.comm_world,
                        MPIR_CONTEXT_INTRA_PT2PT, &req), "receive");
    return req;
}

/* 1 if the request is complete; then frees it. */
static int is_done(MPIR_Request ** req)
{
    if (!MPIR_Request_is_complete(*req))
        return 0;
    csp_must((*req)->status.MPI_ERROR, "exchange a message");
    MPIR_Request_free(*req);
    *req = NULL;
    return 1;
}

/* ---- envelopes ---- */

static sending_t *new_sending(size_t bytes)
{
    sending_t *s = csp_must_malloc(sizeof(sending_t) + bytes);

    s->size = bytes;
    s->is_sync = 0;
    return s;
}

static void note_sending(sending_t * s)
{
    s->next = NULL;
    *last_sending = s;
    last_sending = &s->next;
}

static sending_t *take_oldest(void)
{
    sending_t *s = sendings;

    sendings = s->next;
    if (!sendings)
        last_sending = &sendings;
    return s;
}

static void send_envelope(target_t * to, sending_t * s)
{
    if (s->is_sync) {
        csp_must(MPID_Issend(s->bytes, (MPI_Aint) s->size, MPI_BYTE, s->ghost, TAG_ENVELOPE,
                             MPIR_Process.comm_world, MPIR_CONTEXT_INTRA_PT2PT, &s->req), "send");
        to->since_sync = 0;
        to->syncs++;
    } else {
        s->req = isend(s->bytes, s->size, s->ghost, TAG_ENVELOPE);
        to->since_sync++;
    }
    note_sending(s);
    csp_node_wake(csp_world.users + s->ghost);
}

static void send_waiting(target_t * to)
{
    while (to->first) {
        sending_t *s = to->first;
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

static void begin_sending(sending_t * s, int ghost)
{
    target_t *to = &targets[ghost];

    s->ghost = ghost;
    s->next = NULL;
    *to->last = s;
    to->last = &s->next;
    waiting++;
    send_waiting(to);
}

/* An envelope without data. */
static void send_alone(const envelope_t * e, int ghost, int is_sync)
{
    sending_t *s = new_sending(sizeof(*e));

    memcpy(s->bytes, e, sizeof(*e));
    s->is_sync = is_sync;
    begin_sending(s, ghost);
}

static void end_sending(sending_t * s)
{
    target_t *to = &targets[s->ghost];

    to->syncs -= s->is_sync;
    send_waiting(to);
    MPL_free(s);
}

/* Those that are not complete go to the end, so that one ghost does not hold up the others. */
static int progress_sendings(void)
{
    const sending_t *first_back = NULL;
    int n = 0, under_way = 0;

    while (sendings && sendings != first_back && under_way < LOOKS) {
        sending_t *s = take_oldest();
        if (is_done(&s->req)) {
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

static envelope_t envelope_of(const csp_post_t * post, uint32_t kind)
{
    const envelope_t e = {
        .kind = kind,.context = post->context,.rank = post->rank,.tag = post->tag,
        .dest = post->dest,.bytes = post->bytes
    };

    return e;
}

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
    const envelope_t e = envelope_of(post, ENVELOPE_EAGER);
    sending_t *s = new_sending(sizeof(e) + post->bytes);

    if (copy_data(user, post, s->bytes + sizeof(e))) {
        MPL_free(s);
        return 0;
    }
    memcpy(s->bytes, &e, sizeof(e));
    begin_sending(s, ghost);
    csp_pair_sent(user, post->op, 0);
    return 1;
}

/* The data of a synchronous send is where it was, also if it is in the post or in a slot. */
static outgoing_t *send_ask(int user, const csp_post_t * post, int ghost)
{
    envelope_t e = envelope_of(post, ENVELOPE_ASK);
    outgoing_t *out = csp_must_malloc(sizeof(*out));

    if (post->flags & CSP_POST_SLOT)
        csp_slot_free(user, post->object);
    memset(out, 0, sizeof(*out));
    out->user = user;
    out->ghost = ghost;
    out->is_sync = (post->flags & CSP_POST_SYNC) != 0;
    out->op = post->op;
    out->spot = csp_match_spot(user, post);
    csp_expose_hold(out->spot.segment);
    e.name = (uint64_t) (uintptr_t) out;
    e.is_sync = out->is_sync;
    send_alone(&e, ghost, 0);
    unanswered++;
    return out;
}

static void show_credit(int ghost)
{
    csp_node_tell_full(ghost, csp_credit_is_spent(&credit, ghost));
}

/* The send of a post without an operation is complete, so the data is nowhere else. */
static int goes_along(const csp_post_t * post, int ghost)
{
    int does = !(post->flags & CSP_POST_SYNC) && post->bytes <= CSP_EAGER &&
        csp_credit_take(&credit, ghost, post->bytes, post->op == 0);

    show_credit(ghost);
    return does;
}

static void drop_memory(outgoing_t * out)
{
    if (!out->memory)
        return;
    MPL_free(out->memory);
    csp_credit_undo(&credit, out->ghost, out->paid);
    show_credit(out->ghost);
}

static void begin_out(outgoing_t * out);

static void kept(void *arg, int error)
{
    outgoing_t *out = arg;
    const csp_spot_t spot = {.pid = csp_world.pid,.addr = (uint64_t) (uintptr_t) out->memory };

    csp_expose_release(out->spot.segment);
    out->spot = spot;
    out->error = error;
    out->is_asked = 0;
    csp_pair_sent(out->user, out->op, error);
    out->op = 0;
    if (out->is_wanted)
        begin_out(out);
}

/* Others must not wait for the user, so the envelope goes first. */
static void send_late(int user, const csp_post_t * post, int ghost)
{
    outgoing_t *out = send_ask(user, post, ghost);

    out->memory = csp_must_malloc(post->bytes);
    out->paid = post->bytes;
    out->is_asked = 1;
    csp_stage_fetch(user, post->op, 0, out->memory, post->bytes, kept, out);
}

void csp_wire_send(int user, const csp_post_t * post)
{
    int ghost = csp_world.ghost_of[post->dest];

    if (!goes_along(post, ghost))
        send_ask(user, post, ghost);
    else if (!send_eager(user, post, ghost))
        send_late(user, post, ghost);
}

void csp_wire_freed(const csp_item_t * msg)
{
    csp_credit_free(&credit, msg->ghost, msg->bytes);
}

/* A synchronous send, so that this ghost is not idle before the other one has the envelope: no other
 * message would show that it has, and it would be lost in the end. It waits its turn as the others. */
static void send_credit(int ghost, uint64_t amount)
{
    const envelope_t e = {.kind = ENVELOPE_CREDIT,.bytes = amount };

    send_alone(&e, ghost, 1);
}

/* Returns to how many ghosts. */
static int send_credits(void)
{
    uint64_t amount;
    int n = 0, ghost;

    while (!is_ending && (ghost = csp_credit_next(&credit, &amount)) >= 0) {
        send_credit(ghost, amount);
        n++;
    }
    return n;
}

/* ---- data in pieces ---- */

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
    s->req[i] = isend(s->buf[i], size + is_last(s, s->begun), s->ghost, s->tag);
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
        s->req[i] = irecv(s->buf[i], size + is_last(s, s->begun), s->ghost, s->tag);
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
    const envelope_t e = {.kind = ENVELOPE_DONE,.data_tag = in->tag };

    send_alone(&e, in->ghost, 0);
}

static void end_stream(stream_t * s)
{
    csp_expose_release(s->is_in ? s->recv.spot.segment : s->out.spot.segment);
    if (s->is_in) {
        csp_pair_received(&s->recv, s->rank, s->msg_tag, s->msg_bytes, s->error);
        if (s->is_sync)
            send_done(s);
        fetched--;
    } else {
        csp_pair_sent(s->out.user, s->out.op, s->error);
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
    while (!s->is_staging && s->ended < s->begun && is_done(&s->req[s->ended % WINDOW])) {
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
        last = (last + 1) % DATA_TAGS;
        for (s = streams; s && !(s->is_in && s->tag == TAG_DATA + last); s = s->next);
    } while (s);
    return TAG_DATA + last;
}

static void fetch(stream_t * in)
{
    envelope_t e = {.kind = ENVELOPE_FETCH,.bytes = in->bytes,.name = in->name };

    fetched++;
    begin_stream(in, free_tag());
    progress_stream(in);        /* the receives come before the data */
    e.data_tag = in->tag;
    send_alone(&e, in->ghost, 0);
}

/* Returns how many it has asked for. */
static int fetch_next(void)
{
    int n = 0;

    for (; unfetched && fetched < FETCHES; n++) {
        stream_t *in = unfetched;
        unfetched = in->next;
        if (!unfetched)
            last_unfetched = &unfetched;
        fetch(in);
    }
    return n;
}

void csp_wire_fetch(const csp_item_t * msg, const csp_item_t * recv)
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
    *last_unfetched = in;
    last_unfetched = &in->next;
    fetch_next();
}

/* ---- what arrives ---- */

static void begin_out(outgoing_t * out)
{
    stream_t *s = new_stream(out->ghost, out->bytes);

    begin_stream(s, out->data_tag);
    s->out = *out;
    s->is_sync = out->is_sync;
    s->error = out->error;
    MPL_free(out);
    unanswered--;
}

static void handle_fetch(const envelope_t * e)
{
    outgoing_t *out = (outgoing_t *) (uintptr_t) e->name;

    out->data_tag = e->data_tag;
    out->bytes = e->bytes;
    out->is_wanted = 1;
    if (!out->is_asked)
        begin_out(out);
}

/* It comes behind FETCH, so the stream is there. An older one with this tag, which still sends, has had
 * its DONE. */
static void handle_done(const envelope_t * e, int ghost)
{
    stream_t *s = streams;

    while (s && (s->is_in || !s->is_sync || s->ghost != ghost || s->tag != e->data_tag))
        s = s->next;
    MPIR_Assert(s);
    s->is_sync = 0;
}

static void handle_msg(const envelope_t * e, const void *data, int ghost)
{
    csp_item_t msg = {
        .context = e->context,.rank = e->rank,.tag = e->tag,.bytes = e->bytes,.ghost = ghost,
        .place = e->kind == ENVELOPE_EAGER ? CSP_IN_POST : CSP_ELSEWHERE,.name = e->name,
        .is_synchronous = e->kind == ENVELOPE_ASK && e->is_sync,
        .costs_credit = e->kind == ENVELOPE_EAGER
    };

    csp_match_arrived(&msg, e->dest, data);
}

static void handle_envelope(const char *buf, int ghost)
{
    envelope_t e;

    memcpy(&e, buf, sizeof(e));
    switch (e.kind) {
        case ENVELOPE_FETCH:
            handle_fetch(&e);
            break;
        case ENVELOPE_DONE:
            handle_done(&e, ghost);
            break;
        case ENVELOPE_CREDIT:
            csp_credit_refill(&credit, ghost, e.bytes);
            show_credit(ghost);
            break;
        default:
            handle_msg(&e, buf + sizeof(e), ghost);
    }
}

/* Envelopes are handled in the order of the receives, which is that of their arrival. */
static int progress_receives(void)
{
    int n = 0;

    while (MPIR_Request_is_complete(receives[next_receive].req)) {
        int i = next_receive, ghost = receives[i].req->status.MPI_SOURCE;
        is_done(&receives[i].req);
        handle_envelope(receives[i].buf, ghost);
        receives[i].req = irecv(receives[i].buf, MOST, MPI_ANY_SOURCE, TAG_ENVELOPE);
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
    if (!csp_credit_open(&credit, csp_world.ghosts))
        csp_fail("ghost %d is out of memory", MPIR_Process.comm_world->rank);
    targets = csp_must_malloc((size_t) csp_world.ghosts * sizeof(*targets));
    for (int i = 0; i < csp_world.ghosts; i++) {
        const target_t none = {.last = &targets[i].first };
        targets[i] = none;
    }
    for (int i = 0; i < RECEIVES; i++) {
        receives[i].buf = csp_must_malloc(MOST);
        receives[i].req = irecv(receives[i].buf, MOST, MPI_ANY_SOURCE, TAG_ENVELOPE);
    }
    is_open = 1;
}

int csp_wire_progress(void)
{
    int n;

    if (!is_open)
        return 0;
    csp_must(MPID_Progress_test(NULL), "make progress");
    n = progress_receives();
    n += progress_sendings();
    n += progress_streams();
    n += fetch_next();
    n += send_credits();
    return n;
}

int csp_wire_is_idle(void)
{
    return !sendings && waiting == 0 && !streams && !unfetched && unanswered == 0;
}

int csp_wire_has_ended(void)
{
    static MPIR_Request *barrier;

    if (!is_open)
        return 1;
    is_ending = 1;
    if (!barrier)
        csp_must(MPIR_Ibarrier(MPIR_Process.comm_world, &barrier), "enter a barrier");
    return is_done(&barrier);
}

void csp_wire_close(void)
{
    for (int i = 0; is_open && i < RECEIVES; i++) {
        csp_must(MPID_Cancel_recv(receives[i].req), "cancel a receive");
        while (!MPIR_Request_is_complete(receives[i].req))
            csp_must(MPID_Progress_test(NULL), "make progress");
        MPIR_Request_free(receives[i].req);
        MPL_free(receives[i].buf);
    }
    if (is_open) {
        csp_credit_close(&credit);
        MPL_free(targets);
    }
    is_open = 0;
}

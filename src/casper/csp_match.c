/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_account.h"
#include "csp_answer.h"
#include "csp_keep.h"
#include "csp_match.h"
#include "csp_pair.h"

/* With so many messages that wait and have gone along, each some 270 bytes of shared memory, senders
 * keep their data; with so few they send it along again. */
#define MANY_SMALL 131072
#define FEW_SMALL  65536

static csp_list_t *recvs_of(int user)
{
    return &csp_node.user[user].recvs;
}

static csp_list_t *msgs_of(int user)
{
    return &csp_node.user[user].msgs;
}

static csp_list_t *probed(void)
{
    return &csp_node.my_ghost->desk.probed;
}

/* ---- posts and items ---- */

/* The index of the user with this number; it is on this node. */
static int index_of(int number)
{
    int i = 0;

    while (csp_node.user[i].number != number)
        i++;
    return i;
}

csp_spot_t csp_match_spot(int user, const csp_post_t * post)
{
    csp_spot_t spot = {.pid = csp_node.user[user].pid,.addr = post->addr };

    if (post->flags & CSP_POST_DIRECT) {
        spot.segment = post->data[0];
        spot.offset = post->data[1];
    }
    return spot;
}

static void fill_recv(csp_item_t * recv, int user, const csp_post_t * post)
{
    recv->user = user;
    recv->context = post->context;
    recv->rank = post->rank;
    recv->tag = post->tag;
    recv->op = post->op;
    recv->serial = post->serial;
    recv->bytes = post->bytes;
    recv->spot = csp_match_spot(user, post);
}

static void fill_msg(csp_item_t * msg, int user, const csp_post_t * post)
{
    memset(msg, 0, offsetof(csp_item_t, data));
    msg->user = index_of(post->dest);
    msg->sender = post->op ? user : -1;
    msg->context = post->context;
    msg->rank = post->rank;
    msg->tag = post->tag;
    msg->op = post->op;
    msg->bytes = post->bytes;
    msg->is_synchronous = (post->flags & CSP_POST_SYNC) != 0;
    msg->place = CSP_IN_USER;
    if (post->flags & CSP_POST_INLINE) {
        msg->place = CSP_IN_POST;
        memcpy(msg->data, post->data, sizeof(msg->data));
    } else if (post->flags & CSP_POST_SLOT) {
        msg->place = CSP_IN_SLOT;
        msg->name = post->object;
        msg->from = user;
    } else {
        msg->spot = csp_match_spot(user, post);
    }
}

/* There is an item: the ghost always has one, and others have looked before. */
static csp_ref_t copy_of(const csp_item_t * item)
{
    csp_ref_t ref;
    csp_item_t *copy = csp_item_new(&ref);

    MPIR_Assert(copy);
    *copy = *item;
    if (copy->spot.segment)
        csp_node.my_ghost->desk.holds[copy->spot.segment % CSP_SEGMENTS]++;
    return ref;
}

/* ---- the lists ---- */

static int accepts(const csp_item_t * recv, const csp_item_t * msg)
{
    return recv->context == msg->context &&
        (recv->rank == msg->rank || recv->rank == MPI_ANY_SOURCE) &&
        (recv->tag == msg->tag || recv->tag == MPI_ANY_TAG);
}

/* Take out the oldest receive that accepts the message; 0: none does. */
static csp_ref_t take_recv(const csp_item_t * msg)
{
    csp_list_t *list = recvs_of(msg->user);
    csp_ref_t before = 0;

    for (csp_ref_t ref = list->first; ref; ref = csp_item_of(ref)->next) {
        if (accepts(csp_item_of(ref), msg)) {
            csp_list_cut(list, before, ref);
            return ref;
        }
        before = ref;
    }
    return 0;
}

static csp_ref_t find_msg(const csp_item_t * recv, csp_ref_t * before)
{
    csp_ref_t ref = msgs_of(recv->user)->first;

    *before = 0;
    while (ref && !accepts(recv, csp_item_of(ref))) {
        *before = ref;
        ref = csp_item_of(ref)->next;
    }
    return ref;
}

/* Its send is complete, and the data is in shared memory. What comes from other ghosts is limited in
 * another way (csp_credit.h). */
static int is_small(const csp_item_t * msg)
{
    return (msg->place == CSP_IN_POST || msg->place == CSP_IN_SLOT) && msg->sender < 0 &&
        !msg->costs_credit;
}

static void count_small(int n)
{
    csp_desk_t *desk = &csp_node.my_ghost->desk;

    desk->small += (uint32_t) n;
    if (desk->small >= MANY_SMALL)
        csp_node_tell_full(csp_node.my_ghost->number - csp_world.users, 1);
    else if (desk->small <= FEW_SMALL)
        csp_node_tell_full(csp_node.my_ghost->number - csp_world.users, 0);
}

static void add_msg(csp_ref_t ref)
{
    const csp_item_t *msg = csp_item_of(ref);

    csp_list_add(msgs_of(msg->user), ref);
    csp_node.my_ghost->desk.kept += csp_keep_is_due(msg);
    if (is_small(msg))
        count_small(1);
}

static void cut_msg(csp_list_t * list, csp_ref_t before, csp_ref_t ref)
{
    csp_list_cut(list, before, ref);
    csp_node.my_ghost->desk.kept -= csp_keep_is_due(csp_item_of(ref));
    if (is_small(csp_item_of(ref)))
        count_small(-1);
}

/* ---- matching ---- */

/* The answers carry the data, or tell that there is none. */
static int is_done_at_once(const csp_item_t * msg)
{
    return msg->place == CSP_IN_POST || msg->place == CSP_IN_SLOT || msg->error;
}

static void match_msg(const csp_item_t * msg)
{
    csp_ref_t recv = take_recv(msg);

    if (recv && is_done_at_once(msg)) {
        csp_answer_both(msg, csp_item_of(recv), msg->error);
        csp_item_free(recv);
        if (msg->costs_credit)
            csp_account_freed(msg);
    } else if (recv) {
        csp_pair_make(copy_of(msg), recv);
    } else {
        add_msg(copy_of(msg));
    }
}

static void match_found(csp_ref_t msg, const csp_item_t * recv)
{
    if (is_done_at_once(csp_item_of(msg))) {
        csp_answer_both(csp_item_of(msg), recv, csp_item_of(msg)->error);
        csp_pair_free_msg(msg);
    } else {
        csp_pair_make(msg, copy_of(recv));
    }
}

static void match_recv(const csp_item_t * recv)
{
    csp_ref_t before, msg = find_msg(recv, &before);

    if (msg) {
        cut_msg(msgs_of(recv->user), before, msg);
        match_found(msg, recv);
    } else {
        csp_list_add(recvs_of(recv->user), copy_of(recv));
    }
}

static void take_others(int user);

/* What other users posted before the probe was may still lie in their rings. */
static csp_ref_t find_probed(const csp_item_t * recv, csp_ref_t * before)
{
    csp_ref_t ref = find_msg(recv, before);

    if (ref)
        return ref;
    take_others(recv->user);
    return find_msg(recv, before);
}

static void match_probe(const csp_item_t * recv, int is_matched)
{
    csp_ref_t before, ref = find_probed(recv, &before);
    csp_answer_t answer = {.op = recv->op };

    if (ref) {
        const csp_item_t *msg = csp_item_of(ref);
        answer.flags = CSP_ANSWER_FOUND;
        answer.source = msg->rank;
        answer.tag = msg->tag;
        answer.bytes = msg->bytes;
        if (is_matched) {
            csp_list_cut(msgs_of(recv->user), before, ref);
            csp_list_add(probed(), ref);
            answer.object = ref;
        }
    }
    csp_answer_put(recv->user, &answer);
}

static void match_probed(csp_ref_t msg, const csp_item_t * recv)
{
    csp_ref_t before = 0;

    for (csp_ref_t ref = probed()->first; ref != msg; ref = csp_item_of(ref)->next)
        before = ref;
    cut_msg(probed(), before, msg);
    match_found(msg, recv);
}

static void match_cancel(int user, uint64_t op, uint64_t serial)
{
    csp_answer_t answer = {.op = op,.flags = CSP_ANSWER_CANCELLED };
    csp_list_t *list = recvs_of(user);
    csp_ref_t before = 0;

    for (csp_ref_t ref = list->first; ref; ref = csp_item_of(ref)->next) {
        const csp_item_t *recv = csp_item_of(ref);
        if (recv->op == op && recv->serial == serial) {
            csp_list_cut(list, before, ref);
            csp_item_free(ref);
            csp_answer_put(user, &answer);
            return;
        }
        before = ref;
    }
}

/* ---- posts ---- */

static void match_send(int user, const csp_post_t * post)
{
    csp_item_t msg;

    fill_msg(&msg, user, post);
    match_msg(&msg);
}

static void match(int user, const csp_post_t * post)
{
    csp_item_t recv = {.next = 0 };

    if (post->kind == CSP_POST_SEND) {
        match_send(user, post);
        return;
    }
    fill_recv(&recv, user, post);
    switch (post->kind) {
        case CSP_POST_RECV:
            match_recv(&recv);
            break;
        case CSP_POST_MRECV:
            match_probed((csp_ref_t) post->object, &recv);
            break;
        case CSP_POST_PROBE:
        case CSP_POST_MPROBE:
            match_probe(&recv, post->kind == CSP_POST_MPROBE);
            break;
        default:
            match_cancel(user, post->object, post->serial);
    }
}

int csp_match_is_local(const csp_post_t * post)
{
    if (post->kind == CSP_POST_SEND)
        return csp_world.users + csp_world.ghost_of[post->dest] == csp_node.my_ghost->number;
    return post->kind <= CSP_POST_CANCEL;
}

/* In a user, with the next post: can it be handled here? */
static int is_for_us(const csp_post_t * post)
{
    if (csp_node.my_ghost->desk.items < CSP_DESK_RESERVE) {
        csp_desk_owe();
        return 0;
    }
    return csp_match_is_local(post);
}

static int is_probe(const csp_post_t * post)
{
    return post->kind == CSP_POST_PROBE || post->kind == CSP_POST_MPROBE;
}

/* Up to a post that only the ghost handles, with the desk free, and to a probe, which would do the same
 * again. */
static void take_of_other(int i)
{
    csp_user_t *u = &csp_node.user[i];

    for (int n = 0; n < CSP_RING && csp_ring_has_entry(&u->posts); n++) {
        const csp_post_t *post = &u->post[csp_ring_read(&u->posts)];
        if (is_probe(post) || !(csp_world.is_ghost ? csp_match_is_local(post) : is_for_us(post)))
            return;
        match(i, post);
        csp_ring_release(&u->posts);
    }
}

/* The posts of all other users of our ghost, each ring at most once full. */
static void take_others(int user)
{
    for (int i = 0; i < csp_node.users; i++) {
        if (i != user && csp_node_is_mate(i))
            take_of_other(i);
    }
}

int csp_match_posts(int user, int most, csp_post_t * other)
{
    csp_user_t *u = &csp_node.user[user];
    int n = 0;

    other->kind = 0;
    for (; n < most && csp_ring_has_entry(&u->posts); n++) {
        const csp_post_t *post = &u->post[csp_ring_read(&u->posts)];
        if (!csp_world.is_ghost && !is_for_us(post))
            break;
        if (csp_world.is_ghost && !csp_match_is_local(post)) {
            *other = *post;
            csp_ring_release(&u->posts);
            csp_desk_unlock();
            return n + 1;
        }
        match(user, post);
        csp_ring_release(&u->posts);
    }
    return n;
}

/* ---- messages from other ghosts ---- */

void csp_match_arrived(csp_item_t * msg, int dest, const void *data)
{
    char *memory = NULL;

    msg->user = index_of(dest);
    msg->sender = -1;
    if (msg->place == CSP_IN_POST && msg->bytes > CSP_INLINE) {
        memory = csp_must_malloc(msg->bytes);
        memcpy(memory, data, msg->bytes);
        csp_pair_put_in_ghost(msg, memory);
    } else if (msg->place == CSP_IN_POST) {
        memcpy(msg->data, data, msg->bytes);
    }
    csp_desk_lock();
    match_msg(msg);
    csp_desk_unlock();
}

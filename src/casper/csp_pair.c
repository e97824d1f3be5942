/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_account.h"
#include "csp_answer.h"
#include "csp_pair.h"
#include "csp_stage.h"
#include "csp_stream.h"

/* With more memory to free than this, the ghost wakes for it. */
#define MOST_UNFREED 4194304

static uint64_t in_ghost;       /* bytes of messages in memory of this ghost */
static uint64_t of_users;       /* of these, of sends of its own users */

/* Pairs that there were when this process last looked for one in vain. */
static TSM_ATOMIC(uint32_t) seen;
static TSM_ATOMIC(int) remains;

static csp_desk_t *desk(void)
{
    return &csp_node.my_ghost->desk;
}

/* ---- pairs ---- */

/* A user copies only what comes from its memory or goes there. */
static int is_ours(const csp_item_t * msg)
{
    return csp_world.is_ghost || (!msg->is_ghosts && (msg->spot.pid == csp_world.pid ||
        csp_item_of(msg->partner)->spot.pid == csp_world.pid));
}

void csp_pair_make(csp_ref_t msg, csp_ref_t recv)
{
    csp_item_t *m = csp_item_of(msg);

    m->partner = recv;
    if (m->place == CSP_ELSEWHERE) {
        csp_desk_leave(msg, CSP_LEFT_FETCH, 1);
        return;
    }
    if (m->is_asked)
        return;
    csp_list_add(&desk()->pairs, msg);
    tsm_fetch_add(&desk()->made, 1, TSM_RELAXED);
    if (!is_ours(m))
        csp_desk_owe();
}

csp_ref_t csp_pair_take(int (*may) (const csp_item_t * msg, const csp_item_t * recv))
{
    csp_ref_t before = 0;
    int is_left = 0;

    for (csp_ref_t ref = desk()->pairs.first; ref; ref = csp_item_of(ref)->next) {
        const csp_item_t *msg = csp_item_of(ref);
        if (is_ours(msg) && may(msg, csp_item_of(msg->partner))) {
            csp_list_cut(&desk()->pairs, before, ref);
            return ref;
        }
        is_left |= is_ours(msg);
        before = ref;
    }
    tsm_store(&remains, is_left, TSM_RELAXED);
    tsm_store(&seen, tsm_load(&desk()->made, TSM_RELAXED), TSM_RELAXED);
    return 0;
}

int csp_pair_remains(void)
{
    return tsm_load(&remains, TSM_RELAXED);
}

int csp_pair_is_there(void)
{
    return tsm_load(&desk()->made, TSM_RELAXED) != tsm_load(&seen, TSM_RELAXED);
}

uint64_t csp_pair_rest(csp_ref_t pair)
{
    const csp_item_t *msg = csp_item_of(pair), *recv = csp_item_of(msg->partner);

    return MPL_MIN(msg->bytes, recv->bytes) - msg->copied;
}

/* In a user, several threads may copy. */
static void count_copied(uint64_t bytes)
{
    if (csp_world.is_ghost)
        csp_count(&csp_node.my_ghost->counts.copied, bytes);
    else
        tsm_fetch_add(&csp_counts.copied, bytes, TSM_RELAXED);
}

/* ---- what the ghost cannot copy, by way of users (csp_stage.h) ---- */

/* A part of a pair on its way through the ghost, which copies in and out what it can. The pair is in no
 * list meanwhile. */
typedef struct hop {
    csp_ref_t pair;
    size_t bytes;
    char data[];
} hop_t;

static void end_hop(void *arg, int error)
{
    hop_t *hop = arg;
    csp_item_t *msg = csp_item_of(hop->pair);

    msg->error = error;
    msg->copied += error ? 0 : hop->bytes;
    count_copied(error ? 0 : hop->bytes);
    csp_desk_lock();
    csp_pair_end(hop->pair);
    csp_desk_unlock();
    MPL_free(hop);
}

static void hop_out(void *arg, int error)
{
    hop_t *hop = arg;
    const csp_item_t *msg = csp_item_of(hop->pair), *recv = csp_item_of(msg->partner);

    if (!error && csp_copy_to(&recv->spot, msg->copied, hop->data, hop->bytes))
        csp_stage_deliver(recv->user, recv->op, msg->copied, hop->data, hop->bytes, end_hop, hop);
    else
        end_hop(hop, error);
}

static void hop_in(csp_ref_t pair, size_t bytes)
{
    csp_item_t *msg = csp_item_of(pair);
    hop_t *hop = csp_must_malloc(sizeof(*hop) + bytes);

    hop->pair = pair;
    hop->bytes = bytes;
    msg->is_ghosts = 1;
    if (csp_copy_from(&msg->spot, msg->copied, hop->data, bytes))
        csp_stage_fetch(msg->sender, msg->op, msg->copied, hop->data, bytes, hop_out, hop);
    else
        hop_out(hop, 0);
}

/* The ghost may still have data that a user cannot reach any more, because it was freed too early, and
 * may be permitted more. */
int csp_pair_copy(csp_ref_t pair, uint64_t most)
{
    csp_item_t *msg = csp_item_of(pair);
    const csp_item_t *recv = csp_item_of(msg->partner);
    uint64_t bytes = MPL_MIN(csp_pair_rest(pair), most);
    int error = csp_copy_between(&msg->spot, &recv->spot, msg->copied, bytes);

    msg->is_helped |= csp_world.is_ghost;
    if (error && csp_world.is_ghost) {
        hop_in(pair, bytes);
        return 0;
    }
    msg->copied += error ? 0 : bytes;
    count_copied(error ? 0 : bytes);
    msg->is_ghosts |= error != 0;
    return 1;
}

void csp_pair_put_aside(csp_ref_t pair)
{
    csp_item_t *msg = csp_item_of(pair);
    csp_ref_t first = tsm_load(&desk()->aside, TSM_RELAXED);

    do {
        msg->next = first;
    } while (!tsm_cas(&desk()->aside, &first, pair, TSM_RELEASE, TSM_RELAXED));
    csp_desk_owe();
}

int csp_pair_is_aside(void)
{
    return tsm_load(&desk()->aside, TSM_RELAXED) != 0;
}

static void end(csp_ref_t pair)
{
    const csp_item_t *msg = csp_item_of(pair), *recv = csp_item_of(msg->partner);
    csp_answer_t to_recv = csp_answer_of_recv(recv, msg->rank, msg->tag, msg->bytes, msg->error);
    csp_answer_t to_send = csp_answer_of_send(msg, msg->error);

    to_recv.flags = to_send.flags = msg->is_helped ? CSP_ANSWER_GHOST : 0;
    csp_answer_put_and_free(msg->partner, recv->user, &to_recv);
    if (msg->sender >= 0)
        csp_answer_put_and_free(pair, msg->sender, &to_send);
    else
        csp_pair_free_msg(pair);
}

/* As the first one: the others may be items of the ghost's memory, at which a user cannot look. */
static void put_back(csp_ref_t pair)
{
    csp_list_push(&desk()->pairs, pair);
    tsm_fetch_add(&desk()->made, 1, TSM_RELAXED);
}

void csp_pair_end(csp_ref_t pair)
{
    const csp_item_t *msg = csp_item_of(pair);

    if (msg->error || csp_pair_rest(pair) == 0) {
        end(pair);
        return;
    }
    put_back(pair);
    if (msg->is_ghosts)
        csp_desk_owe();
}

int csp_pair_end_aside(void)
{
    int n = 0;

    if (!csp_pair_is_aside())
        return 0;
    for (csp_ref_t pair = tsm_swap(&desk()->aside, 0, TSM_ACQUIRE), next; pair; pair = next) {
        next = csp_item_of(pair)->next;
        csp_pair_end(pair);
        n++;
    }
    return n;
}

/* What a message takes in the ghost: its item, too. */
static uint64_t cost(const csp_item_t * msg)
{
    return msg->bytes + sizeof(*msg);
}

static void count_kept(const csp_item_t * msg, uint64_t more)
{
    in_ghost += more;
    of_users += msg->costs_credit ? 0 : more;
    tsm_store(&csp_node.my_ghost->counts.kept, in_ghost, TSM_RELAXED);
}

void csp_pair_free_msg(csp_ref_t ref)
{
    const csp_item_t *msg = csp_item_of(ref);

    if ((msg->place == CSP_IN_GHOST || msg->costs_credit) && !csp_world.is_ghost) {
        desk()->unfreed += cost(msg);
        csp_desk_leave(ref, CSP_LEFT_MEMORY, desk()->unfreed > MOST_UNFREED);
        return;
    }
    if (msg->place == CSP_IN_GHOST) {
        MPL_free((void *) (uintptr_t) msg->spot.addr);
        count_kept(msg, -cost(msg));
    }
    if (msg->costs_credit)
        csp_account_freed(msg);
    csp_item_free(ref);
}

/* ---- the ghost ---- */

void csp_pair_put_in_ghost(csp_item_t * msg, void *memory)
{
    const csp_spot_t spot = {.pid = csp_world.pid,.addr = (uint64_t) (uintptr_t) memory };

    msg->place = CSP_IN_GHOST;
    msg->spot = spot;
    count_kept(msg, cost(msg));
}

uint64_t csp_pair_bytes_of_users(void)
{
    return of_users;
}

static void fetch(csp_ref_t ref)
{
    const csp_item_t msg = *csp_item_of(ref), recv = *csp_item_of(msg.partner);

    csp_desk_unlock();
    csp_stream_fetch(&msg, &recv);
    csp_desk_lock();
    csp_item_free(msg.partner);
    csp_item_free(ref);
}

static void do_left(csp_ref_t ref)
{
    const csp_item_t *item = csp_item_of(ref);

    switch (item->left) {
        case CSP_LEFT_FETCH:
            fetch(ref);
            break;
        case CSP_LEFT_ANSWER:
            csp_answer_put(item->user, &item->answer);
            csp_item_free(ref);
            break;
        default:
            csp_pair_free_msg(ref);
    }
}

int csp_pair_left(void)
{
    int n = 0;

    csp_desk_lock();
    desk()->unfreed = 0;
    for (csp_ref_t ref = csp_desk_take_left(); ref; ref = csp_desk_take_left()) {
        do_left(ref);
        n++;
    }
    csp_desk_unlock();
    return n;
}

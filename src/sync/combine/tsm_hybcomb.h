/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * HYBCOMB, combining by messages: a thread sends its operation to the newest registered combiner
 * while that one has room, and otherwise becomes the next combiner itself. Combiners run one at a
 * time, in FIFO order.
 *
 * Source:     thesis on communication and synchronization on manycore processors, section 6.1.3,
 *             algorithm 4, in the form without starvation that its "Additional comments" sketch:
 *             the combiner registers by a swap. Changes: (1) A swap cannot fail, so the node is
 *             opened before it; the published order (line 21 after line 20) leaves a gap in which a
 *             registered thread takes no operation, and each thread that arrives then must combine
 *             alone. (2) departed_combiner (lines 42 to 45) is always the node that the combiner
 *             itself waited on, so there is no such field: as in a CLH lock the combiner keeps its
 *             predecessor's node. (3) A load recognizes a closed node, which saves the fetch-and-add
 *             (line 14) and bounds the count. (4) Members come and go; the nodes belong to the
 *             instance and stay.
 * Threads:    up to TSM_IDS_MAX members at once, as many as the caller gave memory for; threads
 *             register and unregister at any time, also while others wait. One operation of a
 *             member at a time. Operations run on other threads than their callers: no thread-local
 *             data, and no operation on the same instance from inside one.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_HYBCOMB_H_INCLUDED
#define TSM_HYBCOMB_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../mailbox/tsm_mailbox.h"
#include "../tsm_atomic.h"
#include "../tsm_wait.h"
#include "tsm_delegate.h"

/* Messages that a member's mailbox has room for; if there are more, their senders wait. */
#define TSM_HYBCOMB_SLOTS 16

/* The bound that the thesis measures with, and the greatest one that n_ops can count. */
#define TSM_HYBCOMB_MAX_OPS   200
#define TSM_HYBCOMB_OPS_LIMIT (1u << 30)

/* Values of a node's `done`. */
#define TSM_HYBCOMB_WAITING 0
#define TSM_HYBCOMB_PARKED  1
#define TSM_HYBCOMB_DONE    2

typedef struct tsm_hybcomb_node {
    TSM_ATOMIC(uint32_t) n_ops;
    TSM_ATOMIC(uint32_t) done;
    struct tsm_hybcomb_member *owner;
    char pad[TSM_CACHELINE - 2 * sizeof(uint32_t) - sizeof(void *)];
} tsm_hybcomb_node_t;

typedef struct tsm_hybcomb_member {
    tsm_mailbox_t box;
    tsm_hybcomb_node_t *node;                           /* the one to register with next */
    uint32_t id;
    uint32_t busy;
    char pad[TSM_CACHELINE - 2 * sizeof(uint64_t) - sizeof(void *)];
    tsm_mailbox_slot_t slot[TSM_HYBCOMB_SLOTS];
    tsm_hybcomb_node_t first;                           /* some member's node, or the dummy */
} tsm_hybcomb_member_t;

typedef struct tsm_hybcomb {
    TSM_ATOMIC(tsm_hybcomb_node_t *) last;              /* threads that arrive write here ... */
    char pad[TSM_CACHELINE - sizeof(void *)];
    tsm_hybcomb_member_t *members;                      /* ... and no thread here after init */
    uint32_t max_ops;
    char pad2[TSM_CACHELINE - sizeof(void *) - sizeof(uint32_t)];
    tsm_ids_t ids;
    tsm_hybcomb_node_t first;
} tsm_hybcomb_t;

/* A node that takes no operations. */
static inline void tsm_hybcomb_node_init_(tsm_hybcomb_node_t *node, uint32_t max_ops, uint32_t done)
{
    tsm_store(&node->n_ops, max_ops, TSM_RELAXED);
    tsm_store(&node->done, done, TSM_RELAXED);
    node->owner = NULL;
}

/* Make an instance for up to `count` members at once, whose memory the caller provides and keeps as
 * long as the instance is used; align it to TSM_CACHELINE for speed. max_ops: most operations of
 * others that one combiner executes, at least 1. One thread, before any use. */
static inline void tsm_hybcomb_init(tsm_hybcomb_t *comb, tsm_hybcomb_member_t *members,
                                    uint32_t count, uint32_t max_ops)
{
    assert(max_ops >= 1 && max_ops <= TSM_HYBCOMB_OPS_LIMIT && "tsm_hybcomb: max_ops");
    tsm_ids_init(&comb->ids, count);
    comb->members = members;
    comb->max_ops = max_ops;
    tsm_hybcomb_node_init_(&comb->first, max_ops, TSM_HYBCOMB_DONE);
    tsm_store(&comb->last, &comb->first, TSM_RELAXED);
    for (uint32_t i = 0; i < count; i++) {
        tsm_mailbox_init(&members[i].box, members[i].slot, TSM_HYBCOMB_SLOTS);
        tsm_hybcomb_node_init_(&members[i].first, max_ops, TSM_HYBCOMB_WAITING);
        members[i].node = &members[i].first;
        members[i].id = i;
        members[i].busy = 0;
    }
}

/* Become a member; the result is for tsm_hybcomb_apply. With too many members it fails an
 * assertion, or returns NULL where assertions are off. Any thread; lock-free. */
static inline tsm_hybcomb_member_t *tsm_hybcomb_register(tsm_hybcomb_t *comb)
{
    int id = tsm_ids_take(&comb->ids);

    assert(id >= 0 && "tsm_hybcomb: more members than ids");
    return id < 0 ? NULL : &comb->members[id];
}

/* Cease to be a member; not while an operation of this member is under way. Any thread; wait-free;
 * other members may be waiting. */
static inline void tsm_hybcomb_unregister(tsm_hybcomb_t *comb, tsm_hybcomb_member_t *member)
{
    assert(!member->busy && "tsm_hybcomb: unregistered during an operation");
    assert(tsm_mailbox_is_idle(&member->box));
    tsm_ids_give(&comb->ids, member->id);
}

/* Get a place with the owner of this node. Returns 0 if the node is closed or full. */
static inline int tsm_hybcomb_place_(tsm_hybcomb_t *comb, tsm_hybcomb_node_t *node)
{
    /* load first: that mostly saves the write to a closed node */
    if (tsm_load(&node->n_ops, TSM_RELAXED) >= comb->max_ops)
        return 0;
    return tsm_fetch_add(&node->n_ops, 1, TSM_ACQUIRE) < comb->max_ops;
}

/* Have the owner of node, where we have a place, execute the operation. */
static inline uint64_t tsm_hybcomb_ask_(tsm_hybcomb_node_t *node, tsm_hybcomb_member_t *member,
                                        tsm_delegate_fn_t fn, void *arg)
{
    uint64_t request[3] = { (uintptr_t) member, (uintptr_t) fn, (uintptr_t) arg };
    uint64_t result;

    tsm_mailbox_send(&node->owner->box, request, 3);
    tsm_mailbox_receive(&member->box, &result, 1);
    return result;
}

/* Receive one operation, execute it and answer. */
static inline void tsm_hybcomb_serve_(tsm_hybcomb_member_t *member)
{
    uint64_t request[3], result;

    tsm_mailbox_receive(&member->box, request, 3);
    result = tsm_delegate_do(request[1], request[2]);
    tsm_mailbox_send(&((tsm_hybcomb_member_t *) (uintptr_t) request[0])->box, &result, 1);
}

/* Open our node and register it. Returns the node that we must wait for. */
static inline tsm_hybcomb_node_t *tsm_hybcomb_open_(tsm_hybcomb_t *comb,
                                                    tsm_hybcomb_member_t *member)
{
    tsm_hybcomb_node_t *node = member->node;

    /* no thread has waited on the node since us, and one that sees it open also sees its owner */
    tsm_store(&node->done, TSM_HYBCOMB_WAITING, TSM_RELAXED);
    node->owner = member;
    tsm_store(&node->n_ops, 0, TSM_RELEASE);
    return tsm_swap(&comb->last, node, TSM_ACQ_REL);
}

/* The combiner: execute operations of other threads, at most max_ops, and take no more. Once, between
 * begin and end. Waits for threads that have a place but have not sent their operation yet. */
static inline uint32_t tsm_hybcomb_combine(tsm_hybcomb_t *comb, tsm_hybcomb_member_t *member)
{
    uint32_t served = 0, total;

    while (!tsm_mailbox_is_empty(&member->box)) {
        tsm_hybcomb_serve_(member);
        served++;
    }
    total = tsm_swap(&member->node->n_ops, comb->max_ops, TSM_RELAXED);
    if (total > comb->max_ops)
        total = comb->max_ops;
    for (; served < total; served++)
        tsm_hybcomb_serve_(member);
    return served;
}

/* Have fn(arg) executed by a combiner, alone among all operations of this instance, and return NULL
 * with its result in *result; or become the combiner, with fn(arg) not executed yet, and return a
 * token for end. One call of a member at a time; blocking, without starvation. */
static inline tsm_hybcomb_node_t *tsm_hybcomb_begin(tsm_hybcomb_t *comb,
                                                    tsm_hybcomb_member_t *member,
                                                    tsm_delegate_fn_t fn, void *arg,
                                                    uint64_t *result)
{
    tsm_hybcomb_node_t *last = tsm_load(&comb->last, TSM_RELAXED);
    tsm_hybcomb_node_t *prev;

    assert(!member->busy && "tsm_hybcomb: one operation of a member at a time, none from inside");
    member->busy = 1;
    if (tsm_hybcomb_place_(comb, last)) {
        *result = tsm_hybcomb_ask_(last, member, fn, arg);
        member->busy = 0;
        return NULL;
    }
    prev = tsm_hybcomb_open_(comb, member);
    tsm_wait_word(&prev->done, TSM_HYBCOMB_WAITING, TSM_HYBCOMB_PARKED, TSM_WAIT_PARK);
    return prev;
}

/* The combiner leaves. prev: what begin returned. Wait-free. */
static inline void tsm_hybcomb_end(tsm_hybcomb_member_t *member, tsm_hybcomb_node_t *prev)
{
    tsm_hybcomb_node_t *node = member->node;

    /* the successor may still look at our node; no other thread looks at the previous one */
    member->node = prev;
    member->busy = 0;
    tsm_wake_word(&node->done, TSM_HYBCOMB_DONE, TSM_HYBCOMB_PARKED);
}

/* Execute fn(arg), here or on another member's thread, and return its result; all of it from begin
 * to end. */
static inline uint64_t tsm_hybcomb_apply(tsm_hybcomb_t *comb, tsm_hybcomb_member_t *member,
                                         tsm_delegate_fn_t fn, void *arg)
{
    uint64_t result = 0;
    tsm_hybcomb_node_t *prev = tsm_hybcomb_begin(comb, member, fn, arg, &result);

    if (prev != NULL) {
        result = fn(arg);
        tsm_hybcomb_combine(comb, member);
        tsm_hybcomb_end(member, prev);
    }
    return result;
}

/*
 * Invariants: (1) last is the newest registered node; each registered node but the oldest waits for
 *             the one before it, so one thread at a time combines. (2) There is one node more than
 *             there are members. Each member has one; the one left over is done, and is last if
 *             no member is registered (the dummy), else the combiner has waited on it. (3) A node's
 *             n_ops is below max_ops only from its opening, by a member that is about to register,
 *             until that member closes it. (4) A thread that adds 1 to an n_ops below max_ops has a
 *             place: the owner does not leave before it has received and answered that operation.
 *             (5) A member that awaits an answer gets no operations, since its node is closed; so
 *             its mailbox is empty and the answer never waits for room.
 * Progress:   blocking, without starvation: a thread either has a place with a combiner, or waits
 *             in the FIFO order of the swaps. A combiner executes at most max_ops operations of
 *             others and its own. A thread held between its place and its message delays that
 *             combiner.
 *
 *   release                                   acquire
 *   open: store of n_ops = 0 (owner)          fetch-and-add that finds a place, also after others
 *                                             (release sequence)
 *   register: swap of last (done is reset)    register: swap of last by the successor
 *   message with the operation                combiner: receipt (argument, what the caller did)
 *   message with the result                   caller: receipt (result, what the operation did)
 *   leave: swap of done, in tsm_wake_word     next combiner: end of tsm_wait_word (the data of the
 *                                             operations; the node is ours to use again)
 *   The load of last may be relaxed: the fetch-and-add synchronizes with the opening, and nodes are
 *   never freed. The swap that closes n_ops is relaxed: it only counts.
 */

#endif /* TSM_HYBCOMB_H_INCLUDED */

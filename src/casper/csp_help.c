/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_help.h"
#include "csp_match.h"
#include "csp_pair.h"
#include "csp_ring.h"

/* Posts of one user that are taken in a row. */
#define POSTS_IN_A_ROW 64

/* Pairs that are copied before the desk is needed again. */
#define PAIRS_AT_ONCE 8

/* With so many bytes the other user may take the next pair at the same time. A pair is copied in
 * one piece, also by a nonblocking call: in pieces of this size, an exchange of 1 MB took up to 1.2
 * times as long, and one of 4 MB 1.2 to 1.5 times. */
#define BYTES_AT_ONCE 131072

/* Rings that a look covers, beside our own; the next ones with the next look. */
#define RINGS_PER_LOOK 8

static TSM_ATOMIC(unsigned) turn;       /* of csp_node.user[], where the next look begins */

static int has_posts(int i)
{
    return csp_ring_has_entry(&csp_node.user[i].posts) && csp_node_is_mate(i);
}

/* A ring with posts: of another user, among the next ones, or else ours. Ours must not come before the
 * others: what a process that probes posts lies there at each look. */
static int find_posts(int *i)
{
    const int users = csp_node.users;
    unsigned first = tsm_load(&turn, TSM_RELAXED);

    for (unsigned k = 0; k < RINGS_PER_LOOK && k < (unsigned) users; k++) {
        *i = (int) ((first + k) % (unsigned) users);
        if (*i != csp_node.me && has_posts(*i))
            return 1;
    }
    if (users > RINGS_PER_LOOK)
        tsm_store(&turn, (first + RINGS_PER_LOOK) % (unsigned) users, TSM_RELAXED);
    *i = csp_node.me;
    return has_posts(*i);
}

/* Those of ring i, and then ours. The next look begins behind ring i, even if that has more, because a
 * user that sends all the time would keep the posts of others waiting, or if its first post is for the
 * ghost. */
static int take_posts(int i)
{
    csp_post_t other;
    int n = 0;

    if (i != csp_node.me) {
        n = csp_match_posts(i, POSTS_IN_A_ROW, &other);
        tsm_store(&turn, (unsigned) (i + 1) % (unsigned) csp_node.users, TSM_RELAXED);
    }
    return n + csp_match_posts(csp_node.me, POSTS_IN_A_ROW, &other);
}

static int may(const csp_item_t * msg, const csp_item_t * recv)
{
    (void) msg;
    (void) recv;
    return 1;
}

/* At the desk, and gives it up. It is free while pairs are copied, all that are there for us, if
 * they are small. The ghost may begin to use its own memory meanwhile, so only the end of what was
 * begun comes after that. If the desk is taken by then, somebody else does the end: its holder may
 * be stopped, and a nonblocking call must not wait for it. */
static int copy_pairs(void)
{
    csp_ref_t pair[PAIRS_AT_ONCE];
    int n = 0, has_desk;
    uint64_t bytes = 0;

    while (n < PAIRS_AT_ONCE && bytes < BYTES_AT_ONCE && (pair[n] = csp_pair_take(may)) != 0)
        bytes += csp_pair_rest(pair[n++]);
    csp_desk_unlock();
    if (n == 0)
        return 0;
    for (int i = 0; i < n; i++)
        csp_pair_copy(pair[i], UINT64_MAX);
    has_desk = csp_desk_try();
    for (int i = 0; i < n; i++)
        (has_desk ? csp_pair_end : csp_pair_put_aside) (pair[i]);
    if (has_desk)
        csp_desk_unlock();
    return n;
}

int csp_help(void)
{
    uint32_t owed = csp_desk_owed();
    int i, n = 0, reaches = tsm_load(&csp_node.reaches, TSM_RELAXED);
    int has_some = reaches && find_posts(&i);

    if (!reaches || (!has_some && !csp_pair_is_there() && !csp_pair_is_aside()) || !csp_desk_try())
        return 0;
    if (!csp_desk_sees_items()) {
        csp_desk_unlock();
        csp_ring();
        return 0;
    }
    n = csp_pair_end_aside();
    if (csp_node.my_ghost->desk.privates == 0) {
        n += has_some ? take_posts(i) : 0;
        n += copy_pairs();
    } else {
        csp_desk_unlock();
    }
    if (csp_desk_owed() != owed)
        csp_ring();
    return n > 0;
}

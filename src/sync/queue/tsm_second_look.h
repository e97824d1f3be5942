/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The second look: an item whose push was half done when the holder of a lock looked is not forgotten.
 *
 * A push of SWP is two stores: the node becomes the tail, then it is linked to the node before it. A
 * holder that looks between the two finds a queue that is not empty but has nothing to take. It must
 * not wait for the second store, and leaves. The thread that posts tries the lock after that store; if
 * it fails because this same holder has not left yet, neither would look again. So the holder asks for
 * a second look, and a thread that posts and finds this says that there is something to see.
 *
 *     holder: ask, pop; release the lock, is_due?      poster: push; tell; try the lock
 *
 * Source:     not in ICS'19 section 3.4, where an item waits for the next completion call of its
 *             thread. The holder's look after its release is in section.h.
 * Threads:    any number that post, one holder at a time, which may not have asked `is_due` yet when
 *             the next one asks. Threads that post only read the state as long as no holder asks, so
 *             keep it in a line that is seldom written.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_SECOND_LOOK_H_INCLUDED
#define TSM_SECOND_LOOK_H_INCLUDED

#include "../tsm_atomic.h"

typedef TSM_ATOMIC(uint32_t) tsm_second_look_t;

#define TSM_SECOND_LOOK_NONE  0
#define TSM_SECOND_LOOK_ASKED 1
#define TSM_SECOND_LOOK_DUE   2

/* By the holder, which has found nothing to take in a queue that is not empty; it then pops once more.
 * Wait-free, as all calls here. */
static inline void tsm_second_look_ask(tsm_second_look_t * look)
{
    tsm_swap(look, TSM_SECOND_LOOK_ASKED, TSM_SEQ_CST);
}

/* By the holder, which has taken something and so will look again. */
static inline void tsm_second_look_settle(tsm_second_look_t * look)
{
    if (__builtin_expect(tsm_load(look, TSM_RELAXED) != TSM_SECOND_LOOK_NONE, 0))
        tsm_swap(look, TSM_SECOND_LOOK_NONE, TSM_ACQ_REL);
}

/* By the thread that has asked, behind the release of the lock. 1: look again. */
static inline int tsm_second_look_is_due(tsm_second_look_t * look)
{
    return tsm_fetch_add(look, 0, TSM_ACQ_REL) == TSM_SECOND_LOOK_DUE;
}

/* By any thread after its push and before it tries the lock. The queue's pop, behind a seq_cst write of
 * X, must find every item whose thread does not then read the new X (tsm_swp.h, tsm_wfq.h). */
static inline void tsm_second_look_tell(tsm_second_look_t * look)
{
    if (__builtin_expect(tsm_load(look, TSM_SEQ_CST) == TSM_SECOND_LOOK_ASKED, 0))
        tsm_swap(look, TSM_SECOND_LOOK_DUE, TSM_ACQ_REL);
}

/*
 * Invariants: (1) an item whose push is over is taken, or a holder looks again, or the item is behind
 *             one whose push is half done, of a thread that will tell. Let H be the thread
 *             that holds the lock when the poster's try fails, in its last turn: one in which it
 *             takes nothing, or it would look again. If the poster read the state before H asked,
 *             H's pop, which follows, finds the link. If after, the state is DUE before the try, of
 *             this thread or of another one that H's request reached:
 *             then the try finds the lock released, or H finds DUE, unless a later holder has
 *             written the state since. That one took the lock after the try failed; put it in
 *             place of H. (2) Each further turn of a holder that takes nothing answers a store of
 *             DUE by another push.
 * Progress:   wait-free.
 *
 *   seq_cst: the push's last access, the load of tell; the swap of ask, the loads of pop: either tell
 *   reads ASKED or what was written later, or pop finds the link. All other accesses to the state that
 *   matter are read-modify-writes, so of any two the later one has seen what came before the earlier
 *   one. release, acquire: tell with DUE, is_due; is_due, tell with DUE (the release of the lock), and
 *   from there tell that reads this DUE. The item itself passes with the queue. A state that stays
 *   ASKED costs one thread that posts a write; one that stays DUE costs nothing.
 */

#endif /* TSM_SECOND_LOOK_H_INCLUDED */

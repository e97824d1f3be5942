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
 *             the next one asks. A thread that posts reads the state and writes it only if it finds
 *             ASKED, so keep the state in a line that is seldom written, which the threads share.
 * Needs:      of the queue, that the access with which a push makes its item ready for a pop is
 *             seq_cst, and so is the load with which a pop finds that there is none. SWP: the store of
 *             the link in tsm_swp_push_before_tell, and the loads of links. The wait-free queue: the
 *             increase of the tail, and the loads of the tail; it has no half-done push, but a pop
 *             that comes just before the increase. Not for the mailbox.
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

/* By any thread after its push and before it tries the lock. In most cases one load of a word that no
 * thread writes. */
static inline void tsm_second_look_tell(tsm_second_look_t * look)
{
    if (__builtin_expect(tsm_load(look, TSM_SEQ_CST) == TSM_SECOND_LOOK_ASKED, 0))
        tsm_swap(look, TSM_SECOND_LOOK_DUE, TSM_ACQ_REL);
}

/*
 * Invariants: (1) an item whose push is over is taken, or a holder looks again, or a push that is half
 *             done keeps it back, of a thread that will tell: in SWP an item behind the cut, and the
 *             one just before it, which stays because its own link is missing. So let W be the access
 *             that makes ready the item at which the pop stops, P its thread, and H the thread that
 *             holds the lock when P's try fails, in its last turn: one in which it takes nothing, or
 *             it would look again. If H's pop misses W, then in the one order of seq_cst accesses
 *             ask comes before the pop's load, that before W, and W before tell's load. So tell
 *             finds the ASKED of H, or what was written later:
 *              - ASKED. Then P makes it DUE. If H's is_due comes after that, H finds DUE, unless a
 *                later holder has written the state since. If it comes before, P's swap acquires
 *                H's release of the lock, and P's try finds the lock released by H.
 *              - DUE of another thread: the same with its swap, and the load acquires.
 *              - NONE of a later holder, which has taken the lock from H: the load acquires H's
 *                release.
 *             A later holder takes the place of H: if it asks, it acquires W with the state, or is
 *             missed by tell's load as H is; if it has taken something it looks again. (2) Each
 *             further turn of a holder that takes nothing answers a store of DUE by another push,
 *             since ask overwrites DUE.
 * Progress:   wait-free.
 *
 *   All writes are read-modify-writes, and release, so a load or read-modify-write that acquires has
 *   seen what came before all earlier ones. release, acquire: tell with DUE, is_due; is_due, tell (the
 *   release of the lock); settle, tell (the same, by way of the lock). The item itself passes with the
 *   queue. Of a caller with a full fence between its post and its try, and between the release and
 *   is_due, relaxed accesses would do; test/model has both callers.
 *   x86: W is an exchange, so tell's load does not pass it; ask is one, too. ARM, POWER: seq_cst.
 *   settle is for speed alone: in the state ASKED the next thread that posts writes the line.
 */

#endif /* TSM_SECOND_LOOK_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* HYBCOMB (thesis on communication and synchronization on manycore processors, section 6.1.3,
 * algorithm 4): registration with the last combiner, messages to it, the closing of a combiner and
 * the hand-over, with one node more than threads. The numbers are those of the algorithm's lines.
 * Checked: operations exclude each other, each is executed once and answered to its owner, a thread
 * receives only the kind of message that it waits for (lemmas 3 and 5), no thread waits for ever
 * (spin reports an invalid end state). SWAP is the form of src/sync/combine/tsm_hybcomb.h, which
 * registers by a swap with a node that is open already, and goes on with its predecessor's node.
 * The BUG_ macros are mistakes that must be found. */

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef MAX_OPS
#define MAX_OPS 1
#endif

#define NODES (THREADS + 1)
#define DUMMY THREADS

mtype = { REQUEST, RESPONSE };

/* one queue for each thread, as the hardware has it */
chan box[THREADS] = [THREADS] of { mtype, byte };

byte owner[NODES];                  /* node.thread_id */
byte n_ops[NODES] = MAX_OPS;
bool combining_done[NODES];
byte last_registered = DUMMY;
byte departed = DUMMY;

byte inside;                        /* threads that execute an operation */
bool executed[THREADS];             /* since the thread asked */

inline execute(t)
{
    inside++;
    assert(inside == 1);
    assert(!executed[t]);
    executed[t] = true;
    inside--
}

inline serve()                      /* 29-31, 38-40 */
{
    box[me] ? kind, from;
    assert(kind == REQUEST);
    execute(from);
    box[from] ! RESPONSE, me;
    done++
}

proctype thread(byte me)
{
    byte my_node = me, last, old, done, total, from, round;
    mtype kind;

    do
    :: round == ROUNDS -> break
    :: else ->
        executed[me] = false;
#ifdef SWAP
        last = last_registered;
        old = MAX_OPS;
        if
        :: n_ops[last] < MAX_OPS ->
            atomic { old = n_ops[last]; n_ops[last] = (old < MAX_OPS -> old + 1 : MAX_OPS) }
        :: else
        fi;
#else
register:
        last = last_registered;                                         /* 12 */
        atomic {                                                        /* 14 */
            old = n_ops[last];
            /* what is above MAX_OPS is all the same (line 34), so that counting may stop there */
            n_ops[last] = (old < MAX_OPS -> old + 1 : MAX_OPS)
        }
#endif
        if
        :: old < MAX_OPS ->
            from = owner[last];
            box[from] ! REQUEST, me;                                    /* 16 */
            box[me] ? kind, from;                                       /* 17 */
            assert(kind == RESPONSE);
            goto answered
        :: else
        fi;
#ifdef SWAP
        combining_done[my_node] = false;
#ifdef BUG_LATE_OWNER
        n_ops[my_node] = 0;
        owner[my_node] = me;
#else
        owner[my_node] = me;
        n_ops[my_node] = 0;
#endif
        atomic { last = last_registered; last_registered = my_node }
#else
        atomic {                                                        /* 20 */
            if
            :: last_registered == last -> last_registered = my_node
            :: else -> goto register
            fi
        }
#ifndef BUG_EARLY_RESET
        n_ops[my_node] = 0;                                             /* 21 */
#endif
#endif
        combining_done[last];                                           /* 22 */
        execute(me);                                                    /* 26 */
        do                                                              /* 28 */
        :: nempty(box[me]) -> serve()
        :: empty(box[me]) -> break
        od;
#ifdef BUG_TORN_CLOSE
        total = n_ops[my_node];
        n_ops[my_node] = MAX_OPS;
#else
        atomic { total = n_ops[my_node]; n_ops[my_node] = MAX_OPS }     /* 33 */
#endif
        if                                                              /* 34 */
        :: total > MAX_OPS -> total = MAX_OPS
        :: else
        fi;
        do                                                              /* 37 */
        :: done < total -> serve()
        :: else -> break
        od;
#if defined(SWAP)
        old = my_node;
        my_node = last;
        combining_done[old] = true;
#elif defined(BUG_KEEP_NODE)
        combining_done[my_node] = true;
        combining_done[my_node] = false;
#else
        old = my_node;
        my_node = departed;                                             /* 42 */
        departed = old;
        combining_done[my_node] = false;                                /* 43 */
#ifdef BUG_EARLY_RESET
        n_ops[my_node] = 0;
#endif
        owner[my_node] = me;                                            /* 44 */
        combining_done[departed] = true;                                /* 45 */
#endif
answered:
        assert(executed[me]);
        atomic { done = 0; total = 0; old = 0; from = 0; last = 0 }
        round++
    od
}

init {
    byte i;

    atomic {
        for (i : 0 .. THREADS - 1) {
            owner[i] = i;
#ifdef BUG_EARLY_RESET
            n_ops[i] = 0
#endif
        }
        combining_done[DUMMY] = true;
        for (i : 0 .. THREADS - 1) {
            run thread(i)
        }
    }
}

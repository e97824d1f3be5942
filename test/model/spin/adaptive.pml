/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The word and the bell of src/sync/lock/tsm_adaptive.h. Threads take the word by try, or queue
 * and, as the heir, watch (take it if it is free) or claim it and then sleep until a release rings.
 * The queue is a mutex, whose holder is the heir; leaving CLAIMED for the next heir is left open,
 * as the load decides it. The heir's sleep compares the bell as the kernel does. A release that has
 * found ASLEEP may take its time before it rings. Checked: mutual exclusion; no ring is lost
 * (spin reports an invalid end state); a ring finds the heir that it is for, and one at a time; at
 * the end all is as at the beginning. The BUG_ macros are mistakes that must be found. */

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

mtype = { WAITING, PARKED, RUNG };

bool held, claimed, asleep;         /* the bits of the word */
mtype bell = WAITING;
byte heirs, queued, inside, rings;

inline enter()
{
    inside++;
    assert(inside == 1)
}

/* By the heir, in one step with what made it look: the word was free. */
inline take()
{
    assert(!held);
    held = true;
    asleep = false;
    claimed = false;
    if
    :: queued > 1 -> claimed = true
    :: skip
    fi;
    enter()
}

inline park()
{
    atomic {                        /* CAS of the word as it was seen: held and claimed */
        if
        :: held && claimed -> asleep = true; parks = true
        :: else -> parks = false
        fi
    }
    if
    :: parks ->
        atomic {
            if
            :: bell == WAITING -> bell = PARKED
            :: else
            fi
        }
#ifdef BUG_NO_WAIT
        skip;
#else
        bell != PARKED;
        assert(bell == RUNG);
#endif
#ifndef BUG_BELL_STAYS
        bell = WAITING
#endif
    :: else
    fi
}

inline heir()
{
    do
    :: atomic { !held -> take(); break }
    :: atomic { held && !claimed -> claimed = true }
    :: held && claimed -> park()
    od
}

inline release()
{
    bool ring;
#ifdef BUG_TORN_RELEASE
    ring = asleep;
#endif
    atomic {
        inside--;
        assert(held);
        held = false;
#ifndef BUG_TORN_RELEASE
        ring = asleep;
#endif
        rings = rings + ring;
        assert(rings <= 1)
    }
    if
    :: ring ->
#ifdef BUG_RING_IF_PARKED
        if
        :: bell == PARKED -> bell = RUNG
        :: else
        fi;
        rings--
#else
        atomic {
            assert(bell != RUNG);
            bell = RUNG;
            rings--
        }
#endif
    :: else
    fi
}

proctype thread()
{
    byte round;
    bool parks;

    do
    :: round < ROUNDS ->
        if
        :: atomic { !held && !claimed && !asleep -> held = true; enter() }
        :: atomic { queued++ };
            atomic { heirs == 0 -> heirs = 1 };
            heir();
            atomic {
                queued--;
                heirs = 0
            }
        fi;
        release();
        round++
    :: else -> break
    od
}

init {
    byte i;

    atomic {
        for (i : 1 .. THREADS) {
            run thread()
        }
    }
    _nr_pr == 1;
    assert(!held && !claimed && !asleep && bell == WAITING && queued == 0 && rings == 0)
}

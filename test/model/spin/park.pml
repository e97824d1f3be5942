/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* tsm_wait_word and tsm_wake_word of src/sync/tsm_wait.h: several waiters on one word, one waker.
 * Checked: no waiter sleeps for ever (spin reports an invalid end state), a waiter leaves only
 * after the wake, no thread writes the word after a waiter has left and may have freed it. A futex
 * sleep is `asleep`; it may end once for no reason. The BUG_ macros are mistakes that must be
 * found. */

#ifndef WAITERS
#define WAITERS 2
#endif

mtype = { WAITING, PARKED, DONE };

mtype word = WAITING;
bool asleep[WAITERS];
bool left[WAITERS];
bool woken;

#define NOBODY_LEFT (!left[0] && !left[WAITERS - 1])

proctype waiter(byte me)
{
    bool spurious;      /* may be woken for no reason, once */

    if
    :: spurious = false
    :: spurious = true
    fi;
look:
    if
    :: word == DONE -> goto out
    :: else
    fi;
    /* poll a little more, or park */
    if
    :: goto look
    :: skip
    fi;
#ifdef BUG_BLIND_PARK
    assert(NOBODY_LEFT);
    word = PARKED;
#else
    atomic {
        if
        :: word == WAITING -> assert(NOBODY_LEFT); word = PARKED
        :: word == PARKED
        :: else -> goto look
        fi
    }
#endif
sleep:
#ifdef BUG_NO_COMPARE
    asleep[me] = true;
#else
    atomic {            /* the kernel compares and queues in one step */
        if
        :: word == PARKED -> asleep[me] = true
        :: else
        fi
    }
#endif
    if
    :: !asleep[me]
    :: asleep[me] && spurious -> spurious = false; asleep[me] = false
    fi;
    if
    :: word == PARKED -> goto sleep
    :: else -> goto look
    fi;
out:
    assert(woken);
    left[me] = true
}

proctype waker()
{
    mtype old;

#ifdef BUG_STORE
    old = word;
    woken = true;
    word = DONE;
#else
    atomic {
        old = word;
        assert(NOBODY_LEFT);
        woken = true;
        word = DONE
    }
#endif
    if
    :: old == PARKED ->
        /* takes the address only: the waiters may be gone */
        d_step {
            asleep[0] = false;
            asleep[WAITERS - 1] = false
        }
    :: else
    fi
}

init {
    byte i;

    atomic {
        for (i : 0 .. WAITERS - 1) {
            run waiter(i)
        }
        run waker()
    }
}

/* All threads leave. */
ltl leaves { <> (left[0] && left[WAITERS - 1]) }

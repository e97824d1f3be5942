/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Sleeping on one node in src/sync/lock/tsm_clh.h, with the names of the steps there: its owner
 * releases ticket after ticket, for each of which one thread waits, however late it arrives. A store
 * of `released` is `stored` until others see it, at some time, or because of the owner's next
 * exchange. Any ticket may announce that its release exchanges, or not. Checked: no thread sleeps
 * for ever (spin reports an invalid end state), none leaves before the release. A sleep may end once
 * for no reason. The BUG_ macros are mistakes that must be found. */

#ifndef TICKETS
#define TICKETS 3
#endif

byte queued;                        /* the newest ticket that a thread may wait for */
byte stored, released;
byte parked;
bool asleep[TICKETS + 1];
bool announces[TICKETS + 1];

#ifdef BUG_SAME_FLAG
#define FLAG(t) 1
#else
#define FLAG(t) t
#endif

proctype owner()
{
    byte ticket, old, i;

    do
    :: ticket == TICKETS -> break
    :: else ->
        ticket++;
        if
        :: announces[ticket] = true
        :: skip
        fi;
        queued = ticket;
        stored = ticket;            /* R1 */
        if
        :: !announces[ticket] -> goto next
        :: else
        fi;
        atomic {                    /* R2 */
            released = stored;
            old = parked;
            parked = 0
        }
        if
        :: old != 0 ->
            d_step {
                for (i : 1 .. TICKETS) {
                    asleep[i] = false
                }
            }
        :: else
        fi;
next:
        skip
    od
}

/* A store may stay unseen for long, but not for ever. */
proctype memory()
{
    do
    :: atomic { released != stored -> released = stored }
    :: atomic { queued == TICKETS && stored == TICKETS && released == TICKETS -> break }
    od
}

proctype waiter(byte ticket)
{
    bool spurious;

    queued >= ticket;
#ifndef BUG_UNANNOUNCED
    if
    :: !announces[ticket] -> released >= ticket; goto out       /* spins and yields */
    :: else
    fi;
#endif
look:
    if
    :: released >= ticket -> goto out
    :: else
    fi;
    parked = FLAG(ticket);          /* W1 */
#ifndef BUG_NO_SECOND_LOOK
    if
    :: released >= ticket -> goto out   /* W2 */
    :: else
    fi;
#endif
    atomic {                        /* W3; the kernel compares and queues in one step */
        if
        :: parked == FLAG(ticket) -> asleep[ticket] = true
        :: else -> goto look
        fi
    }
    if
    :: !asleep[ticket]
    :: !spurious -> spurious = true; asleep[ticket] = false
    fi;
#ifdef BUG_WAITER_CLEARS
    parked = 0;
#endif
    goto look;
out:
    assert(stored >= ticket)
}

init {
    byte i;

    atomic {
        run owner();
        run memory();
        for (i : 1 .. TICKETS) {
            run waiter(i)
        }
    }
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH-LPW of src/sync/lock/tsm_clh_lpw.h: a CLH queue for each priority and a ticket filter.
 * Parking is left out (park.pml): a waiting thread is blocked until its predecessor's node is
 * granted. Checked: mutual exclusion; go_straight is set exactly while the filter belongs to the
 * high queue; a low thread overtakes a high thread that stands at the filter at most once, with two
 * low threads that come again and again; everybody is served when no more high threads come (spin
 * reports an invalid end state). HIGH and LOW are the numbers of threads, TRIES: they try first.
 * The BUG_ macros are mistakes that must be found. */

#ifndef HIGH
#define HIGH 2
#endif
#ifndef LOW
#define LOW 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define THREADS (HIGH + LOW)
#define NODES   (THREADS + 2)
#define FREE    16                  /* the bit in a tail */
#define NO_NODE 31

/* queue 0: high, 1: low */
byte tail[2];
bool granted[NODES];                /* status of a node */
byte next_ticket, serving;
bool go_straight;

byte holders;
bool at_filter;                     /* a high thread has drawn its ticket and waits */
byte overtaken;
bool low_straight;                  /* BUG_LOW_STRAIGHT: low threads pass the filter on, too */

inline clh_acquire(q)
{
    granted[node] = false;
    d_step { pred = tail[q]; tail[q] = node }
    if
    :: pred >= FREE -> pred = pred - FREE
    :: else -> granted[pred]
    fi
}

/* try: goes on at `failed` if not free */
inline clh_try(q)
{
    pred = tail[q];
    if
    :: pred < FREE -> goto failed
    :: else
    fi;
    granted[node] = false;
    atomic {
        if
        :: tail[q] == pred -> tail[q] = node
        :: else -> goto failed
        fi
    }
    pred = pred - FREE
}

inline clh_release(q)
{
    old = node;
    node = pred;
    pred = 0;
    last = (tail[q] == old);
    if
    :: last ->
        atomic {
            if
            :: tail[q] == old -> tail[q] = old + FREE; last = true
            :: else -> last = false
            fi
        }
    :: else
    fi;
    if
    :: !last -> granted[old] = true
    :: else
    fi
}

inline ticket_acquire(is_high)
{
    d_step {
        ticket = next_ticket;
        next_ticket++;
        if
        :: is_high -> at_filter = true; overtaken = 0
        :: else
        fi
    }
    atomic {
        serving == ticket;
        if
        :: is_high -> at_filter = false
        :: !is_high && at_filter -> overtaken++; assert(overtaken <= 1)
        :: else
        fi
    }
}

/* try: leaves in `taken` whether it is ours */
inline ticket_try()
{
    ticket = serving;
    if
    :: next_ticket == ticket ->
        d_step {
            if
            :: next_ticket == ticket -> next_ticket++; taken = true
            :: else -> taken = false
            fi
        }
    :: else -> taken = false
    fi
}

inline critical()
{
    holders++;
    assert(holders == 1);
    holders--
}

proctype high(byte number)
{
    byte node = number, pred, old, ticket, round;
    bool last, taken;

    do
    :: round == ROUNDS -> break
    :: else ->
#ifdef TRIES
        clh_try(0);
        ticket_try();
        if
        :: taken -> go_straight = true; goto held
        :: else -> clh_release(0)
        fi;
failed:
#endif
        clh_acquire(0);
        if
        :: !go_straight -> ticket_acquire(true); go_straight = true
        :: else
        fi;
held:
        critical();
        assert(go_straight);
#ifdef BUG_FALSE_WAITER
        if
        :: last = true
        :: last = false
        fi;
#else
        last = (tail[0] == node);
#endif
        if
        :: last ->
#ifndef BUG_LATE_FLAG
            go_straight = false;
#endif
            serving++
#ifdef BUG_LATE_FLAG
            ;
            go_straight = false
#endif
        :: else
        fi;
        clh_release(0);
        round++
    od
}

proctype low(byte number)
{
    byte node = number, pred, old, ticket, round;
    bool last, taken;

    do
    :: round == ROUNDS -> break
    :: else ->
#ifdef TRIES
        clh_try(1);
        ticket_try();
        if
        :: taken -> goto held
        :: else -> clh_release(1)
        fi;
failed:
#endif
        clh_acquire(1);
#ifdef BUG_LOW_STRAIGHT
        if
        :: low_straight && at_filter -> overtaken++; assert(overtaken <= 1)
        :: low_straight && !at_filter
        :: else -> ticket_acquire(false)
        fi;
        low_straight = false;
#else
        ticket_acquire(false);
#endif
held:
        critical();
        assert(!go_straight);
#ifdef BUG_LOW_STRAIGHT
        if
        :: tail[1] == node -> serving++
        :: else -> low_straight = true
        fi;
#else
        serving++;
#endif
        clh_release(1);
        round++
    od
}

init {
    byte i;

    atomic {
        tail[0] = THREADS + FREE;
        tail[1] = THREADS + 1 + FREE;
        for (i : 0 .. HIGH - 1) {
            run high(i)
        }
        for (i : HIGH .. THREADS - 1) {
            run low(i)
        }
    }
}

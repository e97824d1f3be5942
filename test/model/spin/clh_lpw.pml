/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH-LPW of src/sync/lock/tsm_clh_lpw.h: a CLH queue for each priority and a ticket filter.
 * Parking is left out (clh_park.pml): a waiting thread is blocked until the ticket that it found in
 * the tail is released. Checked: mutual exclusion; go_straight is set exactly while the filter
 * belongs to the high queue; a low thread overtakes a high thread that waits for the filter at most
 * once, with two low threads that return again and again; every thread is served when no more high
 * threads arrive (spin reports an invalid end state). HIGH and LOW are the numbers of threads, TRIES:
 * they try first. The BUG_ macros are mistakes that must be found. */

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
#define STEP    (THREADS + 1)       /* a ticket is sequence number times STEP plus node */
#define NODE(t) (t % STEP)

/* queue 0: high, 1: low */
byte tail[2];
byte released[STEP];                /* ticket of a node */
byte next_ticket, serving;
bool go_straight;

byte holders;
bool at_filter;                     /* a high thread has drawn its ticket and waits */
byte overtaken;
bool low_straight;                  /* BUG_LOW_STRAIGHT: low threads pass the filter on, too */

inline clh_acquire(q)
{
    mine = mine + STEP;
    d_step { pred = tail[q]; tail[q] = mine }
    released[NODE(pred)] >= pred;
    pred = 0
}

/* try: goes on at `failed` if not free */
inline clh_try(q)
{
    pred = tail[q];
    if
    :: released[NODE(pred)] < pred -> goto failed
    :: else
    fi;
    atomic {
        if
        :: tail[q] == pred -> mine = mine + STEP; tail[q] = mine
        :: else -> goto failed
        fi
    }
    pred = 0
}

inline clh_release()
{
    released[NODE(mine)] = mine
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
    byte mine = number, pred, ticket, round;
    bool last, taken;

    do
    :: round == ROUNDS -> break
    :: else ->
#ifdef TRIES
        ticket_try();
        if
        :: !taken -> goto passed
        :: else
        fi;
        clh_try(0);
        go_straight = true;
        goto held;
failed:
        serving++;
passed:
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
        if
        :: last = (tail[0] == mine)
        :: last = true                  /* the run of high threads has reached its bound */
        fi;
#endif
        if
        :: last ->
#ifndef BUG_LATE_FLAG
            go_straight = false;
#endif
            clh_release();
            serving++
#ifdef BUG_LATE_FLAG
            ;
            go_straight = false
#endif
        :: else -> clh_release()
        fi;
        round++
    od
}

proctype low(byte number)
{
    byte mine = number, pred, ticket, round;
    bool last, taken;

    do
    :: round == ROUNDS -> break
    :: else ->
#ifdef TRIES
        clh_try(1);
        ticket_try();
        if
        :: taken -> goto held
        :: else -> clh_release()
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
        :: tail[1] == mine -> serving++
        :: else -> low_straight = true
        fi;
#else
        serving++;
#endif
        clh_release();
        round++
    od
}

init {
    byte i;

    atomic {
        for (i : 1 .. THREADS) {
            released[i] = i
        }
        for (i : 1 .. HIGH) {
            run high(i)
        }
        for (i : HIGH + 1 .. THREADS) {
            run low(i)
        }
    }
}

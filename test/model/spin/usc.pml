/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The user-space condition of src/sync/tsm_usc.h. Thread 0 waits for any of two requests and, with
 * AGAIN, then for the other one with the same waiter; threads 1 and 2 wait for one request each.
 * All wait in one set, or with TWO_SETS thread 0 in both and the others in one of them. Every
 * thread polls before it sleeps. Of those that wait in a set one is the server and polls, the
 * others sleep. A completion takes the waiter out of the request's slot and wakes it, at once or,
 * with PROMISE, at any time until its own wait is over. With NEVER=t the last request of thread t
 * never completes. Checked: no sleeper without a server (NO_ORPHAN), no waiter is touched after it
 * is settled (USE), one server for each set, which is awake or has been woken, and at the end every
 * thread whose requests can complete has returned. The BUG_ macros are mistakes that must be
 * found. */

#define THREADS  3
#define REQUESTS 4
#define NONE     7

#ifndef NEVER
#define NEVER NONE
#endif
#ifdef TWO_SETS
#define SETS 2
#define SET_OF(r) (r % 2)
#define IN(t, s)  (t == 0 || t == s + 1)
#else
#define SETS 1
#define SET_OF(r) 0
#define IN(t, s)  (s < SETS)
#endif

/* request r belongs to OWNER(r); thread t has the requests FIRST(t) .. LAST(t) */
#define FIRST(t) (t == 0 -> 0 : t + 1)
#define LAST(t)  (t + 1)

bool complete[REQUESTS];
byte pointer[REQUESTS] = NONE;      /* the slots */
byte count[THREADS];                /* takers that have finished */
byte taken[THREADS];                /* takers that the owner knows of */
byte begun[THREADS];                /* count when the sleep began */
bool asleep[THREADS];
bool gone[THREADS];                 /* settled, and the waiter given back */
bool returned[THREADS];
byte server[SETS] = NONE;
bool queued[6];                     /* [set * THREADS + thread]; the elected thread is left open */
#define Q(s, t) queued[(s) * THREADS + (t)]

#define SLEEPERS(s) (Q(s, 0) || Q(s, 1) || Q(s, 2))
#define NO_ORPHAN(s) assert(!SLEEPERS(s) || server[s] != NONE)
#define USE(t) assert(!gone[t])
#define IS_NEVER(r) (NEVER != NONE && r == LAST(NEVER))
#define DONE(t) ((complete[FIRST(t)] -> 1 : 0) + (t == 0 && complete[1] -> 1 : 0))
#define SATISFIED(t) (DONE(t) >= wanted)

/* A sleep begins. Only differences between the counts matter, so they begin at 0 if they can. */
inline begin()
{
    atomic {
        if
        :: count[me] == taken[me] -> count[me] = 0; taken[me] = 0
        :: else
        fi;
        begun[me] = count[me]
    }
}

/* Wake t, as the last access to it. */
inline wake(t)
{
    d_step {
        USE(t);
        count[t]++
    }
}

inline elected_wake(t)
{
#ifdef BUG_FIRST_WAKES
    /* relies on a completer that has taken the waiter before, as it may have promised */
    d_step {
        if
        :: promised[t] -> taken[t]--        /* it counts one only */
        :: else -> count[t]++
        fi
    }
#else
    wake(t)
#endif
}

#ifdef BUG_FIRST_WAKES
bool promised[THREADS];
#endif

#define CAN_POLL(r) (!complete[r] && !IS_NEVER(r) && IN(me, SET_OF(r)))

inline pay()
{
    if
    :: owes != NONE ->
#ifdef BUG_FIRST_WAKES
        promised[owes] = false;
#endif
        wake(owes);
        owes = NONE
    :: else
    fi
}

/* One poll that finds something; executable only if something can complete. */
inline poll()
{
    atomic {
        if
        :: CAN_POLL(0) -> r = 0
        :: CAN_POLL(1) -> r = 1
        :: CAN_POLL(2) -> r = 2
        :: CAN_POLL(3) -> r = 3
        fi;
        complete[r] = true
    }
    pay();
    d_step {
        owes = pointer[r];
        pointer[r] = NONE;
        r = 0;
#ifdef BUG_FIRST_WAKES
        if
        :: owes != NONE -> promised[owes] = true
        :: else
        fi
#endif
    }
    if
    :: pay()
#ifdef PROMISE
    :: skip
#endif
    fi
}

inline usc_join(s)
{
    atomic {
        if
        :: server[s] == NONE -> server[s] = me; serves[s] = true
        :: else -> Q(s, me) = true; joined[s] = true
        fi;
        NO_ORPHAN(s)
    }
}

inline usc_leave(s)
{
    atomic {
        assert(server[s] == me);
        serves[s] = false;
#ifdef BUG_NO_ELECTION
        server[s] = NONE;
#else
        if
        :: Q(s, 0) -> server[s] = 0
        :: Q(s, 1) -> server[s] = 1
        :: Q(s, 2) -> server[s] = 2
        :: !SLEEPERS(s) -> server[s] = NONE
        fi;
        other = server[s];
        if
        :: other != NONE -> Q(s, other) = false
        :: else
        fi;
#endif
        NO_ORPHAN(s)
    }
    if
    :: other != NONE -> elected_wake(other)
    :: else
    fi;
    other = NONE
}

inline usc_rejoin(s)
{
    atomic {
        if
        :: server[s] == me -> serves[s] = true; taken[me]++
        :: else -> Q(s, me) = false
        fi;
        joined[s] = false;
        NO_ORPHAN(s)
    }
}

inline register(i)
{
    if
    :: !complete[i] ->
        atomic { assert(pointer[i] == NONE); pointer[i] = me; listed[i - FIRST(me)] = true };
        found = found || complete[i]
    :: else -> found = true
    fi
}

inline unregister(i)
{
    d_step {
        if
        :: listed[i - FIRST(me)] && pointer[i] == NONE -> taken[me]++
        :: listed[i - FIRST(me)] && pointer[i] != NONE -> pointer[i] = NONE
        :: else
        fi;
        listed[i - FIRST(me)] = false
    }
}

/* What to sleep for: what is not complete; the first look is no more than a hint. */
inline enlist()
{
    if
    :: me == 0 && wanted == 2 && complete[0] -> register(1)
    :: me == 0 && wanted == 2 && !complete[0] -> register(0)
    :: me == 0 && wanted == 1 -> register(0); register(1)
    :: me != 0 -> register(me + 1)
    fi
}

inline sleep_or_serve()
{
#ifndef BUG_LATE_BEGIN
    begin();
#endif
    s = 0;
    do
    :: s < SETS && IN(me, s) && !serves[0] && !serves[SETS - 1] -> usc_join(s); s++
    :: s < SETS && !IN(me, s) -> s++
    :: s == SETS || (IN(me, s) && (serves[0] || serves[SETS - 1])) -> break
    od;
    if
    :: !serves[0] && !serves[SETS - 1] ->
#ifdef BUG_LATE_BEGIN
        begin();
#endif
        enlist();
        asleep[me] = true;
        if
#ifndef BUG_NO_LAST_LOOK
        :: found
#endif
        :: count[me] != begun[me]
        fi;
        asleep[me] = false;
        unregister(FIRST(me));
        if
        :: me == 0 -> unregister(1)
        :: else
        fi
    :: else
    fi;
    s = 0;
    do
    :: s < SETS && joined[s] -> usc_rejoin(s); s++
    :: s < SETS && !joined[s] -> s++
    :: s == SETS -> break
    od;
    atomic {
        found = false;
        s = 0
    }
}

inline settle()
{
#ifndef BUG_NO_SETTLE
    count[me] == taken[me];
#endif
    gone[me] = true
}

proctype thread(byte me)
{
    bool serves[SETS], joined[SETS], listed[2], found;
    byte r, s, wanted = 1, owes = NONE, other = NONE;

#ifdef AGAIN
again:
#endif
    /* a server that finds nothing waits here, the others do not */
end:
    do
    :: SATISFIED(me) -> break
    :: poll()
    :: !SATISFIED(me) && !serves[0] && !serves[SETS - 1] -> sleep_or_serve()
    od;
    if
    :: serves[0] -> usc_leave(0)
    :: else
    fi;
#ifdef TWO_SETS
    if
    :: serves[1] -> usc_leave(1)
    :: else
    fi;
#endif
    pay();
    if
#ifdef AGAIN
    :: me == 0 && wanted == 1 -> wanted = 2; goto again
#endif
    :: else
    fi;
    settle();
    returned[me] = true
}

#ifdef AGAIN
#define HANGS NEVER                 /* the thread that cannot return */
#else
#define HANGS (NEVER == 0 -> NONE : NEVER)
#endif
#define CAN_RETURN(t) (HANGS != t)

/* When nothing can happen any more: a thread that has not returned waits for what never completes,
 * as the server or asleep. No elected thread is asleep. */
proctype monitor()
{
end:
    timeout;
    assert(returned[0] || !CAN_RETURN(0));
    assert(returned[1] || !CAN_RETURN(1));
    assert(returned[2] || !CAN_RETURN(2));
#if NEVER != NONE
    assert(HANGS == NONE || (!asleep[NEVER] && (server[0] == NEVER || server[SETS - 1] == NEVER)));
#endif
    NO_ORPHAN(0)
}

init {
    atomic {
        run thread(0);
        run thread(1);
        run thread(2);
        run monitor()
    }
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The hand-over of src/ch4/ch4_usc.c: threads wait for requests; one of those that wait is the
 * server and polls, the others sleep; a completion takes the waiter out of its request and wakes
 * it; the server elects its successor. Thread 0 waits for any of two requests, the others for one
 * each; all poll themselves before they sleep. With NEVER=t the last request of thread t never
 * completes. Checked: no sleeper without a server (NO_ORPHAN), nobody is touched after it has left
 * its wait (USE), one server at a time, and at the end everybody whose request can complete has
 * returned. The BUG_ macros are mistakes that must be found. */

#define THREADS  3
#define REQUESTS 4
#define NONE     7

#ifndef NEVER
#define NEVER NONE
#endif

/* request r belongs to thread OWNER(r); thread t has the requests FIRST(t) .. LAST(t) */
#define FIRST(t) (t == 0 -> 0 : t + 1)
#define LAST(t)  (t + 1)

mtype = { AWAKE, ASLEEP };

bool complete[REQUESTS];
byte pointer[REQUESTS] = NONE;      /* dev.tsm.waiter */
byte takers[THREADS];
mtype sleep[THREADS] = AWAKE;
bool inside[THREADS];               /* from join to the end of sleep_or_serve */
bool returned[THREADS];
byte server = NONE;
bool queued[THREADS];               /* sleepers; which of them is elected is left open */
byte serving;                       /* threads that act as the server */

#define SLEEPERS (queued[0] || queued[1] || queued[2])
#define NO_ORPHAN assert(!SLEEPERS || server != NONE)
#define USE(t) assert(inside[t])
#define IS_NEVER(r) (NEVER != NONE && r == LAST(NEVER))
#define SATISFIED(t) (complete[FIRST(t)] || complete[LAST(t)])

/* First taker wakes; `mine` says whether that is the caller. */
inline take(t)
{
    d_step {
        USE(t);
        mine = (takers[t] == 0);
#ifdef BUG_ALL_WAKE
        mine = true;
#endif
        takers[t]++
    }
}

inline wake(t)
{
    d_step {
        USE(t);
        sleep[t] = AWAKE
    }
}

/* One poll that finds something; executable only if something can complete. */
inline poll()
{
    atomic {
        if
        :: !complete[0] && !IS_NEVER(0) -> found_request = 0
        :: !complete[1] && !IS_NEVER(1) -> found_request = 1
        :: !complete[2] && !IS_NEVER(2) -> found_request = 2
        :: !complete[3] && !IS_NEVER(3) -> found_request = 3
        fi;
        complete[found_request] = true
    }
    d_step {
        other = pointer[found_request];
        pointer[found_request] = NONE;
        found_request = 0
    }
    if
    :: other != NONE ->
        take(other);
        if
        :: mine -> wake(other)
        :: else
        fi
    :: else
    fi;
    other = NONE;
    mine = false
}

inline usc_join()
{
    atomic {
        if
        :: server == NONE -> server = me; serving++; assert(serving == 1); serve = true
        :: else -> takers[me] = 0; sleep[me] = ASLEEP; inside[me] = true; queued[me] = true
        fi;
        NO_ORPHAN
    }
}

inline usc_leave()
{
    atomic {
        assert(server == me);
        serving--;
#ifdef BUG_NO_ELECTION
        server = NONE;
#else
        if
        :: queued[0] -> server = 0
        :: queued[1] -> server = 1
        :: queued[2] -> server = 2
        :: !SLEEPERS -> server = NONE
        fi;
        if
        :: server != NONE ->
            other = server;
            queued[other] = false;
            take(other)
        :: else
        fi;
#endif
        NO_ORPHAN
    }
    if
    :: mine -> wake(other)
    :: else
    fi;
    other = NONE;
    mine = false
}

/* Take the pointer of r back, or count who has taken it. */
inline unregister(r)
{
    d_step {
        if
        :: pointer[r] == NONE -> counted++
        :: else -> pointer[r] = NONE
        fi
    }
}

inline sleep_or_serve()
{
    usc_join();
    if
    :: !serve ->
        r = FIRST(me);
        do
        :: r <= LAST(me) ->
            pointer[r] = me;
            found = found || complete[r];
            r++
        :: else -> break
        od;
        if
#ifndef BUG_NO_LAST_LOOK
        :: found
        :: !found && sleep[me] == AWAKE
#else
        :: sleep[me] == AWAKE
#endif
        fi;
        r = FIRST(me);
        do
        :: r <= LAST(me) -> unregister(r); r++
        :: else -> break
        od;
        atomic {
            if
            :: server == me -> serve = true; counted++; serving++; assert(serving == 1)
            :: else -> queued[me] = false
            fi;
            NO_ORPHAN
        }
        if
        :: counted > 0 ->
            sleep[me] == AWAKE;
#ifndef BUG_NO_COUNT
            takers[me] == counted
#endif
        :: else
        fi;
        d_step {
            inside[me] = false;
            counted = 0;
            found = false;
            r = 0
        }
    :: else
    fi
}

proctype thread(byte me)
{
    bool serve, found, mine;
    byte r, counted, found_request, other = NONE;

    /* a server that finds nothing waits here, the others do not */
end:
    do
    :: SATISFIED(me) -> break
    :: poll()
    :: !SATISFIED(me) && !serve -> sleep_or_serve()
    od;
    if
    :: serve -> usc_leave()
    :: else
    fi;
    returned[me] = true
}

#define ENDED(t) (returned[t] || (NEVER == t && server == t) || !SATISFIED(t))

/* When nothing can happen any more. */
proctype monitor()
{
end:
    timeout;
    assert(ENDED(0) && ENDED(1) && ENDED(2));
    assert(NEVER != NONE || (returned[0] && returned[1] && returned[2]));
    assert(NEVER == NONE || returned[NEVER] || server == NEVER);
    NO_ORPHAN
}

init {
    atomic {
        run thread(0);
        run thread(1);
        run thread(2);
        run monitor()
    }
}

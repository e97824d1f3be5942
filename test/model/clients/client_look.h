/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CLIENT_LOOK_H_INCLUDED
#define CLIENT_LOOK_H_INCLUDED

/* LockQ's posts, as in src/ch4/section/section.{c,h}: a thread pushes, tells, tries the lock and goes;
 * a thread that releases the lock then looks at the queue, behind a fence. No item is forgotten, also
 * if a holder looks while a push is half done. The client defines before, for its queue:
 *   void push(int i)       append item i, as a thread that then tells
 *   int pop(void)          take an item that can be taken: 1, or 0 if there is none
 *   int has_posted(void)   0 if the queue is empty
 *   void take_all(void)    take all that was pushed before, and count it in `taken`
 * and for its lock
 *   int lock_try(int me), void lock_acquire(int me), void lock_release(int me)
 * for the thread number `me`. LOOK_FENCE() may replace the caller's fence. */

#include "client.h"
#include "queue/tsm_second_look.h"

static void push(int i);
static int pop(void);
static int has_posted(void);
static void take_all(void);
static int lock_try(int me);
static void lock_acquire(int me);
static void lock_release(int me);

static tsm_second_look_t look;
static int taken;

static int take(void)
{
    int n = 0;

    while (pop())
        n++;
    taken += n;
    return n;
}

/* issue_or_ask */
static int take_or_ask(void)
{
    int n = take();

    if (n == 0) {
        tsm_second_look_ask(&look);
        return take();
    }
    tsm_second_look_settle(&look);
    return n;
}

/* GCC's ThreadSanitizer does not know a fence; the checker does. */
#ifndef LOOK_FENCE
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wtsan"
#define LOOK_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

/* MPIDI_section_release and MPIDI_SECTION_FENCE */
static void leave(int me)
{
    lock_release(me);
    LOOK_FENCE();
}

/* With the lock. 0: a thread in the middle of its post tries the lock afterwards. */
static int turn(int me)
{
    int n = take_or_ask();

    leave(me);
    return n > 0 || tsm_second_look_is_due(&look);
}

/* MPIDI_section_help */
static void help(int me)
{
    while (has_posted() && lock_try(me) && turn(me));
}

/* MPIDI_lockq_post_op */
static inline void *look_posts(void *arg)
{
    int me = (int) (intptr_t) arg;

    push(me);
    tsm_second_look_tell(&look);
    LOOK_FENCE();
    help(me);
    return NULL;
}

/* MPIDI_section_leave_last_ */
static void leave_and_look(int me)
{
    leave(me);
    if (has_posted())
        help(me);
}

/* MPIDI_section_try, and an operation of its own */
static inline void *look_tries(void *arg)
{
    int me = (int) (intptr_t) arg;

    if (lock_try(me)) {
        client_critical();
        leave_and_look(me);
    }
    return NULL;
}

/* MPIDI_section_enter_first */
static inline void *look_enters(void *arg)
{
    int me = (int) (intptr_t) arg;

    lock_acquire(me);
    if (has_posted())
        take_all();
    client_critical();
    leave_and_look(me);
    return NULL;
}

#endif /* CLIENT_LOOK_H_INCLUDED */

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
 * and LOOK_LOCK, a lock: tsm_LOCK_t and the calls tsm_LOCK_try, _acquire and _release. LOOK_FENCE() may
 * replace the caller's fence. */

#include "client.h"
#include "queue/tsm_second_look.h"

#define LOOK_PASTE_(lock_, call_) tsm_##lock_##_##call_
#define LOOK_PASTE(lock_, call_) LOOK_PASTE_(lock_, call_)
#define LOOK_CALL(call_) LOOK_PASTE(LOOK_LOCK, call_)

static void push(int i);
static int pop(void);
static int has_posted(void);
static void take_all(void);

static LOOK_CALL(t) lock;
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
#pragma GCC diagnostic ignored "-Wtsan"
#define LOOK_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

/* MPIDI_section_release and MPIDI_SECTION_FENCE */
static void leave(void)
{
    LOOK_CALL(release)(&lock);
    LOOK_FENCE();
}

/* With the lock. 0: a thread in the middle of its post tries the lock afterwards. */
static int turn(void)
{
    int n = take_or_ask();

    leave();
    return n > 0 || tsm_second_look_is_due(&look);
}

/* MPIDI_section_help */
static void help(void)
{
    while (has_posted() && LOOK_CALL(try)(&lock) && turn());
}

/* MPIDI_lockq_post_op */
static inline void *look_posts(void *arg)
{
    push((int) (intptr_t) arg);
    tsm_second_look_tell(&look);
    LOOK_FENCE();
    help();
    return NULL;
}

/* MPIDI_section_leave_last_ */
static void leave_and_look(void)
{
    leave();
    if (has_posted())
        help();
}

/* MPIDI_section_try, and an operation of its own */
static inline void *look_tries(void *arg)
{
    (void) arg;
    if (LOOK_CALL(try)(&lock)) {
        client_critical();
        leave_and_look();
    }
    return NULL;
}

/* MPIDI_section_enter_first */
static inline void *look_enters(void *arg)
{
    (void) arg;
    LOOK_CALL(acquire)(&lock);
    if (has_posted())
        take_all();
    client_critical();
    leave_and_look();
    return NULL;
}

#endif /* CLIENT_LOOK_H_INCLUDED */

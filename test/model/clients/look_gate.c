/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with SWP and the ticket lock behind a gate: a try fails while threads queue there. The
 * gate is closed at first, and again by a thread that then goes away. See client_look.h. */

#include "client.h"
#include "lock/tsm_gated.h"

#define LOOK_ITEMS 1
#define LOOK_FEW 3
#define LOOK_BODIES look_posts, closes, look_enters, look_enters
#define LOOK_INIT() init()

static tsm_gated_ticket_t lock;

/* The favoured thread is none of ours. */
static void *closes(void *arg)
{
    tsm_store(&lock.gate.favoured, 1, TSM_RELAXED);
    return arg;
}

static void init(void)
{
    tsm_gated_ticket_init(&lock);
    closes(NULL);
}

#include "client_look_swp.h"

static int lock_try(int me)
{
    (void) me;
    return tsm_gated_ticket_try(&lock);
}

static void lock_acquire(int me)
{
    (void) me;
    tsm_gated_ticket_acquire(&lock);
}

static void lock_release(int me)
{
    (void) me;
    tsm_gated_ticket_release(&lock);
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ, with the files of src/ch4 themselves: two threads issue two operations each, which go out in
 * the order of their calls, others poll and flush. No operation is left when all have returned, though
 * nobody calls afterwards, and a flush has issued what its thread has posted before. */

#include "client_section.h"

#define OPS 2

static int next_of[CLIENT_THREADS];     /* the operation of each thread that comes next */
static int inside;

/* tag: thread and operation */
static void issued(int tag)
{
    assert(inside++ == 0);
    assert(next_of[tag / OPS] == tag % OPS && "an operation has overtaken another one");
    next_of[tag / OPS]++;
    inside--;
}

static void *issues(void *arg)
{
    issue_all(arg, OPS);
    return NULL;
}

static void *flushes(void *arg)
{
    begin(arg);
    issue(client_me * OPS);
    flush();
    /* not as the holder that it was */
    if (!MPIDI_section_enter_once(VCI_LOCK))
        abort();
    assert(next_of[client_me] == 1);
    MPIDI_section_exit(VCI_LOCK);
    return NULL;
}

static void *polls(void *arg)
{
    begin(arg);
    poll();
    return NULL;
}

int main(void)
{
    void *(*const body[])(void *) = { issues, flushes, issues, polls };
    const int n = client_pick(4, 2);
    int done = 0;

    client_begin();
    client_team(n, body);
    for (int i = 0; i < CLIENT_THREADS; i++)
        done += next_of[i];
    assert(done == client_pick(2 * OPS + 1, OPS + 1) && "an operation is left");
    return 0;
}

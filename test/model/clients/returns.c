/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Returned cells: two threads give, the owner takes, and hands the first cell that comes back to
 * the first of them again. What a thread did to a cell before it gave it is over when the owner
 * gets it; no cell is lost or comes twice. */

#include "client.h"
#include "queue/tsm_returns.h"

#include <sched.h>

#define CELLS 3
#define OWNER 2
#define NOBODY (-1)

static union {
    tsm_returns_t returns;
    char room[sizeof(tsm_returns_t) + CELLS * sizeof(uint32_t)];
} memory;
static tsm_returns_own_t own;
static uint32_t used[CELLS + 1];        /* room for a power of two */
static int user[CELLS];         /* who has the cell: a giver's number, OWNER, or NOBODY */
static TSM_ATOMIC(uint32_t) again;      /* the cell handed over + 1 */

static void give(int me, uint32_t cell)
{
    assert(user[cell] == me);
    user[cell] = NOBODY;
    tsm_returns_give(&memory.returns, cell);
}

static void *gives_twice(void *arg)
{
    int me = (int) (intptr_t) arg;
    uint32_t cell;

    give(me, 0);
    while ((cell = tsm_load(&again, TSM_ACQUIRE)) == 0)
        sched_yield();
    give(me, cell - 1);
    return NULL;
}

static void *gives(void *arg)
{
    int me = (int) (intptr_t) arg;

    give(me, 1);
    if (client_pick(1, 0))
        give(me, 2);
    return NULL;
}

static uint32_t take(void)
{
    uint32_t cell;

    tsm_returns_collect(&memory.returns, &own, NULL, NULL);
    while ((cell = tsm_returns_take_newest(&own, 0)) == TSM_RETURNS_NONE) {
        sched_yield();
        tsm_returns_collect(&memory.returns, &own, NULL, NULL);
    }
    assert(cell < CELLS && user[cell] == NOBODY);
    user[cell] = OWNER;
    return cell;
}

static void *takes(void *arg)
{
    uint32_t cell = take();

    (void) arg;
    user[cell] = 0;
    tsm_store(&again, cell + 1, TSM_RELEASE);
    for (int i = 0; i < client_pick(3, 2); i++)
        cell = take();
    user[cell] = NOBODY;
    tsm_returns_keep(&own, cell);
    assert(take() == cell);
    assert(tsm_returns_take_newest(&own, 0) == TSM_RETURNS_NONE);
    return NULL;
}

static void *(*const bodies[])(void *) = { gives_twice, gives, takes };

int main(void)
{
    tsm_returns_init(&memory.returns, CELLS, &own, used);
    for (uint32_t i = 0; i < CELLS; i++)
        assert(tsm_returns_take_newest(&own, 0) < CELLS);
    user[1] = user[2] = 1;      /* the other one is the first thread's */
    client_team(3, bodies);
    return 0;
}

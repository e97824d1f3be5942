/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* HYBCOMB: a node is opened again while a thread still means to join its former owner. `last` is
 * the node of `first`, who is about to combine; `joins` may have read it when first leaves, `reopens`
 * combines after first, takes over the node and opens it for its second operation. joins may then
 * get a place before the node is registered. Enumerated: first has left before the others start. */

#include "client.h"
#include "combine/tsm_hybcomb.h"

static tsm_hybcomb_t comb;
static tsm_hybcomb_member_t member[3];
static tsm_hybcomb_member_t *me[3];

static uint64_t operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
    return (uint64_t) *(int *) arg;
}

static void apply(tsm_hybcomb_member_t *self, int times)
{
    for (int i = 0; i < times; i++) {
        int data = 1;
        uint64_t result = tsm_hybcomb_apply(&comb, self, operation, &data);
        assert(result == 2 && data == 2);
        client_scribble(&data);
    }
}

static void *joins(void *arg)
{
    apply(me[(intptr_t) arg], 1);
    return NULL;
}

static void *reopens(void *arg)
{
    apply(me[(intptr_t) arg], 2);
    return NULL;
}

/* The rest of an operation of `first`, which main has begun. */
static tsm_hybcomb_node_t *prev;

static void *first(void *arg)
{
    tsm_hybcomb_member_t *self = me[(intptr_t) arg];
    int data = 1;

    operation(&data);
    tsm_hybcomb_combine(&comb, self);
    tsm_hybcomb_end(self, prev);
    return NULL;
}

static void *(*const bodies[])(void *) = { joins, reopens, first };

int main(void)
{
    uint64_t result;

    tsm_hybcomb_init(&comb, member, 3, 1);
    for (int i = 0; i < 3; i++)
        me[i] = tsm_hybcomb_register(&comb);
    prev = tsm_hybcomb_begin(&comb, me[2], operation, NULL, &result);
    assert(prev != NULL);
    if (model_enumerates)
        first((void *) (intptr_t) 2);
    client_team(client_pick(3, 2), bodies);
    assert(client_count == 4);
    for (int i = 0; i < 3; i++)
        tsm_hybcomb_unregister(&comb, me[i]);
    return 0;
}

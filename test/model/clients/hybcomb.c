/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* HYBCOMB: three threads, two operations each; a combiner takes one of others. Memberships end
 * while others go on. Enumerated: two threads, one operation
 * each. */

#include "client.h"
#include "combine/tsm_hybcomb.h"

CLIENT_SYMMETRIC;

static tsm_hybcomb_t comb;
static tsm_hybcomb_member_t member[3];

static uint64_t operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
    return (uint64_t) *(int *) arg;
}

static void *applies(void *arg)
{
    tsm_hybcomb_member_t *me = tsm_hybcomb_register(&comb);
    int data = 1;

    (void) arg;
    assert(tsm_hybcomb_apply(&comb, me, operation, &data) == 2);
    assert(data == 2);
    if (!model_enumerates) {
        data = 5;
        assert(tsm_hybcomb_apply(&comb, me, operation, &data) == 6);
    }
    client_scribble(&data);
    tsm_hybcomb_unregister(&comb, me);
    return NULL;
}

static void *(*const bodies[])(void *) = { applies, applies, applies };

int main(void)
{
    tsm_hybcomb_init(&comb, member, 3, 1);
    client_team(client_pick(3, 2), bodies);
    assert(client_count == client_pick(6, 2));
    return 0;
}

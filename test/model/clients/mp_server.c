/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* MP-SERVER: two clients, a server that is stopped by the last of them, and a second server that
 * serves what is left. Enumerated: one client, one call. */

#include "client.h"
#include "combine/tsm_mp_server.h"

static tsm_mp_server_t server;
static tsm_mailbox_slot_t slot[2];
static tsm_mp_client_t client[2];

static uint64_t operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
    return (uint64_t) *(int *) arg;
}

static void *calls(void *arg)
{
    tsm_mp_client_t *me = tsm_mp_server_register(&server);
    int data = 1;

    assert(tsm_mp_server_call(&server, me, operation, &data) == 2);
    if (arg == NULL)
        tsm_mp_server_stop(&server);
    if (!model_enumerates) {
        data = 5;
        assert(tsm_mp_server_call(&server, me, operation, &data) == 6);
        assert(data == 6);
    }
    client_scribble(&data);
    tsm_mp_server_unregister(&server, me);
    return NULL;
}

/* The second run is of another thread, or of the same. */
static void *serves(void *arg)
{
    (void) arg;
    tsm_mp_server_run(&server);
    while (!tsm_mp_server_poll(&server, 1))
        sched_yield();
    while (client_count < client_pick(4, 1)) {
        tsm_mp_server_poll(&server, 1);
        sched_yield();
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { calls, serves, calls };

int main(void)
{
    tsm_mp_server_init(&server, slot, 2, client, 2);
    client_team(client_pick(3, 2), bodies);
    assert(client_count == client_pick(4, 1));
    return 0;
}

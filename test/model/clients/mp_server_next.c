/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* MP-SERVER: the role goes from one server thread to the next, and so does an id from one client to
 * the next. */

#include "client.h"
#include "combine/tsm_mp_server.h"

#include <sched.h>

static tsm_mp_server_t server;
static tsm_mailbox_slot_t slot[4];
static tsm_mp_client_t client[1];
static TSM_ATOMIC(int) served, taken;

static uint64_t operation(void *arg)
{
    client_critical();
    return (uint64_t) ++*(int *) arg;
}

/* Two clients, one id: the second one waits for the first with relaxed loads only. */
static void *calls(void *arg)
{
    int data = 1;

    while (tsm_load(&taken, TSM_RELAXED) != (int) (intptr_t) arg)
        sched_yield();
    int id = tsm_ids_take(&server.ids);
    while (id < 0) {
        sched_yield();
        id = tsm_ids_take(&server.ids);
    }
    tsm_store(&taken, (int) (intptr_t) arg + 1, TSM_RELAXED);
    assert(tsm_mp_server_call(&server, &server.clients[id], operation, &data) == 2);
    assert(data == 2);
    tsm_mp_server_stop(&server);
    tsm_mp_server_unregister(&server, &server.clients[id]);
    return NULL;
}

/* Two servers in turn: the second one must know that the first one has returned. */
static void *serves(void *arg)
{
    while (tsm_load(&served, TSM_ACQUIRE) != (int) (intptr_t) arg - 2)
        sched_yield();
    tsm_mp_server_run(&server);
    tsm_store(&served, (int) (intptr_t) arg - 1, TSM_RELEASE);
    return NULL;
}

static void *(*const bodies[])(void *) = { calls, calls, serves, serves };

int main(void)
{
    tsm_mp_server_init(&server, slot, 4, client, 1);
    client_team(4, bodies);
    assert(client_count == 2);
    return 0;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* SHM-SERVER with streaming answers (under the checker: ordinary ones): what operations write stays
 * with the server, results are returned, and the caller may overwrite the argument. */

#include "client.h"
#include "combine/tsm_shm_server.h"

CLIENT_SYMMETRIC;

static tsm_shm_server_t server;
static tsm_shm_client_t client[2];
static TSM_ATOMIC(int) over;

static uint64_t operation(void *arg)
{
    client_critical();
    return (uint64_t) *(int *) arg + 1;
}

static void *calls(void *arg)
{
    tsm_shm_client_t *me = tsm_shm_server_register(&server);

    (void) arg;
    for (int data = 1; data < 3; data++)
        assert(tsm_shm_server_call(&server, me, operation, &data) == (uint64_t) data + 1);
    tsm_shm_server_unregister(&server, me);
    if (tsm_fetch_add(&over, 1, TSM_RELAXED) == client_pick(1, 0))
        tsm_shm_server_stop(&server);
    return NULL;
}

static void *serves(void *arg)
{
    (void) arg;
    while (tsm_shm_server_poll(&server))
        sched_yield();
    return NULL;
}

static void *(*const bodies[])(void *) = { calls, serves, calls };

int main(void)
{
    tsm_shm_server_init(&server, client, 2, 0, 1);
    client_team(client_pick(3, 2), bodies);
    assert(client_count == client_pick(4, 2));
    return 0;
}

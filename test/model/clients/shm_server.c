/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* SHM-SERVER without streaming: two clients that come and go, a server that is stopped once all is
 * served. Enumerated: one client, two calls. */

#include "client.h"
#include "combine/tsm_shm_server.h"

CLIENT_SYMMETRIC;

static tsm_shm_server_t server;
static tsm_shm_client_t client[2];
static TSM_ATOMIC(int) over;
static int farewell;

static uint64_t operation(void *arg)
{
    tsm_shm_server_assert_mine(&server);
    client_critical();
    return (uint64_t) ++*(int *) arg;
}

static void *calls(void *arg)
{
    tsm_shm_client_t *me = tsm_shm_server_register(&server);
    int data = 1;

    (void) arg;
    assert(tsm_shm_server_call(&server, me, operation, &data) == 2);
    assert(data == 2);
    tsm_shm_server_unregister(&server, me);
    me = tsm_shm_server_register(&server);
    data = 5;
    assert(tsm_shm_server_call(&server, me, operation, &data) == 6);
    client_scribble(&data);
    tsm_shm_server_unregister(&server, me);
    if (tsm_fetch_add(&over, 1, TSM_RELAXED) == client_pick(1, 0)) {
        farewell = 1;
        tsm_shm_server_stop(&server);
    }
    return NULL;
}

static void *serves(void *arg)
{
    (void) arg;
    assert(tsm_shm_server_run(&server) == (uint64_t) client_pick(4, 2));
    assert(farewell == 1);
    return NULL;
}

static void *(*const bodies[])(void *) = { calls, serves, calls };

int main(void)
{
    tsm_shm_server_init(&server, client, 2, 0, 0);
    client_team(client_pick(3, 2), bodies);
    assert(client_count == client_pick(4, 2));
    return 0;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* SHM-SERVER without streaming: two clients that come and go, a server that is stopped once all is
 * served. */

#include "client.h"
#include "combine/tsm_shm_server.h"

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
    if (tsm_fetch_add(&over, 1, TSM_RELAXED) == 1) {
        farewell = 1;
        tsm_shm_server_stop(&server);
    }
    return NULL;
}

static void *serves(void *arg)
{
    (void) arg;
    assert(tsm_shm_server_run(&server) == 4);
    assert(farewell == 1);
    return NULL;
}

int main(void)
{
    tsm_shm_server_init(&server, client, 2, 0, 0);
    client_team(3, (void *(*const[])(void *)) { calls, calls, serves });
    assert(client_count == 4);
    return 0;
}

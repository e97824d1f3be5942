/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* SHM-SERVER with streaming answers (under the checker: ordinary ones): what operations write stays
 * with the server, results are returned, and the caller may overwrite the argument. */

#include "client.h"
#include "combine/tsm_shm_server.h"

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
    if (tsm_fetch_add(&over, 1, TSM_RELAXED) == 1)
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

int main(void)
{
    tsm_shm_server_init(&server, client, 2, 0, 1);
    client_team(3, (void *(*const[])(void *)) { calls, calls, serves });
    assert(client_count == 4);
    return 0;
}

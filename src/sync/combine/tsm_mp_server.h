/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * MP-SERVER: one thread, the server, executes the operations of all others. Clients send them to
 * the server's mailbox and wait for the answer in their own.
 *
 * Source:     thesis on communication and synchronization on manycore processors, section 6.1.2 and
 *             figure 6.2; mailboxes replace its message hardware. We added stopping, and clients
 *             that come and go.
 * Threads:    up to TSM_IDS_MAX clients at once, as many as the caller gave memory for; one server
 *             thread at a time. Operations run on the server's thread: no thread-local data, and no
 *             call of the same server from inside one. An idle server sleeps.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_MP_SERVER_H_INCLUDED
#define TSM_MP_SERVER_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../mailbox/tsm_mailbox.h"
#include "../tsm_atomic.h"
#include "tsm_delegate.h"

typedef struct tsm_mp_client {
    tsm_mailbox_t box;
    uint32_t id;
    uint32_t busy;
    char pad[TSM_CACHELINE - 2 * sizeof(uint64_t)];
    tsm_mailbox_slot_t slot[1];
} tsm_mp_client_t;

typedef struct tsm_mp_server {
    tsm_mailbox_t box;
    char pad[TSM_CACHELINE - sizeof(uint64_t)];
    tsm_role_t role;
    tsm_mp_client_t *clients;
    tsm_ids_t ids;
} tsm_mp_server_t;

/* Make a server that does not run yet, for up to `count` clients at once. slot, capacity: the
 * memory of its mailbox, see tsm_mailbox_init; `count` messages or more never block. The caller
 * keeps the memory of both as long as the server is used. One thread, before any use. */
static inline void tsm_mp_server_init(tsm_mp_server_t *server, tsm_mailbox_slot_t *slot,
                                      uint32_t capacity, tsm_mp_client_t *clients, uint32_t count)
{
    tsm_mailbox_init(&server->box, slot, capacity);
    tsm_role_init(&server->role);
    tsm_ids_init(&server->ids, count);
    server->clients = clients;
    for (uint32_t i = 0; i < count; i++) {
        tsm_mailbox_init(&clients[i].box, clients[i].slot, 1);
        clients[i].id = i;
        clients[i].busy = 0;
    }
}

/* Become a client; the result is for tsm_mp_server_call. With too many clients it fails an
 * assertion, or returns NULL where assertions are off. Any thread; lock-free. */
static inline tsm_mp_client_t *tsm_mp_server_register(tsm_mp_server_t *server)
{
    int id = tsm_ids_take(&server->ids);

    assert(id >= 0 && "tsm_mp_server: more clients than ids");
    return id < 0 ? NULL : &server->clients[id];
}

/* Cease to be a client; not while a call of this client is under way. Any thread; wait-free; other
 * clients may be waiting. */
static inline void tsm_mp_server_unregister(tsm_mp_server_t *server, tsm_mp_client_t *client)
{
    assert(!client->busy && "tsm_mp_server: unregistered during a call");
    tsm_ids_give(&server->ids, client->id);
}

/* Have the server execute fn(arg) and return its result. One call of a client at a time, none from
 * the server's thread; blocks, and may park, until the server has answered. */
static inline uint64_t tsm_mp_server_call(tsm_mp_server_t *server, tsm_mp_client_t *client,
                                          tsm_delegate_fn_t fn, void *arg)
{
    uint64_t request[3] = { (uintptr_t) client, (uintptr_t) fn, (uintptr_t) arg };
    uint64_t result;

    assert(!client->busy && "tsm_mp_server: one call of a client at a time");
    assert(!tsm_role_is_mine(&server->role) && "tsm_mp_server: the server calls itself");
    client->busy = 1;
    tsm_mailbox_send(&server->box, request, 3);
    tsm_mailbox_receive(&client->box, &result, 1);
    client->busy = 0;
    return result;
}

/* End one run of the server once it has served all that was sent before; each stop ends one run.
 * Any thread, the server's own too; blocks while the mailbox is full, so not from inside an
 * operation unless the mailbox has room for all clients and stops. */
static inline void tsm_mp_server_stop(tsm_mp_server_t *server)
{
    uint64_t stop[3] = { 0, 0, 0 };

    tsm_mailbox_send(&server->box, stop, 3);
}

/* Execute a request and answer it; 0 if it means "stop". */
static inline int tsm_mp_server_answer_(const uint64_t *request)
{
    tsm_mp_client_t *client = (tsm_mp_client_t *) (uintptr_t) request[0];

    if (client == NULL)
        return 0;
    uint64_t result = tsm_delegate_do(request[1], request[2]);
    tsm_mailbox_send(&client->box, &result, 1);
    return 1;
}

/* Be the server until a thread calls tsm_mp_server_stop; sleeps while there is nothing to do. May
 * be called again, from any thread, and then serves what was sent meanwhile. Returns how many
 * operations it executed. */
static inline uint64_t tsm_mp_server_run(tsm_mp_server_t *server)
{
    uint64_t request[3], served = 0;

    tsm_role_enter(&server->role);
    tsm_mailbox_receive(&server->box, request, 3);
    while (tsm_mp_server_answer_(request)) {
        served++;
        tsm_mailbox_receive(&server->box, request, 3);
    }
    tsm_role_leave(&server->role);
    return served;
}

/* Serve at most `limit` operations that have arrived already, for a thread with other work. Returns
 * 0 after a stop, else 1. Never waits. */
static inline int tsm_mp_server_poll(tsm_mp_server_t *server, uint32_t limit)
{
    uint64_t request[3];
    int go_on = 1;

    tsm_role_enter(&server->role);
    for (uint32_t i = 0; i < limit && go_on; i++) {
        if (!tsm_mailbox_try_receive(&server->box, request, 3))
            break;
        go_on = tsm_mp_server_answer_(request);
    }
    tsm_role_leave(&server->role);
    return go_on;
}

/*
 * Invariants: (1) Only the thread that has the role receives from the server's mailbox. (2) A
 *             client has at most one operation under way, so its mailbox has room for the answer
 *             and the server never waits for a client. (3) A message without a client means "stop".
 *             (4) Messages are served in their order; those behind a stop wait for the next run.
 * Progress:   call is blocking; FIFO in the order of tsm_mailbox.h, so without starvation while the
 *             server runs. A server that is held or has stopped delays its clients and harms
 *             nothing.
 *
 *   release                              acquire
 *   call: message with the operation     server: receipt (argument, what the caller did)
 *   server: message with the result      call: receipt (result, what the operation did)
 *   server: leave of the role            next server: entry (the mailbox's head, the data)
 *   unregister: id given back            register: id taken (the client's mailbox)
 */

#endif /* TSM_MP_SERVER_H_INCLUDED */

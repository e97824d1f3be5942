/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * SHM-SERVER: one thread, the server, executes the operations of all others. Each client writes its
 * operation to its own cache line, and the server visits the lines in turn. Clients poll for the
 * answer with back-off; the answers may be streaming stores.
 *
 * Source:     thesis on communication and synchronization on manycore processors, section 7.1,
 *             algorithm 5, with both of the remedies of section 7.1.3 (back-off of the client,
 *             streaming stores) and the skipped lines of section 7.2.1. Changes: (1) The flag is a
 *             phase that alternates, so a line has one writer for each word and the server
 *             remembers what it served without reading its own answers back. (2) The server visits
 *             only the lines of registered clients, and clients come and go. (3) The server stops
 *             and starts.
 * Streaming:  a streaming store releases nothing: what the operation wrote may become visible after
 *             the answer. Hence the result and the flag are one word, written at once (the result
 *             has 63 bits, checked by assertion), and with streaming answers **nothing that an
 *             operation writes may be read outside the server's operations**, neither by its caller
 *             nor by a second server, before the server has stopped. tsm_shm_server_assert_mine()
 *             at the start of each operation checks in debug builds that it runs where it should;
 *             use it wherever the server's data is touched. The other direction is safe: the server
 *             has read all arguments when the answer appears. Elsewhere than on x86-64, and under
 *             ThreadSanitizer, streaming answers are ordinary ones.
 *
 * Threads:    up to TSM_IDS_MAX clients at once, as many as the caller gave memory for; one server
 *             thread at a time. Operations run on the server's thread: no thread-local data, and no
 *             call of the same server from inside one. An idle server goes on looking and yields in
 *             between; it does not sleep.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_SHM_SERVER_H_INCLUDED
#define TSM_SHM_SERVER_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"
#include "tsm_delegate.h"

#if defined(__SANITIZE_THREAD__)
#define TSM_SHM_SERVER_STREAMS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSM_SHM_SERVER_STREAMS 0
#endif
#endif

/* Whether streaming answers are more than ordinary ones here. */
#ifndef TSM_SHM_SERVER_STREAMS
#ifdef __x86_64__
#define TSM_SHM_SERVER_STREAMS 1
#else
#define TSM_SHM_SERVER_STREAMS 0
#endif
#endif

/* Lines from one client's to the next: 2, because some processors fetch lines in pairs. */
#define TSM_SHM_SERVER_STRIDE 2

/* Looks of a client before it yields between two of them, and the longest back-off. */
#define TSM_SHM_SERVER_LOOKS       16
#define TSM_SHM_SERVER_BACKOFF_MAX (1u << 20)

typedef struct tsm_shm_client {
    TSM_ATOMIC(uint64_t) reply;                         /* the server writes here */
    TSM_ATOMIC(uint64_t) request;                       /* the client writes the rest */
    tsm_delegate_fn_t fn;
    void *arg;
    uint32_t id;
    uint32_t busy;
    char pad[TSM_SHM_SERVER_STRIDE * TSM_CACHELINE - 3 * sizeof(uint64_t) - 2 * sizeof(void *)];
} tsm_shm_client_t;

_Static_assert(sizeof(tsm_shm_client_t) == TSM_SHM_SERVER_STRIDE * TSM_CACHELINE, "whole lines");

typedef struct tsm_shm_server {
    tsm_shm_client_t *clients;
    uint32_t backoff;
    int streaming;
    tsm_ids_t ids;
    TSM_ATOMIC(uint32_t) stops;                         /* asked for and not yet met */
    tsm_role_t role;
    uint8_t served[TSM_IDS_MAX];                        /* server only */
} tsm_shm_server_t;

/* Make a server that does not run yet, for up to `count` clients at once, whose memory the caller
 * provides and keeps while the server is used; align it to TSM_CACHELINE for speed. backoff:
 * pauses between two looks of a client, up to TSM_SHM_SERVER_BACKOFF_MAX; 0 looks as often as it
 * can. streaming: 1 for streaming answers, under the restriction stated above, else 0. One thread,
 * before any use. */
static inline void tsm_shm_server_init(tsm_shm_server_t *server, tsm_shm_client_t *clients,
                                       uint32_t count, uint32_t backoff, int streaming)
{
    assert(backoff <= TSM_SHM_SERVER_BACKOFF_MAX && "tsm_shm_server: the back-off is too long");
    tsm_ids_init(&server->ids, count);
    tsm_role_init(&server->role);
    tsm_store(&server->stops, 0, TSM_RELAXED);
    server->clients = clients;
    server->backoff = backoff > 0 ? backoff : 1;
    server->streaming = streaming;
    for (uint32_t i = 0; i < count; i++) {
        tsm_store(&clients[i].reply, 0, TSM_RELAXED);
        tsm_store(&clients[i].request, 0, TSM_RELAXED);
        clients[i].id = i;
        clients[i].busy = 0;
        server->served[i] = 0;
    }
}

/* Become a client; the result is for tsm_shm_server_call. More clients than there is room for fail
 * an assertion, or give NULL where assertions are off. Any thread; lock-free. */
static inline tsm_shm_client_t *tsm_shm_server_register(tsm_shm_server_t *server)
{
    int id = tsm_ids_take(&server->ids);

    assert(id >= 0 && "tsm_shm_server: more clients than ids");
    return id < 0 ? NULL : &server->clients[id];
}

/* Be a client no longer; not while a call of this client is under way. Any thread; wait-free;
 * others may be waiting. */
static inline void tsm_shm_server_unregister(tsm_shm_server_t *server, tsm_shm_client_t *client)
{
    assert(!client->busy && "tsm_shm_server: unregistered during a call");
    tsm_ids_give(&server->ids, client->id);
}

/* Is operation `phase` answered? Leaves the answer in *reply. */
static inline int tsm_shm_server_answered_(tsm_shm_client_t *client, uint64_t phase,
                                           uint64_t *reply)
{
    *reply = tsm_load(&client->reply, TSM_ACQUIRE);
    return (*reply & 1) == phase;
}

/* The first half of a call: write the request. Returns the phase that its answer will have. */
static inline uint64_t tsm_shm_server_ask_(tsm_shm_client_t *client, tsm_delegate_fn_t fn, void *arg)
{
    uint64_t phase = tsm_load(&client->request, TSM_RELAXED) ^ 1;

    client->fn = fn;
    client->arg = arg;
    tsm_store(&client->request, phase, TSM_RELEASE);
    return phase;
}

/* Have the server execute fn(arg) and return its result, which has 63 bits. One call of a client at
 * a time, none from the server's thread; blocks until the server has answered. */
static inline uint64_t tsm_shm_server_call(tsm_shm_server_t *server, tsm_shm_client_t *client,
                                           tsm_delegate_fn_t fn, void *arg)
{
    const tsm_wait_policy_t policy = { TSM_SHM_SERVER_LOOKS * server->backoff, 0, 0 };
    uint64_t phase, reply;

    assert(!client->busy && "tsm_shm_server: one call of a client at a time");
    assert(!tsm_role_is_mine(&server->role) && "tsm_shm_server: the server calls itself");
    client->busy = 1;
    phase = tsm_shm_server_ask_(client, fn, arg);
    tsm_wait_until_weighted(tsm_shm_server_answered_(client, phase, &reply), server->backoff,
                            policy);
    client->busy = 0;
    return reply >> 1;
}

/* Call this first in each operation: in debug builds it aborts if this thread is not the server,
 * that is, if another thread touches the server's data. Any thread. */
static inline void tsm_shm_server_assert_mine(const tsm_shm_server_t *server)
{
    assert(tsm_role_is_mine(&server->role) && "tsm_shm_server: touched outside the server");
    (void) server;
}

#if TSM_SHM_SERVER_STREAMS
static inline void tsm_shm_server_stream_(TSM_ATOMIC(uint64_t) *reply, uint64_t value)
{
    __asm__ __volatile__("movnti %1, %0" : "=m"(*(uint64_t *) reply) : "r"(value) : "memory");
}

/* Push streaming stores out, which the processor may otherwise keep for any time, and order them
 * before this thread's later stores. */
static inline void tsm_shm_server_drain_(void)
{
    __asm__ __volatile__("sfence" : : : "memory");
}
#else
static inline void tsm_shm_server_stream_(TSM_ATOMIC(uint64_t) *reply, uint64_t value)
{
    tsm_store(reply, value, TSM_RELEASE);
}

static inline void tsm_shm_server_drain_(void)
{
}
#endif

/* Serve one client if it has a request. Returns how many operations were executed, 0 or 1. */
static inline uint32_t tsm_shm_server_serve_(tsm_shm_server_t *server, uint32_t id)
{
    tsm_shm_client_t *client = &server->clients[id];
    uint64_t phase = tsm_load(&client->request, TSM_ACQUIRE);

    if (phase == server->served[id])
        return 0;
    uint64_t result = client->fn(client->arg);
    assert(result >> 63 == 0 && "tsm_shm_server: a result has 63 bits");
    server->served[id] = (uint8_t) phase;
    if (server->streaming)
        tsm_shm_server_stream_(&client->reply, result << 1 | phase);
    else
        tsm_store(&client->reply, result << 1 | phase, TSM_RELEASE);
    return 1;
}

/* Visit all clients once. Returns how many operations were executed. */
static inline uint32_t tsm_shm_server_round_(tsm_shm_server_t *server)
{
    uint32_t served = 0;

    for (uint32_t w = 0; 64 * w < server->ids.count; w++) {
        for (uint64_t left = tsm_ids_taken(&server->ids, w); left != 0; left &= left - 1)
            served += tsm_shm_server_serve_(server, 64 * w + (uint32_t) __builtin_ctzll(left));
    }
    if (served > 0 && server->streaming)
        tsm_shm_server_drain_();
    return served;
}

/* Load `stops`, then serve one round, so that all that was asked before the stop is served. Returns
 * 1 if there was a stop or an operation. */
static inline int tsm_shm_server_step_(tsm_shm_server_t *server, uint32_t *stop, uint32_t *served)
{
    *stop = tsm_load(&server->stops, TSM_ACQUIRE);
    *served = tsm_shm_server_round_(server);
    return *stop || *served > 0;
}

/* End this run of the server, or the next if it does not run now, once it has served all that was
 * asked before. Each stop ends one run. Any thread, also from inside an operation; wait-free. */
static inline void tsm_shm_server_stop(tsm_shm_server_t *server)
{
    tsm_fetch_add(&server->stops, 1, TSM_RELEASE);
}

/* Be the server until a thread calls tsm_shm_server_stop. May be called again, from any thread, and
 * then serves what was asked meanwhile. Returns how many operations it executed. */
static inline uint64_t tsm_shm_server_run(tsm_shm_server_t *server)
{
    uint64_t total = 0;
    uint32_t stop = 0, served = 0;

    tsm_role_enter(&server->role);
    while (!stop) {
        tsm_wait_until(tsm_shm_server_step_(server, &stop, &served), TSM_WAIT_POLL);
        total += served;
    }
    tsm_fetch_add(&server->stops, -1, TSM_RELAXED);
    tsm_role_leave(&server->role);
    return total;
}

/* Serve one round, for a thread with other work. Returns 0 after a stop, else 1. Never waits. */
static inline int tsm_shm_server_poll(tsm_shm_server_t *server)
{
    uint32_t stop, served;

    tsm_role_enter(&server->role);
    tsm_shm_server_step_(server, &stop, &served);
    if (stop)
        tsm_fetch_add(&server->stops, -1, TSM_RELAXED);
    tsm_role_leave(&server->role);
    return !stop;
}

/*
 * Invariants: (1) A client's request holds the phase of its newest operation; its reply holds the
 *             phase of the newest answer in bit 0 and the result in the others. They differ exactly
 *             while an operation is under way. (2) served[i] is the phase that the server answered
 *             last on line i. (3) fn and arg are the client's while the phases are equal, else the
 *             server's. (4) Phases outlive the client, so the next one with this id goes on from
 *             there.
 * Progress:   call is blocking, without starvation while the server runs: each round serves each
 *             client at most once. A server that is held or has stopped delays its clients and
 *             harms nothing; a client held at any step delays no other thread.
 *
 *   release                                  acquire
 *   call: store of request (fn, arg, what    server: load of request
 *     the caller did)
 *   server: store of reply (result, what     call: load of reply
 *     the operation did), unless streaming
 *   stop: RMW of stops (requests before)     server: load of stops, before its last round
 *   server: leave of the role                next server: entry (served, the data)
 *   unregister: id given back                register: id taken (the phase)
 */

#endif /* TSM_SHM_SERVER_H_INCLUDED */

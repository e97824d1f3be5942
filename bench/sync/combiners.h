/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Every way to execute an operation on an object in mutual exclusion, behind one interface: locks,
 * combiners, servers. An operation is a function of one argument that returns a value. Combiners
 * whose operations return nothing use a second form, which leaves the value in the argument. */
#ifndef BENCH_SYNC_COMBINERS_H_INCLUDED
#define BENCH_SYNC_COMBINERS_H_INCLUDED

#include "locks.h"
#include "combine/tsm_cc_synch.h"
#include "combine/tsm_dsm_synch.h"
#include "combine/tsm_h_synch.h"
#include "combine/tsm_hybcomb.h"
#include "combine/tsm_mp_server.h"
#include "combine/tsm_shm_server.h"

/* The argument of every operation; a thread has its own. With streaming answers the operation may
 * read it but not write it. */
typedef struct request {
    void *object;
    uint64_t input;
    uint64_t result;                    /* of the second form only */
    char pad[2 * TSM_CACHELINE - sizeof(void *) - 2 * sizeof(uint64_t)];
} request_t;

typedef struct operation {
    uint64_t (*value)(void *request);   /* results have 63 bits */
    void (*nothing)(void *request);
} operation_t;

/* Both forms of the operation name_(object, input), and op_name_. */
#define OPERATION(name_, type_) \
    static uint64_t name_##_value(void *request) \
    { \
        request_t *r = request; \
        return name_((type_ *) r->object, r->input); \
    } \
    static void name_##_nothing(void *request) \
    { \
        request_t *r = request; \
        r->result = name_((type_ *) r->object, r->input); \
    } \
    static const operation_t op_##name_ = { name_##_value, name_##_nothing };

typedef struct sync_param {
    int threads;                        /* that attach, at most */
    uint32_t max_combine, backoff;
    int streaming;
} sync_param_t;

typedef struct sync_kind {
    const char *name;
    const lock_kind_t *lock;            /* of the lock kinds */
    void *(*create)(const struct sync_kind *kind, const sync_param_t *param);
    void *(*attach)(void *sync, int id);
    uint64_t (*apply)(void *sync, void *handle, const operation_t *op, request_t *request);
    void (*detach)(void *sync, void *handle);
    void (*destroy)(void *sync);
} sync_kind_t;

static void sync_detach_nothing(void *sync, void *handle)
{
    (void) sync;
    (void) handle;
}

static void sync_destroy_nothing(void *sync)
{
    (void) sync;
}

/* ---- a lock around the operation ---- */

typedef struct sync_lock {
    const lock_kind_t *kind;
    void *lock;
} sync_lock_t;

static void *sync_lock_create(const sync_kind_t *kind, const sync_param_t *param)
{
    sync_lock_t *s = bench_alloc(sizeof(*s));
    (void) param;
    s->kind = kind->lock;
    s->lock = s->kind->create();
    return s;
}

static void *sync_lock_attach(void *sync, int id)
{
    (void) id;
    return ((sync_lock_t *) sync)->kind->context();
}

static uint64_t sync_lock_apply(void *sync, void *handle, const operation_t *op, request_t *request)
{
    sync_lock_t *s = sync;
    s->kind->acquire(s->lock, handle);
    uint64_t result = op->value(request);
    s->kind->release(s->lock, handle);
    return result;
}

/* ---- CC-Synch, H-Synch, DSM-Synch ---- */

static void *sync_cc_create(const sync_kind_t *kind, const sync_param_t *param)
{
    tsm_cc_synch_t *cc = bench_alloc(sizeof(*cc));
    (void) kind;
    tsm_cc_synch_init(cc, bench_alloc(sizeof(tsm_cc_synch_node_t)), param->max_combine);
    return cc;
}

static void *sync_cc_attach(void *sync, int id)
{
    tsm_cc_synch_handle_t *handle = bench_alloc(sizeof(*handle));
    (void) sync;
    (void) id;
    tsm_cc_synch_attach(handle, bench_alloc(sizeof(tsm_cc_synch_node_t)));
    return handle;
}

static uint64_t sync_cc_apply(void *sync, void *handle, const operation_t *op, request_t *request)
{
    tsm_cc_synch_apply(sync, handle, op->nothing, request);
    return request->result;
}

static void sync_cc_detach(void *sync, void *handle)
{
    (void) sync;
    (void) tsm_cc_synch_detach(handle);
}

/* Two clusters on every machine, so that there is a hierarchy; threads take turns to join one. */
#define SYNC_CLUSTERS 2

static void *sync_h_create(const sync_kind_t *kind, const sync_param_t *param)
{
    tsm_h_synch_t *h = bench_alloc(sizeof(*h));
    tsm_cc_synch_node_t *nodes[SYNC_CLUSTERS];
    (void) kind;
    for (int i = 0; i < SYNC_CLUSTERS; i++)
        nodes[i] = bench_alloc(sizeof(*nodes[i]));
    tsm_h_synch_init(h, bench_alloc(SYNC_CLUSTERS * sizeof(tsm_cc_synch_t)), nodes, SYNC_CLUSTERS,
                     param->max_combine);
    return h;
}

static void *sync_h_attach(void *sync, int id)
{
    tsm_h_synch_handle_t *handle = bench_alloc(sizeof(*handle));
    tsm_h_synch_attach(sync, handle, (uint32_t) id % SYNC_CLUSTERS,
                       bench_alloc(sizeof(tsm_cc_synch_node_t)));
    return handle;
}

static uint64_t sync_h_apply(void *sync, void *handle, const operation_t *op, request_t *request)
{
    tsm_h_synch_apply(sync, handle, op->nothing, request);
    return request->result;
}

static void sync_h_detach(void *sync, void *handle)
{
    (void) sync;
    (void) tsm_h_synch_detach(handle);
}

static void *sync_dsm_create(const sync_kind_t *kind, const sync_param_t *param)
{
    tsm_dsm_synch_t *dsm = bench_alloc(sizeof(*dsm));
    (void) kind;
    tsm_dsm_synch_init(dsm, param->max_combine);
    return dsm;
}

static void *sync_dsm_attach(void *sync, int id)
{
    tsm_dsm_synch_node_t *node = bench_alloc(sizeof(*node));
    (void) sync;
    (void) id;
    tsm_dsm_synch_node_init(node);
    return node;
}

static uint64_t sync_dsm_apply(void *sync, void *handle, const operation_t *op, request_t *request)
{
    tsm_dsm_synch_apply(sync, handle, op->nothing, request);
    return request->result;
}

/* ---- HYBCOMB ---- */

static void *sync_hybcomb_create(const sync_kind_t *kind, const sync_param_t *param)
{
    tsm_hybcomb_t *comb = bench_alloc(sizeof(*comb));
    uint32_t count = (uint32_t) param->threads;
    (void) kind;
    tsm_hybcomb_init(comb, bench_alloc(count * sizeof(tsm_hybcomb_member_t)), count,
                     param->max_combine);
    return comb;
}

static void *sync_hybcomb_attach(void *sync, int id)
{
    (void) id;
    return tsm_hybcomb_register(sync);
}

static uint64_t sync_hybcomb_apply(void *sync, void *handle, const operation_t *op,
                                   request_t *request)
{
    return tsm_hybcomb_apply(sync, handle, op->value, request);
}

static void sync_hybcomb_detach(void *sync, void *handle)
{
    tsm_hybcomb_unregister(sync, handle);
}

/* ---- servers: one more thread, which only executes operations ---- */

typedef struct sync_mp {
    tsm_mp_server_t server;
    pthread_t thread;
} sync_mp_t;

static void *sync_mp_main(void *arg)
{
    tsm_mp_server_run(arg);
    return NULL;
}

static void sync_start(pthread_t *thread, void *(*main_fn)(void *), void *arg)
{
    if (pthread_create(thread, NULL, main_fn, arg))
        bench_die(1, "cannot create the server's thread");
}

static void *sync_mp_create(const sync_kind_t *kind, const sync_param_t *param)
{
    sync_mp_t *s = bench_alloc(sizeof(*s));
    uint32_t count = (uint32_t) param->threads, capacity = 1;
    (void) kind;
    while (capacity < count + 1)
        capacity *= 2;
    tsm_mp_server_init(&s->server, bench_alloc(capacity * sizeof(tsm_mailbox_slot_t)), capacity,
                       bench_alloc(count * sizeof(tsm_mp_client_t)), count);
    sync_start(&s->thread, sync_mp_main, &s->server);
    return s;
}

static void *sync_mp_attach(void *sync, int id)
{
    (void) id;
    return tsm_mp_server_register(&((sync_mp_t *) sync)->server);
}

static uint64_t sync_mp_apply(void *sync, void *handle, const operation_t *op, request_t *request)
{
    return tsm_mp_server_call(&((sync_mp_t *) sync)->server, handle, op->value, request);
}

static void sync_mp_detach(void *sync, void *handle)
{
    tsm_mp_server_unregister(&((sync_mp_t *) sync)->server, handle);
}

static void sync_mp_destroy(void *sync)
{
    sync_mp_t *s = sync;
    tsm_mp_server_stop(&s->server);
    pthread_join(s->thread, NULL);
}

typedef struct sync_shm {
    tsm_shm_server_t server;
    pthread_t thread;
} sync_shm_t;

static void *sync_shm_main(void *arg)
{
    tsm_shm_server_run(arg);
    return NULL;
}

static void *sync_shm_create(const sync_kind_t *kind, const sync_param_t *param)
{
    sync_shm_t *s = bench_alloc(sizeof(*s));
    uint32_t count = (uint32_t) param->threads;
    (void) kind;
    tsm_shm_server_init(&s->server, bench_alloc(count * sizeof(tsm_shm_client_t)), count,
                        param->backoff, param->streaming);
    sync_start(&s->thread, sync_shm_main, &s->server);
    return s;
}

static void *sync_shm_attach(void *sync, int id)
{
    (void) id;
    return tsm_shm_server_register(&((sync_shm_t *) sync)->server);
}

static uint64_t sync_shm_apply(void *sync, void *handle, const operation_t *op, request_t *request)
{
    return tsm_shm_server_call(&((sync_shm_t *) sync)->server, handle, op->value, request);
}

static void sync_shm_detach(void *sync, void *handle)
{
    tsm_shm_server_unregister(&((sync_shm_t *) sync)->server, handle);
}

static void sync_shm_destroy(void *sync)
{
    sync_shm_t *s = sync;
    tsm_shm_server_stop(&s->server);
    pthread_join(s->thread, NULL);
}

/* ---- the table: locks, combiners, servers ---- */

static const sync_kind_t sync_others[] = {
    { "cc_synch", NULL, sync_cc_create, sync_cc_attach, sync_cc_apply, sync_cc_detach,
      sync_destroy_nothing },
    { "dsm_synch", NULL, sync_dsm_create, sync_dsm_attach, sync_dsm_apply, sync_detach_nothing,
      sync_destroy_nothing },
    { "h_synch", NULL, sync_h_create, sync_h_attach, sync_h_apply, sync_h_detach,
      sync_destroy_nothing },
    { "hybcomb", NULL, sync_hybcomb_create, sync_hybcomb_attach, sync_hybcomb_apply,
      sync_hybcomb_detach, sync_destroy_nothing },
    { "mp_server", NULL, sync_mp_create, sync_mp_attach, sync_mp_apply, sync_mp_detach,
      sync_mp_destroy },
    { "shm_server", NULL, sync_shm_create, sync_shm_attach, sync_shm_apply, sync_shm_detach,
      sync_shm_destroy },
};

#define SYNC_OTHERS ((int) (sizeof(sync_others) / sizeof(sync_others[0])))
#define SYNC_KINDS (LOCK_KINDS + SYNC_OTHERS)

/* The i-th kind. */
static sync_kind_t sync_kind(int i)
{
    if (i >= LOCK_KINDS)
        return sync_others[i - LOCK_KINDS];
    return (sync_kind_t) { lock_kinds[i].name, &lock_kinds[i], sync_lock_create, sync_lock_attach,
                           sync_lock_apply, sync_detach_nothing, sync_destroy_nothing };
}

#endif

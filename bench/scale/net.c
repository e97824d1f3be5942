/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#include "mpidimpl.h"
#include "sim.h"

#define BATCH 8                 /* messages of one poll: MPIR_CVAR_CH4_SHM_BATCH's default */
#define LINE 64

/* An operation under way, or a message: one line, as a message of some bytes has with its header. */
typedef struct cell {
    TSM_ATOMIC(int) full;
    int tag;
    uint64_t ready;
    MPIR_Request *req;          /* alone: the operation's */
    char data[LINE - 24];
} cell_t;

/* Receives of a tag that wait for messages, or messages that wait for receives; the latter are only
 * counted. */
typedef struct tag_queue {
    MPIR_Request *first, *last;
    int early;
    char pad[LINE - 2 * sizeof(void *) - sizeof(int)];
} tag_queue_t;

/* What arrives at a VCI. Several threads may put, under the other VCI's lock; the holder takes. */
typedef struct net {
    uint64_t tail;
    char pad[LINE - sizeof(uint64_t)];
    uint64_t head;
    cell_t *cell;               /* a ring */
    uint64_t mask;
    tag_queue_t *tag;
    char pad2[LINE];
} net_t;

static net_t net[MPIDI_CH4_MAX_VCIS] MPL_ATTR_ALIGNED(LINE);
static net_costs_t costs;
static int is_pairs;

/* The complete request that a send returns which needs none; see MPIR_REQUEST in mpidimpl.h. */
static MPIR_Request done = {.handle = (int) ((unsigned) HANDLE_KIND_BUILTIN << HANDLE_KIND_SHIFT),
    .kind = MPIR_REQUEST_KIND__SEND,.cc_ptr = &done.cc
};

static void *memory(size_t size)
{
    void *p = aligned_alloc(LINE, size);

    assert(p);
    memset(p, 0, size);
    return p;
}

void net_init(int pairs, const net_costs_t * given, int most, int tags)
{
    uint64_t size = 1;

    while (size < (uint64_t) most)
        size *= 2;
    is_pairs = pairs;
    costs = *given;
    for (int i = 0; i < MPIDI_global.n_vcis; i++) {
        net[i].cell = memory(size * sizeof(cell_t));
        net[i].mask = size - 1;
        net[i].tag = memory((size_t) tags * sizeof(tag_queue_t));
        sim_name(&net[i], sizeof(net[i]), "network");
        sim_name(net[i].cell, size * sizeof(cell_t), "cells of the network");
        sim_name(net[i].tag, (size_t) tags * sizeof(tag_queue_t), "tags of the network");
    }
}

static void put(net_t * to, int tag, uint64_t ready, MPIR_Request * req)
{
    cell_t *cell = &to->cell[to->tail++ & to->mask];

    assert(!tsm_load(&cell->full, TSM_RELAXED));
    cell->tag = tag;
    cell->ready = ready;
    cell->req = req;
    tsm_store(&cell->full, 1, TSM_RELEASE);
}

static MPIR_Request *request_for(MPIR_Comm * comm, MPIR_Request_kind_t kind, MPIR_Request * req)
{
    /* one reference is the network's */
    if (req)
        MPIR_Request_add_ref(req);
    else
        req = MPIR_Request_create_from_pool(kind, comm->vci, 2);
    assert(req);
    if (!req->comm) {
        req->comm = comm;
        MPIR_Comm_add_ref(comm);
    }
    return req;
}

void net_isend(MPIR_Comm * comm, int tag, MPIR_Request ** req)
{
    sim_work(costs.issue);
    if (is_pairs) {
        put(&net[!comm->vci], tag, 0, NULL);
        *req = &done;
    } else {
        *req = request_for(comm, MPIR_REQUEST_KIND__SEND, *req);
        put(&net[comm->vci], tag, sim_now() + costs.latency, *req);
    }
}

void net_irecv(MPIR_Comm * comm, int tag, MPIR_Request ** req)
{
    tag_queue_t *queue = &net[comm->vci].tag[tag];

    sim_work(costs.issue);
    *req = request_for(comm, MPIR_REQUEST_KIND__RECV, *req);
    if (!is_pairs) {
        put(&net[comm->vci], tag, sim_now() + costs.latency, *req);
    } else if (queue->early) {
        queue->early--;
        MPIDI_complete(*req);
    } else {
        (*req)->next = NULL;
        if (queue->first)
            queue->last->next = *req;
        else
            queue->first = *req;
        queue->last = *req;
    }
}

/* Returns the receive that a message completes, or NULL. */
static MPIR_Request *match(net_t * at, int vci, int tag)
{
    tag_queue_t *queue = &at->tag[tag];
    MPIR_Request *req = queue->first;

    if (req) {
        queue->first = req->next;
    } else {
        queue->early++;
        MPIDI_VCI(vci).unexp_table.seq++;
    }
    return req;
}

static int take_one(net_t * at, int vci)
{
    cell_t *cell = &at->cell[at->head & at->mask];
    MPIR_Request *req;

    if (!tsm_load(&cell->full, TSM_ACQUIRE) || cell->ready > sim_now())
        return 0;
    sim_work(costs.take);
    req = is_pairs ? match(at, vci, cell->tag) : cell->req;
    tsm_store(&cell->full, 0, TSM_RELEASE);
    at->head++;
    if (req)
        MPIDI_complete(req);
    return 1;
}

int MPIDI_NM_progress(int vci, int blocking)
{
    int n = 0;

    (void) blocking;
    while (n < BATCH && take_one(&net[vci], vci))
        n++;
    if (n == 0)
        sim_work(costs.poll);
    return MPI_SUCCESS;
}

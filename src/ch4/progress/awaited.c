/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "awaited.h"
#include "threads/watched.h"

#define MOST 4                  /* that are printed of a wait */

#define UNKNOWN (-100)          /* no rank and no tag */

typedef struct {
    int kind;
    int rank, tag, context_id;  /* UNKNOWN where the request does not have it */
} awaited_t;

static struct {
    int n;                      /* incomplete */
    awaited_t first[MOST];
} noted;

static int is_persistent(const MPIR_Request * req)
{
    return req->kind == MPIR_REQUEST_KIND__PREQUEST_SEND ||
        req->kind == MPIR_REQUEST_KIND__PREQUEST_RECV;
}

/* In the queue of posted receives of the device, so that the fields of its match are valid: they are
 * not while the operation is posted, nor where the network matches. */
static int is_in_queue(const MPIR_Request * req)
{
#if MPIR_REQUEST_IS_CACHED
    return req->kind == MPIR_REQUEST_KIND__RECV && req->match.head;
#else
    (void) req;
    return 0;
#endif
}

static void look_at(const MPIR_Request * req, awaited_t * a)
{
    a->kind = req->kind;
    a->rank = a->tag = UNKNOWN;
    a->context_id = req->comm ? req->comm->context_id : UNKNOWN;
    if (is_persistent(req)) {
        a->rank = MPIDI_PREQUEST(req, rank);
        a->tag = MPIDI_PREQUEST(req, tag);
    } else if (is_in_queue(req)) {
        a->rank = MPIDIG_REQUEST(req, u.recv.source);
        a->tag = MPIR_TAG_MASK_ERROR_BITS(MPIDIG_REQUEST(req, u.recv.tag));
        if (MPIDIG_REQUEST(req, u.recv.tag) == MPI_ANY_TAG)
            a->tag = MPI_ANY_TAG;
    }
}

void MPIDI_awaited_note(void)
{
    MPIDI_watched_t *self = MPIDI_watched_self();
    const int count = self ? tsm_load(&self->count, TSM_RELAXED) : 0;

    noted.n = 0;
    for (int i = 0; i < count; i++) {
        const MPIR_Request *req = tsm_load(&self->reqs, TSM_RELAXED)[i];
        if (!req || MPIR_Request_is_complete(req) || !MPIR_Request_is_active((MPIR_Request *) req))
            continue;
        if (noted.n < MOST)
            look_at(req, &noted.first[noted.n]);
        noted.n++;
    }
}

static const char *kind_name(int kind)
{
    switch (kind) {
        case MPIR_REQUEST_KIND__SEND:
            return "a send";
        case MPIR_REQUEST_KIND__RECV:
        case MPIR_REQUEST_KIND__MPROBE:
            return "a receive";
        case MPIR_REQUEST_KIND__PREQUEST_SEND:
            return "a persistent send";
        case MPIR_REQUEST_KIND__PREQUEST_RECV:
            return "a persistent receive";
        case MPIR_REQUEST_KIND__PART_SEND:
            return "a partitioned send";
        case MPIR_REQUEST_KIND__PART_RECV:
            return "a partitioned receive";
        case MPIR_REQUEST_KIND__COLL:
        case MPIR_REQUEST_KIND__PREQUEST_COLL:
            return "a collective operation";
        case MPIR_REQUEST_KIND__GREQUEST:
            return "a generalized request";
        case MPIR_REQUEST_KIND__RMA:
            return "a one-sided operation";
        default:
            return "a request";
    }
}

static void print_peer(FILE * out, const awaited_t * a)
{
    const char *way = a->kind == MPIR_REQUEST_KIND__PREQUEST_SEND ? "to" : "from";

    if (a->rank == MPI_ANY_SOURCE)
        fprintf(out, " from any rank");
    else if (a->rank != UNKNOWN)
        fprintf(out, " %s rank %d", way, a->rank);
    if (a->tag == MPI_ANY_TAG)
        fprintf(out, ", any tag");
    else if (a->tag != UNKNOWN)
        fprintf(out, ", tag %d", a->tag);
    if (a->context_id != UNKNOWN)
        fprintf(out, ", context id %d", a->context_id);
}

void MPIDI_awaited_print(FILE * out, const char *prefix)
{
    for (int i = 0; i < noted.n && i < MOST; i++) {
        fprintf(out, "%sfor %s", prefix, kind_name(noted.first[i].kind));
        print_peer(out, &noted.first[i]);
        fputc('\n', out);
    }
    if (noted.n > MOST)
        fprintf(out, "%sand for %d more\n", prefix, noted.n - MOST);
}

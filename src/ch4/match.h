/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_MATCH_H_INCLUDED
#define MPIDI_MATCH_H_INCLUDED

/* Constant-time matching of active messages (from shared memory, and from netmods that do not match).
 * Every request is in a hash table under (context, source, tag). It is also in the lists of MPICH, in
 * the order of posting or arrival, for debuggers and for wildcards. With many threads the lists are
 * long, because each thread posts its own receives, and searching them from the front took 40 % of
 * the time of one sender to 8 receiving threads. A table grows when a search passes many requests that
 * do not match (match.c), so the time stays the same with a million requests.
 *
 * Posted receives with a wildcard have their own list. If both the list and the table have a match,
 * the one posted first wins (MPI-4.0 section 3.5). A probe or receive with a wildcard searches the
 * unexpected messages in the order of their arrival, as before.
 *
 * Everything here is called with the lock of the VCI held. Included by mpidig_recvq.h. */

#include "stats/hooks.h"

#ifdef ENABLE_THREAD_STATS
MPL_STATIC_INLINE_PREFIX MPIDI_queue_stats_t *MPIDI_match_queue_stats(MPIR_Request ** list,
                                                                      enum MPIDIG_queue_type q)
{
    return q == MPIDIG_PT2PT_POSTED ?
        &(MPL_container_of(list, MPIDI_per_vci_t, posted_list))->threads.stats.posted :
        &(MPL_container_of(list, MPIDI_per_vci_t, unexp_list))->threads.stats.unexpected;
}
#endif

#if MPIR_REQUEST_IS_CACHED

#define MPIDI_MATCH(req_) (req_)->match

MPL_STATIC_INLINE_PREFIX MPIDI_match_table_t *MPIDI_match_table(MPIR_Request ** list,
                                                                        enum MPIDIG_queue_type q)
{
    return q == MPIDIG_PT2PT_POSTED ?
        &(MPL_container_of(list, MPIDI_per_vci_t, posted_list))->posted_table :
        &(MPL_container_of(list, MPIDI_per_vci_t, unexp_list))->unexp_table;
}

MPL_STATIC_INLINE_PREFIX MPIR_Request **MPIDI_match_bucket(MPIDI_match_table_t * table,
                                                               int source, int tag,
                                                               MPIR_Context_id_t context_id)
{
    /* odd constants near 2^32 times the golden ratio, from Knuth's multiplicative hashing */
    uint32_t h = (uint32_t) source * 0x9e3779b1u + (uint32_t) context_id;

    h = (h * 0x9e3779b1u + (uint32_t) tag) * 0x9e3779b1u;
    /* 64 bits, since a table of one bucket shifts by 32 */
    return &table->bucket[(uint64_t) h >> (32 - table->bits)];
}

/* The list of the table that a request belongs to. */
MPL_STATIC_INLINE_PREFIX MPIR_Request **MPIDI_match_bucket_of(MPIDI_match_table_t * table,
                                                              const MPIR_Request * req)
{
    return MPIDI_match_bucket(table, MPIDIG_REQUEST(req, u.recv.source),
                              MPIR_TAG_MASK_ERROR_BITS(MPIDIG_REQUEST(req, u.recv.tag)),
                              MPIDIG_REQUEST(req, u.recv.context_id));
}

/* Make an empty table; free what it has grown. When the VCI is made and destroyed, by one thread. */
void MPIDI_match_init(MPIDI_match_table_t * table);
void MPIDI_match_free(MPIDI_match_table_t * table);

/* A search has passed more than table->most_passed others. Without memory the table stays as it is. */
void MPIDI_match_grow(MPIDI_match_table_t * table);

/* Add req, which is the last of list. */
MPL_STATIC_INLINE_PREFIX void MPIDI_match_add(MPIR_Request * req, MPIR_Request ** list,
                                                  enum MPIDIG_queue_type q)
{
    if (q == MPIDIG_PART)
        return;

    MPIDI_match_table_t *table = MPIDI_match_table(list, q);
    int source = MPIDIG_REQUEST(req, u.recv.source);
    int tag = MPIDIG_REQUEST(req, u.recv.tag);
    MPIR_Request **head = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG ? &table->wildcards :
        MPIDI_match_bucket_of(table, req);

    MPIDI_MATCH(req).seq = table->seq++;
    MPIDI_MATCH(req).head = head;
    DL_APPEND_NP(*head, req, match.next, match.prev);
    MPIDI_STATS(MPIDI_stats_queued(MPIDI_match_queue_stats(list, q)));
}

/* Remove req, which is no longer in its list. */
MPL_STATIC_INLINE_PREFIX void MPIDI_match_remove(MPIR_Request * req, MPIR_Request ** list,
                                                 enum MPIDIG_queue_type q)
{
    MPIR_Request **head = MPIDI_MATCH(req).head;

    if (head) {
        DL_DELETE_NP(*head, req, match.next, match.prev);
        MPIDI_MATCH(req).head = NULL;
        MPIDI_STATS(MPIDI_stats_dequeued(MPIDI_match_queue_stats(list, q)));
    }
}

/* Whether req is in list, as the table knows without a search. */
MPL_STATIC_INLINE_PREFIX bool MPIDI_match_is_listed(MPIR_Request * req, MPIR_Request * list)
{
    return MPIDI_MATCH(req).head != NULL;
}

/* Ask for the lines of the request behind req, which the next message is likely to match: with many
 * receives posted they are not in the nearest cache. */
MPL_STATIC_INLINE_PREFIX void MPIDI_match_prefetch(const MPIR_Request * req)
{
    const MPIR_Request *next = MPIDI_MATCH(req).next;

    if (next && MPIR_CVAR_CH4_SHM_PREFETCH) {
        tsm_prefetch_write(&next->cc);
        tsm_prefetch_write(&MPIDI_MATCH(next));
        tsm_prefetch_write(&MPIDIG_REQUEST(next, buffer));
        tsm_prefetch_write(&MPIDI_REQUEST(next, am_ext));
    }
}

/* The first request of a bucket or of the wildcards that matches, or NULL. *passed: others before. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_match_in(MPIR_Request * head, int source, int tag,
                                                          MPIR_Context_id_t context_id,
                                                          enum MPIDIG_queue_type q, int *passed)
{
    for (*passed = 0; head && !MPIDIG_match_request(source, tag, context_id, head, q); ++*passed)
        head = MPIDI_MATCH(head).next;
    return head;
}

/* Returns where a search for (source, tag, context_id) starts: the request that matches, or NULL, or
 * the head of the list if it must be searched. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_match_first(int source, int tag,
                                                             MPIR_Context_id_t context_id,
                                                             MPIR_Request ** list,
                                                             enum MPIDIG_queue_type q)
{
    if (q == MPIDIG_PART || source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
        return *list;

    MPIDI_match_table_t *table = MPIDI_match_table(list, q);
    MPIR_Request *exact = *MPIDI_match_bucket(table, source, tag, context_id);
    MPIR_Request *wild = table->wildcards;
    int passed;

    exact = MPIDI_match_in(exact, source, tag, context_id, q, &passed);
    if (unlikely(passed > table->most_passed))
        MPIDI_match_grow(table);
    if (likely(!wild))
        return exact;
    wild = MPIDI_match_in(wild, source, tag, context_id, q, &passed);
    if (!wild || (exact && MPIDI_MATCH(exact).seq < MPIDI_MATCH(wild).seq))
        return exact;
    return wild;
}

#else
#ifdef ENABLE_THREAD_STATS
/* A request has joined the list. A message before its receive is something that a poll has found. */
MPL_STATIC_INLINE_PREFIX void MPIDI_match_joined(MPIR_Request ** list, enum MPIDIG_queue_type q)
{
    if (q == MPIDIG_PART)
        return;
    MPIDI_stats_queued(MPIDI_match_queue_stats(list, q));
    MPIDI_thread_local.arrived += q == MPIDIG_PT2PT_UNEXP;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_match_left(MPIR_Request ** list, enum MPIDIG_queue_type q)
{
    if (q != MPIDIG_PART)
        MPIDI_stats_dequeued(MPIDI_match_queue_stats(list, q));
}
#endif
#define MPIDI_match_add(req_, list_, q_) MPIDI_STATS(MPIDI_match_joined(list_, q_))
#define MPIDI_match_remove(req_, list_, q_) MPIDI_STATS(MPIDI_match_left(list_, q_))
#define MPIDI_match_prefetch(req_) do { } while (0)

MPL_STATIC_INLINE_PREFIX bool MPIDI_match_is_listed(MPIR_Request * req, MPIR_Request * list)
{
    for (; list && list != req; list = list->next)
        MPIR_T_PVAR_COUNTER_INC(RECVQ, posted_recvq_match_attempts, 1);
    return list != NULL;
}
#define MPIDI_match_first(source_, tag_, context_id_, list_, q_) (*(list_))
#endif

/* In place of MPICH's functions, which search the list from the front. */

MPL_STATIC_INLINE_PREFIX void MPIDIG_enqueue_request(MPIR_Request * req, MPIR_Request ** list,
                                                     enum MPIDIG_queue_type qtype)
{
    DL_APPEND(*list, req);
    MPIDI_match_add(req, list, qtype);
    MPIDIG_DO_ENQUEUE_EVENT(qtype);
    MPIDIG_PVAR_QUEUE_LEVEL_INC(qtype);
}

/* The first request of the list that matches, or NULL. Stays in the list. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_match_search(int rank, int tag,
                                                          MPIR_Context_id_t context_id,
                                                          MPIR_Request ** list,
                                                          enum MPIDIG_queue_type qtype)
{
    MPIR_Request *req;

    for (req = MPIDI_match_first(rank, tag, context_id, list, qtype); req; req = req->next) {
        MPIDIG_PVAR_QUEUE_COUNTER_INC(qtype);
        if (MPIDIG_match_request(rank, tag, context_id, req, qtype))
            break;
    }
    return req;
}

MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDIG_rreq_find(int rank, int tag,
                                                        MPIR_Context_id_t context_id,
                                                        MPIR_Request ** list,
                                                        enum MPIDIG_queue_type qtype)
{
    MPIR_Request *req;

    MPIDIG_PVAR_QUEUE_TIMER_START(qtype);
    req = MPIDI_match_search(rank, tag, context_id, list, qtype);
    MPIDIG_PVAR_QUEUE_TIMER_END(qtype, req);
    return req;
}

/* Take req, which a search has just found, out of the list. */
MPL_STATIC_INLINE_PREFIX void MPIDI_match_take(MPIR_Request * req, MPIR_Request ** list,
                                               enum MPIDIG_queue_type qtype)
{
    MPIDI_match_prefetch(req);
    DL_DELETE(*list, req);
    MPIDI_match_remove(req, list, qtype);
    MPIDIG_DO_DEQUEUE_EVENT(qtype);
    MPIDIG_PVAR_QUEUE_LEVEL_DEC(qtype);
}

MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDIG_rreq_dequeue(int rank, int tag,
                                                           MPIR_Context_id_t context_id,
                                                           MPIR_Request ** list,
                                                           enum MPIDIG_queue_type qtype)
{
    MPIR_Request *req;

    MPIDIG_PVAR_QUEUE_TIMER_START(qtype);
    req = MPIDI_match_search(rank, tag, context_id, list, qtype);
    if (req)
        MPIDI_match_take(req, list, qtype);
    MPIDIG_PVAR_QUEUE_TIMER_END(qtype, req);
    return req;
}

/* Returns 1 if req, a receive, was in the list of posted receives, and takes it out. */
MPL_STATIC_INLINE_PREFIX int MPIDIG_delete_posted(MPIR_Request * req, MPIR_Request ** list)
{
    MPIR_T_PVAR_TIMER_START(RECVQ, time_failed_matching_postedq);
    if (!MPIDI_match_is_listed(req, *list)) {
        MPIR_T_PVAR_TIMER_END(RECVQ, time_failed_matching_postedq);
        return 0;
    }
    DL_DELETE(*list, req);
    MPIDI_match_remove(req, list, MPIDIG_PT2PT_POSTED);
    MPIR_T_PVAR_LEVEL_DEC(RECVQ, posted_recvq_length, 1);
    return 1;
}

#endif /* MPIDI_MATCH_H_INCLUDED */

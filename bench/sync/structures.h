/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The sequential objects that the operations work on (thesis, sections 6.2.3, 6.2.4 and 7.2.3):
 * counter, array of counters, stack, queue, and the two halves of Michael and Scott's two-lock
 * queue. Each counts its operations and how often the executing thread changed: their quotient is
 * the combining rate. */
#ifndef BENCH_SYNC_STRUCTURES_H_INCLUDED
#define BENCH_SYNC_STRUCTURES_H_INCLUDED

#include "combiners.h"

#define ARRAY_COUNTERS 64
#define POOL_NODES (4 * BENCH_MAX_THREADS)

typedef struct node {
    TSM_ATOMIC(struct node *) next;     /* atomic for the two-lock queue only */
    uint64_t value;
    char pad[TSM_CACHELINE - sizeof(void *) - sizeof(uint64_t)];
} node_t;

/* The thread that executes, and how often it changed. */
typedef struct turns {
    uint64_t operations, changes;
    const void *last;
} turns_t;

typedef struct object {
    turns_t turns;
    char pad[TSM_CACHELINE];
    TSM_ATOMIC(uint64_t) counter;       /* atomic for the fetch-and-add only */
    uint64_t array[ARRAY_COUNTERS];
    node_t *top, *first, *last;         /* of the stack; of the queue, which has a dummy first */
    node_t *spare;                      /* unused nodes; part of the object, not of a thread */
} object_t;

/* The two-lock queue: each end with its own data. */
typedef struct queue2 {
    turns_t head_turns;
    node_t *first;
    char pad[2 * TSM_CACHELINE];
    turns_t tail_turns;
    node_t *last;
    char pad2[2 * TSM_CACHELINE];
} queue2_t;

static inline void count_turn(turns_t *turns)
{
    static _Thread_local char me;

    turns->operations++;
    if (turns->last != &me) {
        turns->last = &me;
        turns->changes++;
    }
}

static inline node_t *next_of(node_t *node)
{
    return tsm_load(&node->next, TSM_RELAXED);
}

static inline node_t *node_take(object_t *o, uint64_t value)
{
    node_t *node = o->spare;
    if (node == NULL)
        bench_die(1, "the nodes are used up: an element was put in and not found again");
    o->spare = next_of(node);
    node->value = value;
    tsm_store(&node->next, NULL, TSM_RELAXED);
    return node;
}

static inline void node_give(object_t *o, node_t *node)
{
    tsm_store(&node->next, o->spare, TSM_RELAXED);
    o->spare = node;
}

static inline uint64_t add(object_t *o, uint64_t n)
{
    uint64_t old = tsm_load(&o->counter, TSM_RELAXED);
    count_turn(&o->turns);
    tsm_store(&o->counter, old + n, TSM_RELAXED);
    return old;
}
OPERATION(add, object_t)

static inline uint64_t sweep(object_t *o, uint64_t n)
{
    count_turn(&o->turns);
    for (uint64_t i = 0; i < n; i++) {
        o->array[i % ARRAY_COUNTERS]++;
        __asm__ __volatile__("" : : : "memory");        /* one increment after the other */
    }
    return n;
}
OPERATION(sweep, object_t)

static inline uint64_t push(object_t *o, uint64_t value)
{
    node_t *node = node_take(o, value);
    count_turn(&o->turns);
    tsm_store(&node->next, o->top, TSM_RELAXED);
    o->top = node;
    return value;
}
OPERATION(push, object_t)

/* 0 if the stack is empty. */
static inline uint64_t pop(object_t *o, uint64_t unused)
{
    node_t *node = o->top;
    (void) unused;
    count_turn(&o->turns);
    if (node == NULL)
        return 0;
    uint64_t value = node->value;
    o->top = next_of(node);
    node_give(o, node);
    return value;
}
OPERATION(pop, object_t)

static inline uint64_t enqueue(object_t *o, uint64_t value)
{
    node_t *node = node_take(o, value);
    count_turn(&o->turns);
    tsm_store(&o->last->next, node, TSM_RELAXED);
    o->last = node;
    return value;
}
OPERATION(enqueue, object_t)

/* 0 if the queue is empty. */
static inline uint64_t dequeue(object_t *o, uint64_t unused)
{
    node_t *dummy = o->first, *node = next_of(dummy);
    (void) unused;
    count_turn(&o->turns);
    if (node == NULL)
        return 0;
    uint64_t value = node->value;
    o->first = node;
    node_give(o, dummy);
    return value;
}
OPERATION(dequeue, object_t)

/* input: the address of a node, which the queue keeps. */
static inline uint64_t enqueue2(queue2_t *q, uint64_t input)
{
    node_t *node = (node_t *) (uintptr_t) input;
    count_turn(&q->tail_turns);
    tsm_store(&node->next, NULL, TSM_RELAXED);
    tsm_store(&q->last->next, node, TSM_RELEASE);
    q->last = node;
    return 1;
}
OPERATION(enqueue2, queue2_t)

/* The address of a node, now the caller's, with the value; 0 if the queue is empty. */
static inline uint64_t dequeue2(queue2_t *q, uint64_t unused)
{
    node_t *dummy = q->first, *node = tsm_load(&dummy->next, TSM_ACQUIRE);
    (void) unused;
    count_turn(&q->head_turns);
    if (node == NULL)
        return 0;
    dummy->value = node->value;
    q->first = node;
    return (uintptr_t) dummy;
}
OPERATION(dequeue2, queue2_t)

static object_t *object_create(void)
{
    object_t *o = bench_alloc(sizeof(*o));
    node_t *pool = bench_alloc(POOL_NODES * sizeof(*pool));

    for (int i = 0; i < POOL_NODES; i++)
        node_give(o, &pool[i]);
    o->first = o->last = node_take(o, 0);
    return o;
}

static queue2_t *queue2_create(void)
{
    queue2_t *q = bench_alloc(sizeof(*q));
    q->first = q->last = bench_alloc(sizeof(node_t));
    return q;
}

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The memory model: messages and views; see model.h. */

#include "model.h"
#include "table.h"

#include <stdatomic.h>
#include <string.h>

#define GAP ((stamp_t) 1 << 16)     /* between the stamps of two messages that come in turn */

typedef struct message {
    uint64_t value;
    uint64_t hash;              /* of its value and of its writer's history */
    stamp_t stamp;
    int rmw;                    /* a read-modify-write of the message just before this one */
    int known;                  /* entries of view that are set; 0: carries no view at all */
    view_t view;
} message_t;

typedef struct location {
    uintptr_t address;
    unsigned size;
    int plain;                  /* overwritten by plain stores since the last atomic access */
    int count;
    uint64_t hash;              /* of its messages, as part of memory_t.hash */
    message_t *msg[MODEL_HISTORY];      /* in modification order */
} location_t;

#define MESSAGES (MODEL_STEPS + 2 * MODEL_LOCATIONS)

typedef struct memory {
    int messages;
    uint64_t hash;              /* sum over the locations */
    uint64_t ordered_hash;      /* of ordered, fence and futex; 0: not known */
    view_t ordered;             /* newest message that a seq_cst access of the location has met */
    view_t fence;               /* what the last seq_cst fence has seen */
    view_t futex;               /* `at` only: what FUTEX_WAIT cannot miss */
    table_t table;              /* address to index in location; its count is how many there are */
    location_t location[MODEL_LOCATIONS];
    message_t message[MESSAGES];
} memory_t;

void memory_create(void)
{
    model->memory = model_map(sizeof(memory_t));
}

void memory_reset(void)
{
    memory_t *m = model->memory;

    table_reset(&m->table);
    m->messages = 0;
    m->hash = m->ordered_hash = 0;
    memset(&m->ordered, 0, sizeof(m->ordered));
    memset(&m->fence, 0, sizeof(m->fence));
    memset(&m->futex, 0, sizeof(m->futex));
}

/* ---- views ---- */

static int raise_stamps(stamp_t *into, const stamp_t *from, int n)
{
    int changed = 0;

    for (int i = 0; i < n; i++) {
        if (from[i] > into[i]) {
            into[i] = from[i];
            changed = 1;
        }
    }
    return changed;
}

/* Returns whether that changed anything. */
static int join_known(view_t *into, const view_t *from, int known)
{
    return raise_stamps(into->at, from->at, known) | raise_stamps(into->early, from->early, known) |
        raise_stamps(into->clock, from->clock, MODEL_THREADS);
}

void view_join(view_t *into, const view_t *from)
{
    join_known(into, from, model->memory->table.count);
}

/* ---- histories, for the enumeration ---- */

static void remember(uint64_t what)
{
    model->self->history = model_mix(model->self->history, what);
}

static void rehash(location_t *l)
{
    uint64_t hash = l->address;

    for (int i = 0; i < l->count; i++)
        hash = model_mix(hash, l->msg[i]->hash);
    model->memory->hash += hash - l->hash;
    l->hash = hash;
    model->memory->ordered_hash = 0;
}

/* The message that a stamp stands for. */
static uint64_t hash_at(const location_t *l, stamp_t stamp)
{
    for (int i = 0; i < l->count; i++) {
        if (l->msg[i]->stamp >= stamp)
            return l->msg[i]->hash;
    }
    return stamp;
}

static uint64_t ordered_hash(void)
{
    memory_t *m = model->memory;

    for (int i = 0; m->ordered_hash == 0 && i < m->table.count; i++) {
        const location_t *l = &m->location[i];
        uint64_t hash = model_mix(l->address, hash_at(l, m->ordered.at[i]));
        hash = model_mix(hash, hash_at(l, m->fence.at[i]));
        m->ordered_hash += model_mix(hash, hash_at(l, m->futex.at[i]));
    }
    return m->ordered_hash;
}

uint64_t memory_hash(void)
{
    return model_mix(model->memory->hash, ordered_hash());
}

static int acquires(int order)
{
    return order == memory_order_acquire || order == memory_order_consume ||
        order == memory_order_acq_rel || order == memory_order_seq_cst;
}

static int releases(int order)
{
    return order == memory_order_release || order == memory_order_acq_rel ||
        order == memory_order_seq_cst;
}

/* Later accesses of this thread are not covered by what it has released so far. */
static void next_epoch(void)
{
    model->self->now.clock[model_index(model->self)]++;
}

/* ---- plain accesses ---- */

static void write_plain(uintptr_t begin, size_t size, int freed, void *pc)
{
    memory_t *m = model->memory;

    if (!races_touch(begin, size, PLAIN_WRITE, freed, pc))
        return;
    for (uintptr_t address = begin; address < begin + size; address++) {
        int i = table_find(&m->table, address);
        if (i >= 0)
            m->location[i].plain = 1;
    }
}

void memory_plain(const volatile void *p, size_t size, int write, void *pc)
{
    if (!model->self)
        return;
    if (write && (size_t) ((const volatile char *) p - model->self->stack) >= MODEL_STACK)
        model->self->changed = 1;
    if (write)
        write_plain((uintptr_t) p, size, 0, pc);
    else
        races_touch((uintptr_t) p, size, PLAIN_READ, 0, pc);
}

void memory_free(void *p, size_t size, void *pc)
{
    write_plain((uintptr_t) p, size, 1, pc);
    remember((uintptr_t) p);
}

/* ---- locations and messages ---- */

static uint64_t peek(uintptr_t address, unsigned size)
{
    uint64_t value = 0;

    memcpy(&value, (void *) address, size);     /* little-endian hosts */
    return value;
}

static void poke(uintptr_t address, unsigned size, uint64_t value)
{
    memcpy((void *) address, &value, size);
}

/* The location takes what plain stores have left in memory as its only message. */
static void start_history(location_t *l, uint64_t value)
{
    memory_t *m = model->memory;
    stamp_t last = l->count > 0 ? l->msg[l->count - 1]->stamp : 0;

    if (l->count == 0) {
        if (m->messages == MESSAGES)
            model_fail("limit", "too many messages");
        l->msg[0] = &m->message[m->messages++];
    }
    l->count = 1;
    l->plain = 0;
    l->msg[0]->value = value;
    l->msg[0]->stamp = last + GAP;
    l->msg[0]->rmw = 0;
    l->msg[0]->known = 0;
    l->msg[0]->hash = model_mix(model_mix(l->address, value), l->msg[0]->stamp);
    rehash(l);
}

static location_t *locate(const volatile void *p, unsigned size)
{
    memory_t *m = model->memory;
    uintptr_t address = (uintptr_t) p;
    uint64_t value = peek(address, size);
    int i = table_find(&m->table, address);
    location_t *l;

    if (i < 0) {
        i = table_add(&m->table, address, MODEL_LOCATIONS);
        m->location[i] = (location_t) { .address = address, .size = size };
        races_atomic(address);
    }
    l = &m->location[i];
    if (l->count == 0 || l->plain || l->size != size || l->msg[l->count - 1]->value != value) {
        l->size = size;
        start_history(l, value);
    }
    return l;
}

static int index_of(const location_t *l)
{
    return (int) (l - model->memory->location);
}

/* Later loads of this thread cannot take their place in the seq_cst order before this access. */
static void order_loads(int order)
{
    if (order != memory_order_seq_cst)
        return;
    model->self->changed |= raise_stamps(model->self->now.early, model->memory->ordered.at,
                                         model->memory->table.count);
    if (model->enumerating)
        remember(ordered_hash());
}

/* The oldest message that the thread may still read with this order; load: and does not write. */
static int oldest(const location_t *l, int order, int load)
{
    stamp_t least = model->self->now.at[index_of(l)];
    int i = l->count == MODEL_HISTORY;  /* the first one may be about to be forgotten */

    if (order == memory_order_seq_cst) {
        const stamp_t *from = load ? model->self->now.early : model->memory->ordered.at;
        if (from[index_of(l)] > least)
            least = from[index_of(l)];
    }
    while (i < l->count - 1 && l->msg[i]->stamp < least)
        i++;
    return i;
}

/* Room for a message behind number i that tears no read-modify-write from what it has read? */
static int has_room(const location_t *l, int i)
{
    return i == l->count - 1 ||
        (!l->msg[i + 1]->rmw && l->msg[i + 1]->stamp - l->msg[i]->stamp > 1);
}

/* Enumerating: a write is seen some time. A loop that goes on doing something meets the same old
 * message in one of its rounds only. */
static int is_too_old(const location_t *l, int i)
{
    const thread_t *self = model->self;
    int at = index_of(l);

    return i < l->count - 1 && self->old[at].stamp == l->msg[i]->stamp &&
        self->old[at].round != self->round;
}

static void note_old(const location_t *l, int i)
{
    thread_t *self = model->self;
    int at = index_of(l);

    if (i == l->count - 1)
        return;
    model->stats.stale++;
    self->stale = 1;
    self->old[at].stamp = l->msg[i]->stamp;
    self->old[at].round = self->round;
}

/* One of the messages that a load of this order may read. */
static int enumerate_readable(const location_t *l, int order)
{
    int places[MODEL_HISTORY], n = 0;

    for (int i = l->count - 1; i >= oldest(l, order, 1); i--) {
        if (!is_too_old(l, i))
            places[n++] = i;
    }
    int i = places[enumerate_choice((uint32_t) n)];
    note_old(l, i);
    return i;
}

static int pick_readable(const location_t *l, int order)
{
    int least = oldest(l, order, 1), newest = l->count - 1, i;

    if (model->enumerating)
        return enumerate_readable(l, order);
    if (least == newest || !model_odds(model->stale_odds))
        return newest;
    i = least + (int) model_random((uint32_t) (newest - least + 1));
    model->stats.stale += i < newest;
    return i;
}

static int enumerate_place(const location_t *l, int least)
{
    int places[MODEL_HISTORY], n = 0;

    for (int i = l->count - 1; i >= least; i--) {
        if (has_room(l, i))
            places[n++] = i;
    }
    int i = places[enumerate_choice((uint32_t) n)];
    model->stats.inserted += i < l->count - 1;
    return i;
}

/* What a compare-and-swap reads: whatever its failure order allows, but what it then replaces must
 * be followed by nothing that it has seen or may not tear off. */
static int enumerate_cas(const location_t *l, uint64_t expected, int order, int failed)
{
    int places[MODEL_HISTORY], n = 0, first = oldest(l, order, 0);

    for (int i = l->count - 1; i >= oldest(l, failed, 1); i--) {
        if ((l->msg[i]->value != expected || (i >= first && has_room(l, i))) && !is_too_old(l, i))
            places[n++] = i;
    }
    int i = places[enumerate_choice((uint32_t) n)];
    note_old(l, i);
    return i;
}

/* Behind which message will a write go? */
static int pick_place(const location_t *l, int order)
{
    int least = oldest(l, order, 0), newest = l->count - 1;

    if (model->enumerating)
        return enumerate_place(l, least);
    if (least == newest || !model_odds(model->insert_odds))
        return newest;

    int i = least + (int) model_random((uint32_t) (newest - least + 1));
    if (!has_room(l, i))
        return newest;
    model->stats.inserted += i < newest;
    return i;
}

/* A new message behind number i, which may move. */
static message_t *insert(location_t *l, int i)
{
    memory_t *m = model->memory;
    message_t *fresh;

    if (l->count == MODEL_HISTORY) {
        fresh = l->msg[0];
        memmove(&l->msg[0], &l->msg[1], sizeof(l->msg[0]) * (MODEL_HISTORY - 1));
        l->count--;
        i = i > 0 ? i - 1 : 0;
    } else if (m->messages == MESSAGES) {
        model_fail("limit", "too many messages");
    } else {
        fresh = &m->message[m->messages++];
    }
    stamp_t before = l->msg[i]->stamp;
    fresh->stamp = before + (i == l->count - 1 ? GAP : (l->msg[i + 1]->stamp - before) / 2);
    memmove(&l->msg[i + 2], &l->msg[i + 1], sizeof(l->msg[0]) * (size_t) (l->count - 1 - i));
    l->msg[i + 1] = fresh;
    l->count++;
    fresh->known = 0;
    fresh->rmw = 0;
    return fresh;
}

static void add_view(message_t *to, const view_t *view, int known)
{
    int locations = model->memory->table.count;

    if (to->known == 0)
        memset(&to->view, 0, sizeof(to->view));
    to->known = locations;
    join_known(&to->view, view, known);
}

/* The thread has met this message and cannot go back behind it. */
static void meet(const location_t *l, const message_t *msg, int order)
{
    int i = index_of(l);

    if (msg->stamp > model->self->now.at[i]) {
        model->self->now.at[i] = msg->stamp;
        model->self->changed = 1;
    }
    if (order == memory_order_seq_cst && msg->stamp > model->memory->ordered.at[i]) {
        model->memory->ordered.at[i] = msg->stamp;
        model->memory->ordered_hash = 0;
    }
}

static void read_message(const location_t *l, const message_t *msg, int order)
{
    meet(l, msg, order);
    remember(msg->hash);
    order_loads(order);
    if (msg->known)
        model->self->changed |= join_known(acquires(order) ? &model->self->now :
                                           &model->self->pending, &msg->view, msg->known);
}

/* Write behind message number i; rmw: having read it, and so in its release sequence. */
static void write_message(location_t *l, int i, uint64_t value, int order, int rmw)
{
    thread_t *self = model->self;
    message_t *read = l->msg[i];
    message_t *msg = insert(l, i);

    msg->value = value;
    msg->hash = model_mix(model_mix(self->history, l->address), value);
    self->history = model_mix(msg->hash, 1);
    rehash(l);
    model_wrote();
    msg->rmw = rmw;
    meet(l, msg, order);
    if (releases(order))
        add_view(msg, &self->now, model->memory->table.count);
    else if (self->fenced.clock[model_index(self)] > 0)
        add_view(msg, &self->fenced, model->memory->table.count);
    if (rmw && read->known)
        add_view(msg, &read->view, read->known);
    if (msg->known)
        msg->view.at[index_of(l)] = msg->stamp;
    next_epoch();
    if (msg == l->msg[l->count - 1])
        poke(l->address, l->size, value);
}

static void touch_atomic(const location_t *l, enum access kind, void *pc)
{
    races_touch(l->address, l->size, kind, 0, pc);
}

uint64_t memory_load(const volatile void *p, unsigned size, int order, void *pc)
{
    model_step();

    location_t *l = locate(p, size);
    message_t *msg = l->msg[pick_readable(l, order)];
    touch_atomic(l, ATOMIC_READ, pc);
    read_message(l, msg, order);
    model_event("load", p, msg->value, order, pc);
    return msg->value;
}

void memory_store(volatile void *p, unsigned size, uint64_t value, int order, void *pc)
{
    model_step();

    location_t *l = locate(p, size);
    touch_atomic(l, ATOMIC_WRITE, pc);
    write_message(l, pick_place(l, order), value, order, 0);
    order_loads(order);
    model_event("store", p, value, order, pc);
}

uint64_t memory_rmw(volatile void *p, unsigned size, memory_op_t op, uint64_t arg, int order,
                    void *pc)
{
    model_step();

    location_t *l = locate(p, size);
    int i = pick_place(l, order);
    uint64_t old = l->msg[i]->value;
    touch_atomic(l, ATOMIC_WRITE, pc);
    read_message(l, l->msg[i], order);
    write_message(l, i, op(old, arg), order, 1);
    model_event("rmw, found", p, old, order, pc);
    return old;
}

uint64_t memory_cas(volatile void *p, unsigned size, uint64_t expected, uint64_t value, int order,
                    int failed, int *done, void *pc)
{
    model_step();

    location_t *l = locate(p, size);
    int i = model->enumerating ? enumerate_cas(l, expected, order, failed) :
        pick_readable(l, failed);
    if (l->msg[i]->value == expected && (i < oldest(l, order, 0) || !has_room(l, i)))
        i = l->count - 1;
    uint64_t old = l->msg[i]->value;
    *done = (old == expected);
    touch_atomic(l, *done ? ATOMIC_WRITE : ATOMIC_READ, pc);
    read_message(l, l->msg[i], *done ? order : failed);
    if (*done)
        write_message(l, i, value, order, 1);
    model_event(*done ? "cas, found" : "failed cas, found", p, old, *done ? order : failed, pc);
    return old;
}

static void seq_cst_fence(thread_t *self)
{
    memory_t *m = model->memory;

    /* a little stronger than RC11: orders the seq_cst accesses of other locations, too */
    view_join(&self->now, &m->fence);
    view_join(&self->now, &m->ordered);
    view_join(&m->fence, &self->now);
    view_join(&m->ordered, &self->now);
    memset(m->fence.clock, 0, sizeof(m->fence.clock));
    memset(m->ordered.clock, 0, sizeof(m->ordered.clock));
    m->ordered_hash = 0;
    model->writes++;
    self->changed = 1;
    if (model->enumerating)
        self->history = model_mix(self->history, ordered_hash());
}

void memory_fence(int order)
{
    thread_t *self = model->self;

    model_step();
    if (acquires(order))
        view_join(&self->now, &self->pending);
    order_loads(order);
    if (order == memory_order_seq_cst)
        seq_cst_fence(self);
    if (releases(order)) {
        view_join(&self->fenced, &self->now);
        next_epoch();
    }
    remember((uint64_t) order);
    self->changed = 1;
}

/* ---- what the kernel reads ---- */

uint64_t memory_futex_read(const void *p)
{
    location_t *l = locate(p, 4);
    int i = pick_readable(l, memory_order_relaxed);

    while (l->msg[i]->stamp < model->memory->futex.at[index_of(l)])
        i++;
    meet(l, l->msg[i], memory_order_relaxed);
    remember(l->msg[i]->hash);
    return l->msg[i]->value;
}

void memory_futex_publish(const void *p)
{
    int i = table_find(&model->memory->table, (uintptr_t) p);

    if (i < 0)
        return;
    stamp_t seen = model->self->now.at[i];
    if (seen > model->memory->futex.at[i])
        model->memory->futex.at[i] = seen;
    model->memory->ordered_hash = 0;
}

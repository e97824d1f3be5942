/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The memory model: messages, views, and the detection of races; see model.h. */

#include "model.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* Ways to touch memory, for the detection of races. */
enum access { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, ACCESS_KINDS };

static const char *const access_name[ACCESS_KINDS] =
    { "plain read", "plain write", "atomic read", "atomic write" };

/* Which earlier accesses of others must happen before an access of this kind. */
static const unsigned conflicts[ACCESS_KINDS] = {
    1u << PLAIN_WRITE | 1u << ATOMIC_WRITE,
    1u << PLAIN_READ | 1u << PLAIN_WRITE | 1u << ATOMIC_READ | 1u << ATOMIC_WRITE,
    1u << PLAIN_WRITE,
    1u << PLAIN_READ | 1u << PLAIN_WRITE
};

/* Eight bytes: the last access of each thread to each of them. */
typedef struct cell {
    uintptr_t granule;
    int kinds;                  /* bit for each access kind seen, by any thread */
    unsigned freed;             /* bit for each byte */
    unsigned locations;         /* bit for each byte at which an atomic object begins */
    uint32_t clock[MODEL_THREADS][ACCESS_KINDS][8];
    void *pc[MODEL_THREADS][ACCESS_KINDS];
} cell_t;

#define CELLS    1024
#define SLOTS    4096           /* of both hash tables */
#define MESSAGES (MODEL_STEPS + 2 * MODEL_LOCATIONS)

typedef struct slot {
    uintptr_t key;
    uint32_t run;               /* the entry is from this run */
    int index;
} slot_t;

typedef struct memory {
    uint32_t run;
    int locations, cells, messages;
    uint64_t hash;              /* sum over the locations */
    uint64_t ordered_hash;      /* of ordered, fence and futex; 0: not known */
    view_t ordered;             /* newest message that a seq_cst access of the location has met */
    view_t fence;               /* what the last seq_cst fence has seen */
    view_t futex;               /* `at` only: what FUTEX_WAIT cannot miss */
    slot_t location_slot[SLOTS];
    slot_t cell_slot[SLOTS];
    location_t location[MODEL_LOCATIONS];
    cell_t cell[CELLS];
    message_t message[MESSAGES];
} memory_t;

void memory_create(void)
{
    model->memory = mmap(NULL, sizeof(memory_t), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (model->memory == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
}

void memory_reset(void)
{
    memory_t *m = model->memory;

    m->run++;
    m->locations = m->cells = m->messages = 0;
    m->hash = m->ordered_hash = 0;
    memset(&m->ordered, 0, sizeof(m->ordered));
    memset(&m->fence, 0, sizeof(m->fence));
    memset(&m->futex, 0, sizeof(m->futex));
}

/* The slot of a key, or the free one in which it has to be put. */
static slot_t *find(slot_t *slots, uintptr_t key)
{
    size_t i = (size_t) (key * 0x9e3779b97f4a7c15u >> 40) % SLOTS;

    while (slots[i].run == model->memory->run && slots[i].key != key)
        i = (i + 1) % SLOTS;
    return &slots[i];
}

static int take_slot(slot_t *slot, uintptr_t key, int *count, int most)
{
    if (*count == most)
        model_fail("limit", "the client uses too much memory");
    *slot = (slot_t) { .key = key, .run = model->memory->run, .index = (*count)++ };
    return slot->index;
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
    join_known(into, from, model->memory->locations);
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

    for (int i = 0; m->ordered_hash == 0 && i < m->locations; i++) {
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

/* ---- races ---- */

static cell_t *cell_at(uintptr_t granule)
{
    memory_t *m = model->memory;
    slot_t *slot = find(m->cell_slot, granule);

    if (slot->run == m->run)
        return &m->cell[slot->index];

    cell_t *cell = &m->cell[take_slot(slot, granule, &m->cells, CELLS)];
    memset(cell, 0, sizeof(*cell));
    cell->granule = granule;
    return cell;
}

static void report_race(const cell_t *cell, int other, int kind, enum access mine, void *pc)
{
    char there[256];

    snprintf(there, sizeof(there), "%s", model_where(cell->pc[other][kind]));
    model_fail("race", "thread %d, %s at %s; thread %d, %s at %s", other, access_name[kind], there,
               model_index(model->self), access_name[mine], model_where(pc));
}

static void check_kind(const cell_t *cell, int kind, unsigned from, unsigned to, enum access mine,
                       void *pc)
{
    for (int t = 0; t < model->threads; t++) {
        uint32_t known = model->self->now.clock[t];
        if (&model->thread[t] == model->self)
            continue;
        for (unsigned b = from; b < to; b++) {
            if (cell->clock[t][kind][b] > known)
                report_race(cell, t, kind, mine, pc);
        }
    }
}

/* Bytes from..to-1 of the cell are touched. */
static void touch(cell_t *cell, unsigned from, unsigned to, enum access mine, void *pc)
{
    int self = model_index(model->self);

    if (cell->freed >> from & ((1u << (to - from)) - 1))
        model_fail("use after free", "%s at %s", access_name[mine], model_where(pc));
    for (int kind = 0; kind < ACCESS_KINDS; kind++) {
        if ((conflicts[mine] & (unsigned) cell->kinds) >> kind & 1)
            check_kind(cell, kind, from, to, mine, pc);
    }
    for (unsigned b = from; b < to; b++)
        cell->clock[self][mine][b] = model->self->now.clock[self];
    cell->pc[self][mine] = pc;
    cell->kinds |= 1 << mine;
}

static void overwrite_locations(const cell_t *cell, unsigned from, unsigned to)
{
    memory_t *m = model->memory;

    for (unsigned b = from; b < to; b++) {
        if (cell->locations >> b & 1)
            m->location[find(m->location_slot, cell->granule * 8 + b)->index].plain = 1;
    }
}

static void touch_range(uintptr_t begin, size_t size, enum access kind, int freed, void *pc)
{
    uintptr_t end = begin + size;

    while (begin < end) {
        uintptr_t next = (begin | 7) + 1 < end ? (begin | 7) + 1 : end;
        cell_t *cell = cell_at(begin / 8);
        unsigned from = begin % 8, to = from + (unsigned) (next - begin);
        touch(cell, from, to, kind, pc);
        if (kind == PLAIN_WRITE && cell->locations)
            overwrite_locations(cell, from, to);
        if (freed)
            cell->freed |= ((1u << (to - from)) - 1) << from;
        begin = next;
    }
}

void memory_plain(const volatile void *p, size_t size, int write, void *pc)
{
    if (!model->self)
        return;
    if (write && (size_t) ((const volatile char *) p - model->self->stack) >= MODEL_STACK)
        model->self->changed = 1;
    touch_range((uintptr_t) p, size, write ? PLAIN_WRITE : PLAIN_READ, 0, pc);
}

void memory_free(void *p, size_t size, void *pc)
{
    touch_range((uintptr_t) p, size, PLAIN_WRITE, 1, pc);
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
    slot_t *slot = find(m->location_slot, address);
    uint64_t value = peek(address, size);
    location_t *l;

    if (slot->run != m->run) {
        l = &m->location[take_slot(slot, address, &m->locations, MODEL_LOCATIONS)];
        *l = (location_t) { .address = address, .size = size };
        cell_at(address / 8)->locations |= 1u << address % 8;
    }
    l = &m->location[slot->index];
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
                                         model->memory->locations);
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
    int locations = model->memory->locations;

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
        add_view(msg, &self->now, model->memory->locations);
    else if (self->fenced.clock[model_index(self)] > 0)
        add_view(msg, &self->fenced, model->memory->locations);
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
    touch_range(l->address, l->size, kind, 0, pc);
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
    slot_t *slot = find(model->memory->location_slot, (uintptr_t) p);

    if (slot->run != model->memory->run)
        return;
    stamp_t seen = model->self->now.at[slot->index];
    if (seen > model->memory->futex.at[slot->index])
        model->memory->futex.at[slot->index] = seen;
    model->memory->ordered_hash = 0;
}

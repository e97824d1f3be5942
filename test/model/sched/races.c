/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The detection of races and of accesses to freed memory, by vector clocks; see model.h. */

#include "model.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int kinds;                  /* bit for each access kind seen, by any thread */
    unsigned freed;             /* bit for each byte */
    unsigned locations;         /* bit for each byte at which an atomic object begins */
    uint32_t clock[MODEL_THREADS][ACCESS_KINDS][8];
    void *pc[MODEL_THREADS][ACCESS_KINDS];
} cell_t;

#define CELLS 1024

typedef struct races {
    table_t table;              /* address / 8 to index in cell */
    cell_t cell[CELLS];
} races_t;

void races_create(void)
{
    model->races = model_map(sizeof(races_t));
}

void races_reset(void)
{
    table_reset(&model->races->table);
}

static cell_t *cell_at(uintptr_t granule)
{
    races_t *races = model->races;
    int i = table_find(&races->table, granule);

    if (i >= 0)
        return &races->cell[i];

    cell_t *cell = &races->cell[table_add(&races->table, granule, CELLS)];
    memset(cell, 0, sizeof(*cell));
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

static unsigned bits(unsigned from, unsigned to)
{
    return ((1u << (to - from)) - 1) << from;
}

/* Bytes from..to-1 of the cell are touched. */
static void touch(cell_t *cell, unsigned from, unsigned to, enum access mine, void *pc)
{
    int self = model_index(model->self);

    if (cell->freed & bits(from, to))
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

int races_touch(uintptr_t begin, size_t size, enum access kind, int freed, void *pc)
{
    uintptr_t end = begin + size;
    int atomic = 0;

    while (begin < end) {
        uintptr_t next = (begin | 7) + 1 < end ? (begin | 7) + 1 : end;
        cell_t *cell = cell_at(begin / 8);
        unsigned from = begin % 8, to = from + (unsigned) (next - begin);
        touch(cell, from, to, kind, pc);
        atomic |= (cell->locations & bits(from, to)) != 0;
        if (freed)
            cell->freed |= bits(from, to);
        begin = next;
    }
    return atomic;
}

void races_atomic(uintptr_t address)
{
    cell_at(address / 8)->locations |= 1u << address % 8;
}

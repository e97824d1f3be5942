/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* A table from addresses to indexes 0, 1, 2 ... that is emptied at once: memory.c and races.c. */

#ifndef TABLE_H_INCLUDED
#define TABLE_H_INCLUDED

#include "model.h"

#define TABLE_SLOTS 4096        /* a power of two, well above the number of keys */

typedef struct table_slot {
    uintptr_t key;
    uint32_t run;               /* the entry is from this run */
    int index;
} table_slot_t;

typedef struct table {
    uint32_t run;
    int count;
    table_slot_t slot[TABLE_SLOTS];
} table_t;

static inline void table_reset(table_t *table)
{
    table->run++;
    table->count = 0;
}

/* The slot of a key, or the free one for it. */
static inline table_slot_t *table_slot(table_t *table, uintptr_t key)
{
    size_t i = (size_t) (key * 0x9e3779b97f4a7c15u >> 40) % TABLE_SLOTS;

    while (table->slot[i].run == table->run && table->slot[i].key != key)
        i = (i + 1) % TABLE_SLOTS;
    return &table->slot[i];
}

/* Returns the index of the key; -1: not in the table. */
static inline int table_find(table_t *table, uintptr_t key)
{
    const table_slot_t *slot = table_slot(table, key);

    return slot->run == table->run ? slot->index : -1;
}

/* Adds a key that is not in the table; returns its index, less than `most`. */
static inline int table_add(table_t *table, uintptr_t key, int most)
{
    table_slot_t *slot = table_slot(table, key);

    if (table->count == most)
        model_fail("limit", "the client uses too much memory");
    *slot = (table_slot_t) { .key = key, .run = table->run, .index = table->count++ };
    return slot->index;
}

#endif /* TABLE_H_INCLUDED */

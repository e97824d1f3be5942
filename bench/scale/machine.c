/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Cache lines. A line has an owner, the core that wrote it last, and a set of cores with a copy.
 *
 *   read   by a core without a copy: one transfer from the owner; both have a copy then
 *   write  by a core that does not have the only copy: one transfer, which takes the line from its
 *          owner and the copies from all others; its cost is that of the farthest of them
 *   first  access of all: no transfer; the line comes from memory
 *
 * A line makes one transfer at a time, in the order in which the cores ask. A core waits for what it
 * reads and for its read-modify-writes. A plain store does not wait, as in a store buffer: the line is
 * busy meanwhile, and the core's next fence or read-modify-write waits. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WORDS (SIM_CORES / 64)
#define SLOTS ((size_t) 1 << 22)        /* of the table; a power of two */
#define PLACES 16                       /* in the code, remembered for each line */
#define NAMES 64

typedef struct place {
    const void *pc;
    uint32_t count;
} place_t;

typedef struct line {
    uintptr_t number;           /* address / 64; 0: unused */
    int owner;
    uint64_t copies[WORDS];
    uint64_t busy;              /* until then */
    uint64_t arrives;           /* at its owner or its last reader, which has asked for it ahead */
    uint64_t transfers;
    place_t place[PLACES];
} line_t;

typedef struct name {
    uintptr_t begin, end;
    const char *name;
} name_t;

sim_machine_t sim_machine;
sim_counts_t sim_counts;

static line_t *lines;
static line_t *used[SLOTS / 2];         /* in the order of their first access */
static size_t line_count;
static uint64_t stored[SIM_CORES];      /* when the core's last store is done */
static name_t names[NAMES];
static int name_count;

void sim_lines_create(void)
{
    lines = mmap(NULL, SLOTS * sizeof(*lines), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (lines == MAP_FAILED)
        sim_fail("no memory for %zu lines", SLOTS);
}

static line_t *find(uintptr_t number)
{
    size_t i = (size_t) (number * 0x9e3779b97f4a7c15u >> 40) % SLOTS;

    while (lines[i].number != 0 && lines[i].number != number)
        i = (i + 1) % SLOTS;
    if (lines[i].number == 0) {
        if (line_count == SLOTS / 2)
            sim_fail("the program uses more than %zu lines", SLOTS / 2);
        used[line_count++] = &lines[i];
        lines[i].number = number;
        lines[i].owner = -1;
    }
    return &lines[i];
}

static int has_copy(const line_t *line, int core)
{
    return line->copies[core / 64] >> core % 64 & 1;
}

static int has_only_copy(const line_t *line, int core)
{
    for (int i = 0; i < WORDS; i++) {
        if (line->copies[i] != (i == core / 64 ? (uint64_t) 1 << core % 64 : 0))
            return 0;
    }
    return 1;
}

static int is_far(int a, int b)
{
    return a / sim_machine.cluster != b / sim_machine.cluster;
}

/* 1 if a core outside this one's cluster has a copy. */
static int any_is_far(const line_t *line, int core)
{
    for (int i = 0; i < WORDS; i++) {
        for (uint64_t left = line->copies[i]; left; left &= left - 1) {
            if (is_far(64 * i + __builtin_ctzll(left), core))
                return 1;
        }
    }
    return 0;
}

static void note_place(line_t *line, const void *pc)
{
    int least = 0;

    line->transfers++;
    for (int i = 0; i < PLACES; i++) {
        if (line->place[i].pc == pc || line->place[i].count == 0) {
            line->place[i].pc = pc;
            line->place[i].count++;
            return;
        }
        if (line->place[i].count < line->place[least].count)
            least = i;
    }
    line->place[least] = (place_t) { pc, 1 };
}

/* Count a transfer to this core and return what it costs. */
static uint64_t transfer(line_t *line, int core, int writes, const void *pc)
{
    int far;

    if (line->owner < 0) {
        sim_counts.cold++;
        return sim_machine.far;
    }
    far = writes ? any_is_far(line, core) : is_far(line->owner, core);
    if (far)
        sim_counts.far++;
    else
        sim_counts.near++;
    note_place(line, pc);
    return far ? sim_machine.far : sim_machine.near;
}

static void take(line_t *line, int core, int writes)
{
    if (writes) {
        memset(line->copies, 0, sizeof(line->copies));
        line->owner = core;
    } else if (line->owner < 0) {
        line->owner = core;
    }
    line->copies[core / 64] |= (uint64_t) 1 << core % 64;
    line->arrives = 0;
}

static void wait_until(uint64_t time)
{
    uint64_t now = sim_now();

    if (time > now)
        sim_work(time - now);
}

static int has(const line_t *line, int core, int writes)
{
    return writes ? has_only_copy(line, core) : has_copy(line, core);
}

/* A transfer to this core begins; the line is busy until it has ended. */
static void fetch(line_t *line, int core, int writes, const void *pc)
{
    uint64_t begin = line->busy > sim_now() ? line->busy : sim_now();

    line->busy = begin + transfer(line, core, writes, pc);
    take(line, core, writes);
}

static void access_line(line_t *line, int kind, int ordered, const void *pc)
{
    int core = sim_core();
    int writes = kind != SIM_READ;

    if (!has(line, core, writes) && !ordered)
        sim_point();            /* the core stays: threads do not move */
    if (has(line, core, writes)) {
        wait_until(line->arrives);
    } else {
        fetch(line, core, writes, pc);
        if (kind == SIM_WRITE) {
            if (line->busy > stored[core])
                stored[core] = line->busy;
        } else {
            wait_until(line->busy);
        }
    }
    sim_work(sim_machine.hit);
}

void sim_fence(void)
{
    wait_until(stored[sim_core()]);
    sim_work(sim_machine.rmw);
}

void sim_access(const volatile void *p, size_t size, int kind, int ordered, const void *pc)
{
    uintptr_t first = (uintptr_t) p / 64, last = ((uintptr_t) p + size - 1) / 64;

    if (kind == SIM_RMW)
        sim_fence();
    if (ordered)
        sim_point();
    for (uintptr_t number = first; number <= last; number++)
        access_line(find(number), kind, ordered, pc);
}

void sim_prefetch(const volatile void *p, int writes, const void *pc)
{
    line_t *line = find((uintptr_t) p / 64);
    int core = sim_core();

    if (!has(line, core, writes))
        sim_point();
    if (!has(line, core, writes)) {
        fetch(line, core, writes, pc);
        line->arrives = line->busy;
    }
    sim_work(sim_machine.hit);
}

/* ---- counts and the report ---- */

void sim_counts_reset(void)
{
    memset(&sim_counts, 0, sizeof(sim_counts));
    for (size_t i = 0; i < line_count; i++) {
        used[i]->transfers = 0;
        memset(used[i]->place, 0, sizeof(used[i]->place));
    }
}

void sim_name(const void *p, size_t size, const char *name)
{
    if (name_count == NAMES)
        sim_fail("more than %d names", NAMES);
    names[name_count++] = (name_t) { (uintptr_t) p, (uintptr_t) p + size, name };
}

/* Returns the name of a line, and sets *offset to its place behind the beginning of that. */
static const char *name_of(const line_t *line, uintptr_t *offset)
{
    uintptr_t address = line->number * 64;

    for (int i = name_count - 1; i >= 0; i--) {
        if (names[i].begin < address + 64 && address < names[i].end) {
            *offset = address < names[i].begin ? 0 : address - names[i].begin;
            return names[i].name;
        }
    }
    *offset = 0;
    return "memory of a thread";
}

static int by_transfers(const void *a, const void *b)
{
    const line_t *const *x = a, *const *y = b;

    return ((*x)->transfers < (*y)->transfers) - ((*x)->transfers > (*y)->transfers);
}

void sim_print_lines(FILE *out, int most, double ops)
{
    qsort(used, line_count, sizeof(*used), by_transfers);
    for (size_t i = 0; i < line_count && i < (size_t) most; i++) {
        uintptr_t offset;
        const char *name = name_of(used[i], &offset);
        fprintf(out, "# %8.3f  %s + %zu:", (double) used[i]->transfers / ops, name, (size_t) offset);
        for (int k = 0; k < PLACES && used[i]->place[k].count; k++)
            fprintf(out, " %p %.3f", used[i]->place[k].pc, used[i]->place[k].count / ops);
        fprintf(out, "\n");
    }
}

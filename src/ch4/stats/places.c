/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#ifdef ENABLE_THREAD_STATS

#include <unistd.h>
#include "threads/stats/places.h"

#define PATH_BYTES 96

static struct place {
    int core;
    int node;
} *places;
static int cpus, nodes;

/* Read a list such as 0-3,8 into fn(first, last), in order. Returns 0 if there is no such file. */
static int read_list(const char *path, void (*fn) (int first, int last, int arg), int arg)
{
    FILE *f = fopen(path, "r");
    int first, last, c = ',';

    if (!f)
        return 0;
    while (c == ',' && fscanf(f, "%d", &first) == 1) {
        last = first;
        c = fgetc(f);
        if (c == '-' && fscanf(f, "%d", &last) == 1)
            c = fgetc(f);
        fn(first, last, arg);
    }
    fclose(f);
    return 1;
}

/* The first number of the list of a processor's siblings names its core. */
static void set_core(int first, int last, int cpu)
{
    (void) last;
    places[cpu].core = MPL_MIN(places[cpu].core, first);
}

static void set_node(int first, int last, int node)
{
    for (int i = first; i <= last && i < cpus; i++)
        places[i].node = node;
}

static void count_nodes(int first, int last, int unused)
{
    (void) first;
    (void) unused;
    nodes = last + 1;
}

int MPIDI_places_read(void)
{
    char path[PATH_BYTES];
    long n = sysconf(_SC_NPROCESSORS_CONF);

    cpus = n > 0 ? (int) n : 1;
    places = (calloc) ((size_t) cpus, sizeof(*places));
    if (!places)
        cpus = 0;
    for (int i = 0; i < cpus; i++) {
        places[i].core = i;
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 i);
        read_list(path, set_core, i);
    }
    nodes = 1;
    read_list("/sys/devices/system/node/possible", count_nodes, 0);
    for (int i = 0; i < nodes && cpus; i++) {
        snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", i);
        read_list(path, set_node, i);
    }
    return cpus > 0;
}

void MPIDI_places_forget(void)
{
    (free) (places);
    places = NULL;
    cpus = nodes = 0;
}

int MPIDI_places_cores(void)
{
    return cpus;
}

int MPIDI_places_nodes(void)
{
    return nodes;
}

int MPIDI_places_core(int cpu)
{
    return cpu >= 0 && cpu < cpus ? places[cpu].core : 0;
}

int MPIDI_places_node(int cpu)
{
    return cpu >= 0 && cpu < cpus ? places[cpu].node : 0;
}

#endif

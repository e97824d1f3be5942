/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The simulated program: threads that post windows of operations and wait for each, as
 * bench/msgrate.c does. */
#ifndef WORK_H_INCLUDED
#define WORK_H_INCLUDED

#include <stdint.h>

#include "net.h"

/* What scale.c asks for. */
typedef struct work {
    const char *model;          /* a name of models.def */
    int pairs;                  /* threads of two processes, else of one */
    int threads;                /* of the program: in all processes */
    int window, windows, warm_up;
    int first_core;             /* thread i of process r: core (i + r * first_core) % cores */
    int cores;                  /* that the program's threads use */
    int max_combine, taken_pauses;
    net_costs_t net;
} work_t;

/* 1 if models.def has a model of that name. */
int work_has_model(const char *model);

/* 1 if the model has threads of the library that poll and issue: one for each process. */
int work_has_server(const char *model);

/* The first thread's: it runs the program. begin: after the warm-up; end: after the last window, called
 * by each thread. */
typedef struct work_run {
    const work_t *work;
    void (*begin)(void);
    void (*end)(void);
} work_run_t;

void work_main(void *run);

/* The lock's name in locks.def. */
const char *work_lock(void);

#endif /* WORK_H_INCLUDED */

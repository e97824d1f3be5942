/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Included before all else in the simulated program: what the compiler does not report becomes a call,
 * a pause and the hints that ask for a line. */
#include "tsm_atomic.h"

void scale_pause(void);
void scale_prefetch_read(const void *p);
void scale_prefetch_write(const void *p);
#define tsm_cpu_pause scale_pause
#define tsm_prefetch_write scale_prefetch_write
#define __builtin_prefetch scale_prefetch_read

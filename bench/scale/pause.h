/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Included before all else in the simulated program: tsm_cpu_pause() becomes a call, because the
 * compiler does not report its instruction. */
#include "tsm_atomic.h"

void scale_pause(void);
#define tsm_cpu_pause scale_pause

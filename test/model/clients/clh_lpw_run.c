/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH-LPW: each high thread ends its run, so the next one takes the filter itself. */

#define TSM_CLH_LPW_RUN 1
#include "clh_lpw.c"

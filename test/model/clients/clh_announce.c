/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH lock whose releases rely on the light half of tsm_asym.h. */

#define CLH_LOOK 1
#include "clh.c"

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* lockq.c with the wait-free queue, which has no handle for one of the threads that post: that one
 * enters the VCI. */

#define CLIENT_WFQ
#include "lockq.c"

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_KEEP_H_INCLUDED
#define CSP_KEEP_H_INCLUDED

/* The ghost takes over the data of sends without a receive, so that they complete. By who holds the
 * desk. */

#include "csp_item.h"

/* Does the send complete only when the data has been copied: into the ghost, if no receive comes? The
 * desk counts those that wait (csp_item.h: kept). */
int csp_keep_is_due(const csp_item_t * msg);

/* Take over the data of some, unless the ghost has much already. Returns of how many. By the ghost. */
int csp_keep(void);

#endif /* CSP_KEEP_H_INCLUDED */

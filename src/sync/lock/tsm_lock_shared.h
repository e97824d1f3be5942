/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What the queue locks of tsm_lock.h and tsm_dsm_lock.h share: the node types, the CLH pool, and the
 * description of the machine for HMCS. tsm_lock.c makes the pool and the description when the first
 * lock needs them; they stay until the process ends. Included by those two and tsm_lock.c only.
 */

#ifndef TSM_LOCK_SHARED_H_INCLUDED
#define TSM_LOCK_SHARED_H_INCLUDED

#include "../combine/tsm_dsm_synch.h"
#include "tsm_gated.h"
#include "tsm_lock_node.h"

typedef struct tsm_lock_mcs_node {
    tsm_lock_node_t head;
    tsm_mcs_node_t own;
} TSM_ALIGNED tsm_lock_mcs_node_t;

typedef struct tsm_lock_clh_node {
    tsm_lock_node_t head;
    tsm_clh_context_t own;
} TSM_ALIGNED tsm_lock_clh_node_t;

typedef struct tsm_lock_hmcs_node {
    tsm_lock_node_t head;
    tsm_hmcs_node_t own;
} TSM_ALIGNED tsm_lock_hmcs_node_t;

typedef struct tsm_lock_hyblock_node {
    tsm_lock_node_t head;
    tsm_hyblock_node_t TSM_ALIGNED own;         /* keeps its own words on lines of their own */
} TSM_ALIGNED tsm_lock_hyblock_node_t;

typedef struct tsm_lock_dsm_node {
    tsm_lock_node_t head;
    tsm_dsm_synch_node_t own;
} TSM_ALIGNED tsm_lock_dsm_node_t;

/* The pool of all CLH and CLH-LPW locks; *rc: 0 or an errno value. */
__attribute__((visibility("hidden"))) tsm_clh_pool_t *tsm_lock_clh_pool_(int *rc);

/* Exchange a context that is worn for one that is not, if there is one. By its thread. */
__attribute__((visibility("hidden"), cold)) void tsm_lock_clh_renew_(tsm_lock_clh_node_t *node);

/* Make a lock that fits this machine; 0 or ENOMEM. End of use. */
__attribute__((visibility("hidden"))) int tsm_lock_hmcs_init_(tsm_hmcs_t *lock);
__attribute__((visibility("hidden"))) void tsm_lock_hmcs_destroy_(tsm_hmcs_t *lock);

#endif /* TSM_LOCK_SHARED_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What the tests of the locks with CLH's nodes share: a pool with a context for each thread. Include
 * this file after the lock, whose parameters have the same names. */

#ifndef UNIT_CLH_H_INCLUDED
#define UNIT_CLH_H_INCLUDED

/* The largest team, and some more. */
#define CONTEXTS (UNIT_TEAM_MAX + 16)

static tsm_clh_pool_t pool;
static tsm_clh_node_t nodes[TSM_CLH_NODES(CONTEXTS)];

static void *begin(int id)
{
    tsm_clh_context_t *context = malloc(sizeof(*context));

    (void) id;
    if (tsm_clh_context_init(context, &pool) != 0)
        abort();
    return context;
}

static void end(void *thread)
{
    tsm_clh_context_end(thread);
    free(thread);
}

#endif /* UNIT_CLH_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_match.h"
#include "csp_ring.h"

/* Posts in a row without a look for answers. */
#define MOST_UNSEEN 32

/* Times that a ghost that was of use may then be of none, one after the other. */
#define CREDIT 4

/* Without credit: after so many calls in which it was not woken it is again, at first and at last.
 * With 8 for large messages, every eighth exchange of 1 MB woke it in vain, and a post took longer than
 * in MPICH. */
#define FIRST_PAUSE 2
#define LAST_PAUSE  64

/* Hints, so relaxed. Threads together count as one caller. */
static TSM_ATOMIC(int) credit = CREDIT, pause_now, pause_next = FIRST_PAUSE;
static TSM_ATOMIC(unsigned) unseen;     /* posts since the last look for answers */
static TSM_ATOMIC(int) was_rung;        /* since then */

void csp_ring(void)
{
    tsm_bell_ring_shared(&csp_node.my_ghost->bell);
}

static void pause_again(void)
{
    int next = tsm_load(&pause_next, TSM_RELAXED);

    tsm_store(&pause_now, next, TSM_RELAXED);
    tsm_store(&pause_next, MPL_MIN(2 * next, LAST_PAUSE), TSM_RELAXED);
}

/* Is it worth while to wake the ghost for messages of which it need not be the one to move them? */
static int pays(int is_first)
{
    int left = tsm_load(&pause_now, TSM_RELAXED);

    if (tsm_load(&credit, TSM_RELAXED) > 0)
        return 1;
    if (!is_first)
        return 0;
    if (left > 0) {
        tsm_store(&pause_now, left - 1, TSM_RELAXED);
        return 0;
    }
    pause_again();
    return 1;
}

void csp_ring_for(const csp_post_t * post, int must)
{
    unsigned n = tsm_load(&unseen, TSM_RELAXED);

    tsm_store(&unseen, n + 1, TSM_RELAXED);
    if (must || !tsm_load(&csp_node.reaches, TSM_RELAXED) || !csp_match_is_local(post) ||
        n % MOST_UNSEEN == MOST_UNSEEN - 1) {
        csp_ring();
    } else if (tsm_load(&was_rung, TSM_RELAXED) || pays(n == 0)) {
        tsm_store(&was_rung, 1, TSM_RELAXED);
        csp_ring();
    }
}

void csp_ring_judge(int was_there)
{
    int had = tsm_load(&credit, TSM_RELAXED);

    if (tsm_load(&unseen, TSM_RELAXED) == 0)
        return;
    tsm_store(&unseen, 0, TSM_RELAXED);
    if (!tsm_load(&was_rung, TSM_RELAXED))
        return;
    tsm_store(&was_rung, 0, TSM_RELAXED);
    if (was_there) {
        tsm_store(&credit, CREDIT, TSM_RELAXED);
        tsm_store(&pause_next, FIRST_PAUSE, TSM_RELAXED);
    } else if (had > 0) {
        tsm_store(&credit, had - 1, TSM_RELAXED);
    }
}

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

/* Messages of so many bytes are judged apart from smaller ones. A user moves its small messages itself,
 * since it waits for them at once; that says nothing about a large one that it leaves behind while it
 * computes. */
#define LARGE 65536

/* A value of was_rung: for a post that gets no answer, as that of a small send. The next answers to any
 * message judge it; else a program that sends small messages and receives large ones would wake the
 * ghost for each send. */
#define UNANSWERED 2

/* Hints, so relaxed. Threads together count as one caller. */
typedef struct {
    TSM_ATOMIC(int) credit, pause_now, pause_next;
    TSM_ATOMIC(unsigned) unseen;        /* posts since the last look that found answers */
    TSM_ATOMIC(int) is_ringing;         /* since then the ghost is woken at each */
    TSM_ATOMIC(int) was_rung;           /* since the last answers to messages of this size */
} size_class_t;

static size_class_t classes[] = {
    {.credit = CREDIT,.pause_next = FIRST_PAUSE}, {.credit = CREDIT,.pause_next = FIRST_PAUSE}
};

#define NUM_CLASSES ((int) (sizeof(classes) / sizeof(classes[0])))

void csp_ring(void)
{
    tsm_bell_ring_shared(&csp_node.my_ghost->bell);
}

int csp_ring_class(uint64_t bytes)
{
    return bytes >= LARGE;
}

static void pause_again(size_class_t * s)
{
    int next = tsm_load(&s->pause_next, TSM_RELAXED);

    tsm_store(&s->pause_now, next, TSM_RELAXED);
    tsm_store(&s->pause_next, MPL_MIN(2 * next, LAST_PAUSE), TSM_RELAXED);
}

/* Is it worth while to wake the ghost for messages of which it need not be the one to move them? */
static int pays(size_class_t * s, int is_first)
{
    int left = tsm_load(&s->pause_now, TSM_RELAXED);

    if (tsm_load(&s->credit, TSM_RELAXED) > 0)
        return 1;
    if (!is_first)
        return 0;
    if (left > 0) {
        tsm_store(&s->pause_now, left - 1, TSM_RELAXED);
        return 0;
    }
    pause_again(s);
    return 1;
}

void csp_ring_for(const csp_post_t * post, int must)
{
    size_class_t *s = &classes[csp_ring_class(post->bytes)];
    unsigned n = tsm_load(&s->unseen, TSM_RELAXED);

    tsm_store(&s->unseen, n + 1, TSM_RELAXED);
    if (must || !tsm_load(&csp_node.reaches, TSM_RELAXED) || !csp_match_is_local(post) ||
        n % MOST_UNSEEN == MOST_UNSEEN - 1) {
        csp_ring();
    } else if (tsm_load(&s->is_ringing, TSM_RELAXED) || pays(s, n == 0)) {
        tsm_store(&s->is_ringing, 1, TSM_RELAXED);
        tsm_store(&s->was_rung, post->op ? 1 : UNANSWERED, TSM_RELAXED);
        csp_ring();
    }
}

static void judge(size_class_t * s, int was_there)
{
    int had = tsm_load(&s->credit, TSM_RELAXED);

    if (!tsm_load(&s->was_rung, TSM_RELAXED))
        return;
    tsm_store(&s->was_rung, 0, TSM_RELAXED);
    if (was_there) {
        tsm_store(&s->credit, CREDIT, TSM_RELAXED);
        tsm_store(&s->pause_next, FIRST_PAUSE, TSM_RELAXED);
    } else if (had > 0) {
        tsm_store(&s->credit, had - 1, TSM_RELAXED);
    }
}

void csp_ring_judge(unsigned answered, unsigned by_ghost)
{
    for (int c = 0; c < NUM_CLASSES; c++) {
        size_class_t *s = &classes[c];
        if (tsm_load(&s->unseen, TSM_RELAXED) > 0) {
            tsm_store(&s->unseen, 0, TSM_RELAXED);
            tsm_store(&s->is_ringing, 0, TSM_RELAXED);
        }
        if (answered >> c & 1)
            judge(s, by_ghost >> c & 1);
        else if (tsm_load(&s->was_rung, TSM_RELAXED) == UNANSWERED)
            judge(s, by_ghost != 0);
    }
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * Enumeration. Each run repeats the choices of the run before up to the last one that has another
 * alternative, takes that, and goes on with the first alternative everywhere; when no choice has
 * one left, all have been tried. A choice is: which thread goes on, which write a read sees, where
 * in the order of writes a write goes, which sleeper is woken, whether one sleep ends for no reason,
 * which processor and what time a thread sees.
 *
 * States: most interleavings lead to a state that another one has led to. A state is what each
 *         thread has read and written so far (its history, which fixes its local state and its
 *         view), the order of writes of each location, and which threads may run. A run that reaches
 *         a state seen before, with no more preemptions left than then, is abandoned: what follows
 *         has been or will be tried. States are compared by 64-bit hashes.
 * Loops:  a round of a waiting loop ends with a yield. A round in which the thread has learned
 *         nothing and changed nothing leaves it as it was (end_round): then it does not run until
 *         another thread writes; and a run in which that round has read an old message is
 *         abandoned, since to look later is the same. A loop whose rounds change something reads
 *         the same old message in one round only, and after two rounds each other thread that can
 *         run gets a step first. Without these rules loops would go on for ever.
 * Bound:  preemptions are bounded, for that makes longer clients possible; switches at a yield,
 *         a sleep or an end are free. Reads and writes are not bounded.
 */

#include "model.h"

#include <stdio.h>
#include <string.h>

#define CHOICES  (4 * MODEL_STEPS)
#define STATES   ((size_t) 1 << 23)     /* of the table, of which three quarters are used */
#define OUTCOMES 64

typedef struct choice {
    uint8_t taken, count;
} choice_t;

typedef struct state {
    uint64_t hash;                      /* 0: unused */
    uint64_t preemptions;               /* the least with which it was met */
} state_t;

typedef struct enumeration {
    int depth, known;                   /* choices made in this run; repeated from the last */
    long executions, abandoned;
    size_t states;
    choice_t choice[CHOICES];
    int outcomes;
    int outcome[OUTCOMES];
    state_t state[STATES];
} enumeration_t;

/* A client may define both: the first is the number of the outcome of this run, the second has the
 * digits of all outcomes that must be reached, as in "00 01 11", and no others. */
extern int model_outcome __attribute__((weak));
extern const char *const model_outcomes __attribute__((weak));

void enumerate_create(void)
{
    model->enumeration = model_map(sizeof(enumeration_t));
}

uint32_t enumerate_choice(uint32_t n)
{
    enumeration_t *e = model->enumeration;
    choice_t *c = &e->choice[e->depth];

    if (n < 2)
        return 0;
    if (e->depth == CHOICES || n > UINT8_MAX)
        model_fail("limit", "too many choices");
    if (e->depth++ >= e->known)
        *c = (choice_t) { .taken = 0, .count = (uint8_t) n };
    else if (c->count != n)
        model_fail("limit", "the client does not repeat itself: %u choices, then %u", c->count, n);
    return c->taken;
}

/* ---- states ---- */

static uint64_t state_hash(void)
{
    uint64_t hash = memory_hash();

    hash = model_mix(hash, (uint64_t) model_index(model->self));
    hash = model_mix(hash, (uint64_t) model->spurious);
    hash = model_mix(hash, model->arena_used);
    hash = model_mix(hash, model->nanoseconds);
    for (int i = 0; i < model->threads; i++) {
        const thread_t *t = &model->thread[i];
        int waits = t->stuck && t->round_writes == model->writes;
        hash = model_mix(hash, t->history);
        /* not part of the history: a message may become old after it was read, and end_round asks */
        hash = model_mix(hash, (uint64_t) (t->stale << 1 | (t->changed != 0)));
        hash = model_mix(hash, ((uint64_t) t->state << 3 | t->started << 2 | t->yielded << 1 |
                                           waits));
        if (t->state == THREAD_BLOCKED)
            hash = model_mix(hash, (uintptr_t) t->waits_for);
        uint64_t others = 0;
        for (int j = 0; j < model->threads; j++)
            others = others * 4 + (uint64_t) t->passed_over[j];
        hash = model_mix(hash, others);
    }
    return hash ? hash : 1;
}

/* True: this state has been met with as many preemptions left. */
int enumerate_seen(void)
{
    enumeration_t *e = model->enumeration;
    uint64_t used = (uint64_t) model->preemptions;

    if (e->depth < e->known)
        return 0;

    uint64_t hash = state_hash();
    size_t i = (size_t) (hash >> 20) % STATES;
    while (e->state[i].hash != 0 && e->state[i].hash != hash)
        i = (i + 1) % STATES;
    state_t *s = &e->state[i];
    if (s->hash == hash && s->preemptions <= used) {
        return 1;
    }
    int fits = s->hash != 0 || e->states < STATES / 4 * 3;
    e->states += fits && s->hash == 0;
    if (fits)
        *s = (state_t) { .hash = hash, .preemptions = used };
    return 0;
}

void enumerate_abandon(void)
{
    model->enumeration->abandoned++;
    model_abandon();
}

/* ---- outcomes ---- */

static void note_outcome(void)
{
    enumeration_t *e = model->enumeration;

    for (int i = 0; i < e->outcomes; i++) {
        if (e->outcome[i] == model_outcome)
            return;
    }
    if (e->outcomes == OUTCOMES)
        model_fail("limit", "too many outcomes");
    e->outcome[e->outcomes++] = model_outcome;
}

static int reached(int outcome)
{
    for (int i = 0; i < model->enumeration->outcomes; i++) {
        if (model->enumeration->outcome[i] == outcome)
            return 1;
    }
    return 0;
}

/* Returns how many of the expected outcomes there are; fails if one was not reached, or another. */
static int check_outcomes(void)
{
    int n = 0, used;

    for (const char *p = model_outcomes; *p; p += used, n++) {
        int outcome;
        if (sscanf(p, "%d%n", &outcome, &used) != 1)
            model_fail("limit", "bad list of outcomes");
        if (!reached(outcome))
            model_fail("outcome", "%d must be reached and was not", outcome);
        while (p[used] == ' ')
            used++;
    }
    if (n != model->enumeration->outcomes)
        model_fail("outcome", "%d outcomes, not %d", model->enumeration->outcomes, n);
    return n;
}

/* ---- runs ---- */

long enumerate_executions(void)
{
    return model->enumeration->executions;
}

/* Prepare the next run; 0 if there is none. */
static int advance(void)
{
    enumeration_t *e = model->enumeration;
    int last = e->depth - 1;

    while (last >= 0 && e->choice[last].taken + 1 == e->choice[last].count)
        last--;
    if (last < 0)
        return 0;
    e->choice[last].taken++;
    e->known = last + 1;
    return 1;
}

int enumerate(long most)
{
    enumeration_t *e = model->enumeration;
    int more = 1;

    while (more && e->executions < most) {
        long abandoned = e->abandoned;
        e->depth = 0;
        e->executions++;
        model_run((uint64_t) e->executions);
        if (&model_outcomes && e->abandoned == abandoned)
            note_outcome();
        more = advance();
    }
    printf("%s: %s: %ld executions, %d preemptions, %zu states, %ld stale reads, %ld older writes, "
           "%ld sleeps, %ld steps each", model->name,
           more ? "bound hit" : "enumerated completely", e->executions, model->preemptions_max,
           e->states, model->stats.stale, model->stats.inserted, model->stats.parked,
           model->stats.steps / e->executions);
    if (&model_outcomes && !more)
        printf(", %d outcomes, all that are expected", check_outcomes());
    printf("\n");
    return more ? 3 : 0;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What every unit test needs: cmocka, sizes that scale, and a team of threads that starts together.
 * Only the main thread may use cmocka's asserts; the others count failures. */

#ifndef UNIT_H_INCLUDED
#define UNIT_H_INCLUDED

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_THREAD__
#define UNIT_SCALE_DEFAULT 25
#else
#define UNIT_SCALE_DEFAULT 100
#endif

#define UNIT_TEAM_MAX 64

static const int unit_team_sizes[] = { 1, 2, 3, 8, 64 };
#define UNIT_TEAM_SIZES (sizeof(unit_team_sizes) / sizeof(unit_team_sizes[0]))

/* n scaled by UNIT_SCALE, a percentage from the environment; at least 1. */
static inline long unit_scaled(long n)
{
    static long percent = 0;

    if (percent == 0) {
        const char *text = getenv("UNIT_SCALE");
        char *end = NULL;

        percent = text ? strtol(text, &end, 10) : UNIT_SCALE_DEFAULT;
        if (percent < 1 || percent > 100000 || (text && *end != '\0')) {
            fprintf(stderr, "UNIT_SCALE must be a percentage from 1 to 100000, not '%s'\n", text);
            exit(2);
        }
    }
    return n * percent / 100 > 0 ? n * percent / 100 : 1;
}

typedef void (*unit_body_t)(int id, void *arg);

typedef struct unit_member {
    pthread_t thread;
    pthread_barrier_t *start;
    unit_body_t body;
    void *arg;
    int id;
} unit_member_t;

static inline void *unit_member_main(void *arg)
{
    unit_member_t *member = arg;

    pthread_barrier_wait(member->start);
    member->body(member->id, member->arg);
    return NULL;
}

/* Run body(0..n-1, arg) on n new threads that start together; returns when all have ended. */
static inline void unit_team(int n, unit_body_t body, void *arg)
{
    unit_member_t member[UNIT_TEAM_MAX];
    pthread_barrier_t start;

    assert_in_range(n, 1, UNIT_TEAM_MAX);
    assert_int_equal(pthread_barrier_init(&start, NULL, (unsigned) n), 0);
    for (int i = 0; i < n; i++) {
        member[i] = (unit_member_t) { .start = &start, .body = body, .arg = arg, .id = i };
        assert_int_equal(pthread_create(&member[i].thread, NULL, unit_member_main, &member[i]), 0);
    }
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_join(member[i].thread, NULL), 0);
    pthread_barrier_destroy(&start);
}

#endif /* UNIT_H_INCLUDED */

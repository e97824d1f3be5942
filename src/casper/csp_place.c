/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include <stdlib.h>
#include <string.h>
#include "csp_place.h"

typedef struct part {
    int domain, processes, ghosts;
    int users_seen, seen;
} part_t;

static part_t *part_of(part_t * parts, int *n_parts, int domain)
{
    int i = 0;

    while (i < *n_parts && parts[i].domain != domain)
        i++;
    if (i == *n_parts)
        parts[(*n_parts)++].domain = domain;
    return &parts[i];
}

/* Parts without a ghost come first, the largest first; then those that would have most users for each
 * ghost with one more; last of all those that would be left without users. Of equal parts the last one
 * gets it: process 0, which alone has the standard input, should stay a user. */
static double need_of(const part_t * p)
{
    int users = p->processes - p->ghosts - 1;

    if (users <= 0)
        return users < 0 ? -2 : -1;
    return p->ghosts == 0 ? 1e9 + users : (double) users / (p->ghosts + 1);
}

static void deal_ghosts(part_t * parts, int n_parts, int ghosts)
{
    while (ghosts-- > 0) {
        part_t *neediest = parts;
        for (int i = 1; i < n_parts; i++) {
            if (need_of(&parts[i]) >= need_of(neediest))
                neediest = &parts[i];
        }
        neediest->ghosts++;
    }
}

/* Mark the ghosts: the last ones of each part. */
static void choose(part_t * parts, int n_parts, const int *domain, int n, int *owner)
{
    for (int i = 0; i < n; i++) {
        part_t *p = part_of(parts, &n_parts, domain[i]);
        owner[i] = p->seen++ < p->processes - p->ghosts ? 0 : CSP_IS_GHOST;
    }
}

/* The number of the nth ghost of a domain among all ghosts. */
static int nth_ghost(const int *domain, const int *owner, int wanted, int nth)
{
    int number = 0;

    for (int i = 0;; i++) {
        if (owner[i] != CSP_IS_GHOST)
            continue;
        if (domain[i] == wanted && nth-- == 0)
            return number;
        number++;
    }
}

static void deal_users(part_t * parts, int n_parts, const int *domain, int n, int *owner, int *users)
{
    for (int i = 0; i < n; i++) {
        part_t *p = part_of(parts, &n_parts, domain[i]);
        if (owner[i] == CSP_IS_GHOST || p->ghosts == 0)
            continue;
        int block = p->users_seen++ * p->ghosts / (p->processes - p->ghosts);
        owner[i] = nth_ghost(domain, owner, p->domain, block);
        users[owner[i]]++;
    }
}

/* Users whose part has no ghost. */
static void deal_rest(part_t * parts, int n_parts, const int *domain, int n, int ghosts, int *owner,
                      int *users)
{
    for (int i = 0; i < n; i++) {
        int least = 0;
        if (owner[i] == CSP_IS_GHOST || part_of(parts, &n_parts, domain[i])->ghosts > 0)
            continue;
        for (int g = 1; g < ghosts; g++) {
            if (users[g] < users[least])
                least = g;
        }
        owner[i] = least;
        users[least]++;
    }
}

int csp_place(const int *domain, int n, int ghosts, int *owner)
{
    part_t *parts = calloc((size_t) n, sizeof(*parts));
    int *users = calloc((size_t) ghosts, sizeof(*users));
    int n_parts = 0, has_memory = parts && users;

    if (has_memory) {
        for (int i = 0; i < n; i++)
            part_of(parts, &n_parts, domain[i])->processes++;
        deal_ghosts(parts, n_parts, ghosts);
        choose(parts, n_parts, domain, n, owner);
        deal_users(parts, n_parts, domain, n, owner, users);
        deal_rest(parts, n_parts, domain, n, ghosts, owner, users);
    }
    free(parts);
    free(users);
    return has_memory;
}

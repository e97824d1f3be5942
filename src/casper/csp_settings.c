/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <ctype.h>
#include "csp_settings.h"

#define MOST_GHOSTS 1024

static const char *value_of(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

/* The process manager passes the text on, and may stumble over other characters. */
static void make_plain(char *text)
{
    for (; *text; text++) {
        if (!isalnum((unsigned char) *text) && !strchr("-_./", *text))
            *text = '?';
    }
}

void csp_settings_text(char text[CSP_SETTINGS_TEXT])
{
    const char *ghosts = value_of("CSP_NG"), *config = value_of("CSP_ASYNC_CONFIG");
    const char *placement = value_of("CSP_PLACEMENT"), *matching = value_of("CSP_MATCHING");

    snprintf(text, CSP_SETTINGS_TEXT, "%.40s/%.40s/%.40s/%.40s", *ghosts ? ghosts : "unset",
             *config ? config : "unset", *placement ? placement : "unset",
             *matching ? matching : "unset");
    make_plain(text);
}

static int read_number(const char *text, int most, int *number)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (end == text || *end || n < 0 || n > most)
        return 0;
    *number = (int) n;
    return 1;
}

/* Returns NULL, or what is wrong. */
static const char *read_placement(const char *text, csp_domain_kind_t * placement)
{
    static char problem[CSP_SETTINGS_TEXT];
    static const char *const names[] = { "machine", "socket", "numa" };   /* csp_domain_kind_t */

    *placement = CSP_MACHINE;
    while (*text && *placement <= CSP_NUMA && strcmp(text, names[*placement]) != 0)
        (*placement)++;
    if (*placement > CSP_NUMA)
        snprintf(problem, sizeof(problem), "CSP_PLACEMENT=%.40s is not machine, socket or numa", text);
    else if (!csp_domain_is_known(*placement))
        snprintf(problem, sizeof(problem), "CSP_PLACEMENT=%.40s needs a library with hwloc", text);
    return *problem ? problem : NULL;
}

static const char *const matchings[] = { "masked", "tag", "dup" };   /* csp_matching_t */

const char *csp_settings_matching(csp_matching_t matching)
{
    return matchings[matching];
}

/* Returns NULL, or what is wrong. */
static const char *read_matching(const char *text, csp_matching_t * matching)
{
    static char problem[CSP_SETTINGS_TEXT];

    *matching = CSP_MASKED;
    while (*text && *matching <= CSP_DUP && strcmp(text, matchings[*matching]) != 0)
        (*matching)++;
    if (*matching <= CSP_DUP)
        return NULL;
    snprintf(problem, sizeof(problem), "CSP_MATCHING=%.40s is not masked, tag or dup", text);
    return problem;
}

const char *csp_settings_read(csp_settings_t * settings)
{
    static char problem[CSP_SETTINGS_TEXT];
    const char *ghosts = value_of("CSP_NG"), *config = value_of("CSP_ASYNC_CONFIG"), *matching;

    settings->ghosts = 0;
    settings->all_comms = strcmp(config, "off") != 0;
    if (*ghosts && !read_number(ghosts, MOST_GHOSTS, &settings->ghosts)) {
        snprintf(problem, sizeof(problem), "CSP_NG=%.40s is not a number from 0 to %d", ghosts,
                 MOST_GHOSTS);
        return problem;
    }
    if (*config && strcmp(config, "on") != 0 && strcmp(config, "off") != 0) {
        snprintf(problem, sizeof(problem), "CSP_ASYNC_CONFIG=%.40s is neither on nor off", config);
        return problem;
    }
    matching = read_matching(value_of("CSP_MATCHING"), &settings->matching);
    if (matching)
        return matching;
    return read_placement(value_of("CSP_PLACEMENT"), &settings->placement);
}

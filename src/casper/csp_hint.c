/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <ctype.h>
#include <limits.h>
#include "csp_hint.h"

typedef struct word {
    const char *text;
    int value;
} word_t;

static const word_t switches[] = {
    {"on", 1}, {"true", 1}, {"1", 1}, {"off", 0}, {"false", 0}, {"0", 0}, {NULL, CSP_HINT_UNSET}
};

/* csp_hint_wildcards has the place of a value for granted. */
static const word_t wildcards[] = {
    {"none", 0}, {"any_src", CSP_HINT_ANY_SRC}, {"any_tag_same_tag", CSP_HINT_ANY_TAG},
    {"any_src|any_tag_same_tag", CSP_HINT_ANY_SRC | CSP_HINT_ANY_TAG},
    {"any_tag_same_tag|any_src", CSP_HINT_ANY_SRC | CSP_HINT_ANY_TAG}, {NULL, CSP_HINT_UNSET}
};

static int look_up(const word_t * words, const char *text)
{
    while (words->text && strcmp(words->text, text) != 0)
        words++;
    return words->value;
}

static int read_bytes(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return isdigit((unsigned char) *text) && *end == '\0' && n <= INT_MAX ? (int) n : CSP_HINT_UNSET;
}

int csp_hint_is_known(const char *key)
{
    return strcmp(key, "async_config") == 0 || strcmp(key, "wildcard_used") == 0 ||
        strcmp(key, "offload_min_msgsz") == 0;
}

int csp_hint_read(const char *key, const char *value)
{
    if (strcmp(key, "async_config") == 0 || strcmp(key, "shmbuf_regist") == 0)
        return look_up(switches, value);
    if (strcmp(key, "wildcard_used") == 0)
        return look_up(wildcards, value);
    return read_bytes(value);
}

const char *csp_hint_wildcards(int used)
{
    return wildcards[used].text;
}

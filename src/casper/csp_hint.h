/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_HINT_H_INCLUDED
#define CSP_HINT_H_INCLUDED

/* The hints of communicators and windows as text (doc/casper.md). Knows nothing of either. */

#define CSP_HINT_UNSET (-1)     /* no value, or none that the key has */

/* Wildcards that a program uses; any number of them. */
#define CSP_HINT_ANY_SRC 1
#define CSP_HINT_ANY_TAG 2

/* 1 if the key is one of ours for communicators. */
int csp_hint_is_known(const char *key);

/* The value: of async_config and, for windows, shmbuf_regist 1 or 0, of offload_min_msgsz a number of
 * bytes, of wildcard_used wildcards; CSP_HINT_UNSET if it is none. */
int csp_hint_read(const char *key, const char *value);

/* The text for wildcards; static. */
const char *csp_hint_wildcards(int used);

#endif /* CSP_HINT_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_SETTINGS_H_INCLUDED
#define CSP_SETTINGS_H_INCLUDED

#include "csp_domain.h"

/* The settings from the environment: CSP_NG, CSP_ASYNC_CONFIG, CSP_PLACEMENT, CSP_MATCHING. All
 * processes must have the same. */

/* How messages are named (csp_envelope.h). */
typedef enum csp_matching {
    CSP_MASKED,
    CSP_TAG,
    CSP_DUP
} csp_matching_t;

typedef struct csp_settings {
    int ghosts;                 /* of each node; 0: none */
    int all_comms;              /* offload every communicator, not only those that ask for it */
    csp_domain_kind_t placement;        /* users of one such part of a node share ghosts of it */
    csp_matching_t matching;
} csp_settings_t;

#define CSP_SETTINGS_TEXT 256   /* bytes */

/* Write the settings as text, to compare them with those of other processes. */
void csp_settings_text(char text[CSP_SETTINGS_TEXT]);

/* Read the settings. Returns NULL, or what is wrong with them: text that the caller does not free. */
const char *csp_settings_read(csp_settings_t * settings);

/* The text for a way to name messages; static. */
const char *csp_settings_matching(csp_matching_t matching);

#endif /* CSP_SETTINGS_H_INCLUDED */

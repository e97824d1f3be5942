/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_WORLD_H_INCLUDED
#define CSP_WORLD_H_INCLUDED

/* Who is a ghost, and whose. Processes are numbered users first, in the order in which they were
 * started, then ghosts; so a user's number is its rank in MPI_COMM_WORLD. */

#include "csp_settings.h"

typedef struct csp_world {
    csp_settings_t settings;
    int users, ghosts;          /* of all nodes; ghosts is 0 if there are none */
    int is_ghost;               /* this process */
    int pid;                    /* of this process */
    int is_split;               /* MPI_COMM_WORLD holds users only, or ghosts only */
    int offloads;               /* ghosts can reach the memory of all users */
    int has_direct;             /* this process is a user whose ghost maps memory for it */
    int *ghost_of;              /* rank of each user's ghost among the ghosts */
} csp_world_t;

extern csp_world_t csp_world;

/* Cut MPI_COMM_WORLD down to the users, or in a ghost to the ghosts. Collective; in MPI_Init. Returns
 * an MPI error code. */
int csp_world_split(void);

/* Make the hints of communicators known. In MPI_Init, before the first of them. */
void csp_comm_register_hint(void);

/* csp_comm_is_possible: 1 if comm can be offloaded, the same in all its processes. csp_comm_wish: what
 * a hint of a window on comm asks for, in info, which may be NULL: 1 or 0, or -1 if it is not there, or
 * has an unknown value; one line says that. */
int csp_comm_is_possible(MPIR_Comm * comm);
int csp_comm_wish(MPIR_Comm * comm, MPIR_Info * info, const char *key);

/* Make the number of all processes, not of the users only, the one that MPICH sees. */
void csp_world_show_all(void);

/* Print one line that says what is wrong, and abort all processes. Does not return. */
void csp_fail(const char *format, ...) ATTRIBUTE((format(printf, 1, 2), noreturn));

/* Memory that a process cannot do without, to be freed with MPL_free; the job ends, with one line, if
 * there is none. csp_must_calloc: n times size, zeroed. Any thread. */
void *csp_must_malloc(size_t bytes);
void *csp_must_calloc(size_t n, size_t size);

#endif /* CSP_WORLD_H_INCLUDED */

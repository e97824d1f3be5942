/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_COPY_H_INCLUDED
#define CSP_COPY_H_INCLUDED

/* Copies to and from the memory of users, by ghosts. Only csp_copy.c decides how: what this process has
 * mapped it reads and writes itself; the kernel copies the rest. Each returns 0 or an error number of
 * the system, and then part of the data may have been copied. bytes may be 0. */

#include <stddef.h>
#include <stdint.h>

struct csp_segment;

/* Contiguous data of a user. */
typedef struct csp_spot {
    int pid;
    uint64_t addr;              /* in the user */
    char *here;                 /* in this process; NULL: it is not mapped */
    struct csp_segment *segment;        /* of `here`; held by the operation (csp_expose.h) */
} csp_spot_t;

/* `bytes` bytes from `offset` on. */
int csp_copy_from(const csp_spot_t * from, uint64_t offset, void *here, size_t bytes);
int csp_copy_to(const csp_spot_t * to, uint64_t offset, const void *here, size_t bytes);

/* From one user to another. */
int csp_copy_between(const csp_spot_t * from, const csp_spot_t * to, size_t bytes);

#endif /* CSP_COPY_H_INCLUDED */

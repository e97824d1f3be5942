/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_COPY_H_INCLUDED
#define CSP_COPY_H_INCLUDED

/* Copies to and from the memory of users, by ghosts, and by users for their own messages. Only
 * csp_copy.c decides how: what this process has mapped it reads and writes itself; the kernel copies
 * the rest. Each returns 0 or an error number of the system, and then part of the data may have been
 * copied: copy all of it in another way (csp_stage.h). bytes may be 0. */

#include <stddef.h>
#include <stdint.h>

/* Contiguous data of a process; the same in the memory of all processes. */
typedef struct csp_spot {
    int pid;
    uint64_t addr;              /* in that process */
    uint64_t segment;           /* the name that its ghost has for the memory (csp_expose.h); 0: none */
    uint64_t offset;            /* in the segment */
} csp_spot_t;

/* `bytes` bytes from `offset` on. */
int csp_copy_from(const csp_spot_t * from, uint64_t offset, void *here, size_t bytes);
int csp_copy_to(const csp_spot_t * to, uint64_t offset, const void *here, size_t bytes);

/* From one user to another, at the same offset. */
int csp_copy_between(const csp_spot_t * from, const csp_spot_t * to, uint64_t offset, size_t bytes);

#endif /* CSP_COPY_H_INCLUDED */

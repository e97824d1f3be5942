/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_COPY_H_INCLUDED
#define CSP_COPY_H_INCLUDED

/* Copies between this process and another one of the node, by the kernel. pid: the other process; addr:
 * in its address space; bytes may be 0. Each returns 0 or an error number of the system, and then part
 * of the data may have been copied. By ghosts. */

#include <stddef.h>
#include <stdint.h>

int csp_copy_from(int pid, void *here, uint64_t addr, size_t bytes);
int csp_copy_to(int pid, uint64_t addr, const void *here, size_t bytes);

/* From one process to another. */
int csp_copy_between(int from_pid, uint64_t from, int to_pid, uint64_t to, size_t bytes);

#endif /* CSP_COPY_H_INCLUDED */

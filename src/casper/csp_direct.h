/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_DIRECT_H_INCLUDED
#define CSP_DIRECT_H_INCLUDED

/* Direct memory: memory of this user that its ghost maps, too, so that the ghost reads and writes it
 * without the system. It comes from MPI_Alloc_mem (csp_alloc_mem in csp.h), MPI_Win_allocate_shared
 * (csp_win_share) and offloaded windows. A post whose data lies in it says so; all other data is copied
 * by the system as before. A tree of address ranges tells which is which. */

#include "csp_node.h"

/* A key for a new segment; no two processes ever have the same. Any thread. */
uint64_t csp_direct_key(void);

/* Have our ghost map the segment with this key, from a file of `bytes` bytes that it can open. Returns
 * the ghost's name for the segment, 0 if it cannot be mapped. Waits for the ghost. */
uint64_t csp_direct_map(uint64_t key, const char *file, size_t bytes);
void csp_direct_unmap(uint64_t segment);

/* [addr, addr + bytes) is the segment. Returns 1, or 0 without memory for the table: then it is just
 * not direct. Any thread. */
int csp_direct_add(void *addr, size_t bytes, uint64_t segment);

/* Forget the range that begins at addr. Returns the segment, 0 if there is none, and its size. */
uint64_t csp_direct_remove(void *addr, size_t * bytes);

/* Mark the post if its data, at post->addr, lies in direct memory, not in the post. Any thread. */
void csp_direct_mark(csp_post_t * post);

#endif /* CSP_DIRECT_H_INCLUDED */

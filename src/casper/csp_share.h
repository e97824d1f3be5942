/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_SHARE_H_INCLUDED
#define CSP_SHARE_H_INCLUDED

/* The memory of a window on one node, as its users have it: one segment of shared memory with a part
 * for each of the window's processes on this node, which their ghosts map, too. */

#include "csp_win.h"

typedef struct csp_share {
    uint64_t key;               /* of the segment; no two ever have the same */
    char name[64];              /* to attach it by */
    MPL_shm_hnd_t handle;
    void *addr;                 /* NULL: this process has not attached it */
    MPI_Aint bytes;
    MPI_Aint offset;            /* of our part */
    int is_mapped;              /* by our ghost, for us */
    uint64_t segment;           /* our ghost's name for it, then */
} csp_share_t;

/* Make the segment and attach it, as share says afterwards; collective over the processes of win on
 * this node. size: of our part, in bytes; parts[rank on the node]: where to note each part, NULL if we
 * are alone. Returns an MPI error code, if communication fails only. */
int csp_share_open(csp_share_t * share, MPIR_Win * win, MPI_Aint size, int disp_unit,
                   MPIDIG_win_shared_info_t * parts);

/* Reserve the memory of our part, of `size` bytes, and have our ghost map the segment and make our
 * lock. Fills in target->base and target->lock. Returns 1, or 0 if it cannot be done. */
int csp_share_map(csp_share_t * share, MPI_Aint size, csp_target_t * target);

/* The name is no longer needed: all have attached the segment. By all of the node. */
void csp_share_unname(csp_share_t * share, MPIR_Win * win);

/* Give the segment back, in the ghost, too; nobody uses it any more. */
void csp_share_close(csp_share_t * share, const csp_target_t * target);

#endif /* CSP_SHARE_H_INCLUDED */

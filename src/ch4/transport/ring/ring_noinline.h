/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_NOINLINE_H_INCLUDED
#define POSIX_EAGER_RING_NOINLINE_H_INCLUDED

/* In MPI_Init and MPI_Finalize, by the one thread in MPI; collective over the processes of the node.
 * Return an MPI error code. */
int MPIDI_POSIX_ring_init(int rank, int size);
int MPIDI_POSIX_ring_finalize(void);

#ifdef POSIX_EAGER_INLINE
#define MPIDI_POSIX_eager_init MPIDI_POSIX_ring_init
#define MPIDI_POSIX_eager_finalize MPIDI_POSIX_ring_finalize
#endif

#endif /* POSIX_EAGER_RING_NOINLINE_H_INCLUDED */

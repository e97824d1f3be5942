/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_COMBINER_H_INCLUDED
#define MPIDI_COMBINER_H_INCLUDED

/* The HYBCOMB combiner of a VCI, with the mailboxes of the threads that use it: see issue/hybcomb.h. */

#include "thread.h"
#include "tsm/combine/tsm_hybcomb.h"

/* The most threads that have a mailbox of a VCI at a time. */
#define MPIDI_COMBINER_MEMBERS 128

typedef struct MPIDI_combiner {
    tsm_hybcomb_t comb TSM_ALIGNED;
    tsm_hybcomb_member_t member[MPIDI_COMBINER_MEMBERS] TSM_ALIGNED;
} MPIDI_combiner_t;

/* In MPI_Init and MPI_Finalize, by the one thread in MPI. Without memory it prints a message and ends
 * the program. */
MPIDI_combiner_t *MPIDI_combiner_create(uint32_t max_combine);
void MPIDI_combiner_destroy(MPIDI_combiner_t * combiner, int vci);

/* Returns the calling thread's mailbox, which it keeps, or NULL if there is none left. Lock-free. */
tsm_hybcomb_member_t *MPIDI_combiner_member(MPIDI_combiner_t * combiner, int vci);

/* Give back the mailboxes of an ending thread. By the thread itself, which holds its record
 * (thread.c). */
void MPIDI_combiner_thread_exit(MPIDI_thread_t * thread);

#endif /* MPIDI_COMBINER_H_INCLUDED */

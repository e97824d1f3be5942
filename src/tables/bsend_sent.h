/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef BSEND_SENT_H_INCLUDED
#define BSEND_SENT_H_INCLUDED

/* Frees the places of buffered messages that have been sent. Until then their requests may refer to a
 * communicator, for which MPI_Comm_disconnect waits (spawn_impl.c). */
void MPIR_Bsend_free_sent(void);

#endif /* BSEND_SENT_H_INCLUDED */

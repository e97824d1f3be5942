/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_TURN_H_INCLUDED
#define MPIDI_TURN_H_INCLUDED

/* What MPICH's own code calls, in every model: its loops that wait, its start and its end. Included
 * by ch4_impl.h. */

#include "../vci.h"

/* One turn of a loop that holds the lock of a VCI and waits for something in which the peer has a
 * part: drive the VCI and now and then another one, since the peer may be in such a loop for that,
 * and let other threads in. What the lock guards may have changed on return. */
int MPIDI_progress_turn_locked(int vci);

/* The netmod has no room for an operation that is under way (libfabric's EAGAIN): make some. The VCI
 * is held. A thread that issues posted operations keeps all its locks, waits for none and runs no
 * progress hook; any other lets threads in. Both wake the threads whose requests they completed. */
int MPIDI_progress_make_room(int vci);

/* In MPI_Init, once the VCIs are made: the watchdog. Returns an MPI error code. */
int MPIDI_progress_start(void);

/* In MPI_Init, once the processes of the node can share memory; collective over them: the measure of
 * load counts them all. Returns an MPI error code. */
int MPIDI_progress_join_node(void);

/* In MPI_Finalize, while the VCIs still stand: the end of both. */
void MPIDI_progress_stop(void);

/* In MPI_Finalize, by the last thread in MPI: issue what is posted, then make progress until every
 * process is here. A process comes here only when it has received all that it waits for, so sends
 * whose requests were freed are through afterwards. */
int MPIDI_progress_quiesce(void);

#endif /* MPIDI_TURN_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_DYNPROC_H_INCLUDED
#define MPIDI_DYNPROC_H_INCLUDED

/* What several threads need in order to connect and disconnect at the same time.
 *
 * Tables of addresses. A table belongs to the communicators that refer to it. Whoever turns addresses
 * into lpids holds a reference for each of them too, from the moment it finds the table until the
 * communicator is committed. A release only counts down, because it may happen with a VCI held, and
 * the mutex of dynamic processes is taken before VCIs. A table without references is freed when
 * addresses are looked up next, unless they are in it (av_tables.c).
 *
 *   MPIDI_intercomm_exchange_map   MPID_Intercomm_exchange_map with the tag of the user, in ch4_comm.c
 *   MPID_Release_lpids        drops the references of lpids, which may be NULL. An lpid of 0 has none.
 *
 * Connecting. A process sends its header to a port, gets a reply and confirms it. If there was no
 * reply in time it takes the header back: the accepting side may find it later, and must not wait for
 * a process that has given up. Confirming and taking back are one message (the verdict).
 *
 *   MPIDI_dynproc_reply_tag   a tag for the reply; replies of two threads do not get confused
 *   MPIDI_dynproc_reply       connecting: wait for the reply, send the verdict
 *   MPIDI_dynproc_answer      accepting: send the reply, wait for the verdict; if the header is taken
 *                             back, drop the reference for lpid and set it to 0
 *
 * Any thread that holds no VCI. The last two wait for at most timeout seconds (0: for ever) for each
 * message, and return an MPI error code: MPI_ERR_PORT if the time is up. */

int MPIDI_dynproc_reply_tag(void);
int MPIDI_dynproc_reply(uint64_t lpid, int reply_tag, const char *name, int name_len, int timeout,
                        MPIR_Context_id_t * context_id);
int MPIDI_dynproc_answer(uint64_t * lpid, int reply_tag, const char *name, int name_len,
                         int timeout, MPIR_Context_id_t context_id, bool * is_taken_back);

/* In MPI_Finalize: free what was kept for a thread that never came. */
void MPIDI_dynproc_end(void);

void MPID_Release_lpids(int size, const uint64_t lpids[]);
int MPIDI_intercomm_exchange_map(MPIR_Comm * local_comm, int local_leader, MPIR_Comm * peer_comm,
                                 int remote_leader, int tag, int *remote_size,
                                 uint64_t ** remote_lpids, int *is_low_group);

#endif /* MPIDI_DYNPROC_H_INCLUDED */

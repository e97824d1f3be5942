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
 * addresses are looked up next, unless they are in it.
 *
 *   MPIDI_dynproc_hold        a reference for each lpid that was looked up; then tables without
 *                             references are freed. With the mutex held.
 *   MPID_Release_lpids        drops them; lpids may be NULL. An lpid of 0 has none.
 *   MPIDI_dynproc_release     one reference less
 *   MPIDI_dynproc_in_use      whether there is such a table and it has references
 *   MPIDI_dynproc_grow        a larger array of tables. The old one stays for those that read it.
 *   MPIDI_dynproc_tables_end  frees all that is left */

void MPIDI_dynproc_hold(int size, const uint64_t lpids[]);
void MPID_Release_lpids(int size, const uint64_t lpids[]);
void MPIDI_dynproc_release(int avtid);
int MPIDI_dynproc_in_use(int avtid);
void MPIDI_dynproc_grow(size_t table_size);
void MPIDI_dynproc_tables_end(void);

#endif /* MPIDI_DYNPROC_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_H_INCLUDED
#define POSIX_EAGER_RING_H_INCLUDED

/* The queue of active messages in shared memory: an eager module of MPICH, in place of its iqueue
 * (--with-ch4-posix-eager-modules=iqueue selects that). Each VCI of a process has one ring
 * (tsm_ring.h) that all processes of the node, and all their VCIs, send to. A message of up to
 * MPIDI_POSIX_RING_SLOT_ROOM bytes, headers included, is in its slot. A longer one is in a cell of
 * the sender, which the slot names, so that all messages keep their order.
 *
 * What it is for: a 64-byte message moves two cache lines, the slot's, where iqueue moves those of its
 * cell, of the queue and of the list of free cells; a process has 1024 messages under way to another
 * one, where iqueue has 64 cells for all; a poll looks at one place, not at one for each VCI of the
 * senders; and neither call waits for a process that was stopped in the middle of the other one. */

#include "ring_noinline.h"
#include "ring_types.h"
#include "ring_send.h"
#include "ring_recv.h"

#endif /* POSIX_EAGER_RING_H_INCLUDED */

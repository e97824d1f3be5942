/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* In place of MPICH's file, whose only function this is. */

#include "mpidimpl.h"

/* A turn of the loop in which the cancel of a receive waits until libfabric says whether it came too
 * late; then it waits for the end of the receive. It may be part of the handler of a message in shared
 * memory, for a receive from any source. The peer, which has to send the data, may be in such a loop of
 * another VCI. */
int MPIDI_OFI_progress_uninlined(int vni)
{
    return MPIDI_progress_netmods_locked(vni);
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_CALLS_H_INCLUDED
#define POSIX_CALLS_H_INCLUDED

/* For posix_impl.h, in one line: what the calls of shared memory need of ours. */

#include "../vci_at.h"
#include "inject.h"

/* In place of MPICH's function, which divides. Shared memory has the device's VCIs (posix_init.c). */
#define MPIDI_POSIX_get_vsi(flag_, comm_, src_rank_, dst_rank_, tag_) \
    MPIDI_vci_of(MPIDI_get_vci(flag_, comm_, src_rank_, dst_rank_, tag_))

#endif /* POSIX_CALLS_H_INCLUDED */

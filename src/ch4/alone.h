/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ALONE_H_INCLUDED
#define MPIDI_ALONE_H_INCLUDED

#include "tsm/tsm_load.h"

/* 1 if the calling thread is the only one of its process that wants a processor, and has one: it polls
 * without rests, one poll right after the other. By any thread, wait-free; a hint, at most about a
 * millisecond old: a thread that comes back from computing may find the lock taken more often till
 * then. */
MPL_STATIC_INLINE_PREFIX int MPIDI_waits_alone(void)
{
    return tsm_load_wanted() <= 1 && !tsm_load_crowded();
}

#endif /* MPIDI_ALONE_H_INCLUDED */

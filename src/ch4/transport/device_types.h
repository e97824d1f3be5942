/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_DEVICE_TYPES_H_INCLUDED
#define MPIDI_DEVICE_TYPES_H_INCLUDED

/* For mpidpre.h, in one line: the types of ours that the objects of the device contain, and what calls
 * of ours in MPICH's code need. */

#include "../checked.h"
#include "../op.h"
#include "am_counts.h"
#include "win_posts.h"
#include "targets.h"

#endif /* MPIDI_DEVICE_TYPES_H_INCLUDED */

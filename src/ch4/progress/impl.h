/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_IMPL_H_INCLUDED
#define MPIDI_IMPL_H_INCLUDED

/* For ch4_impl.h, in one line: what MPICH's own code calls in every model, and of ghosts. */

#include "turn.h"
#include "casper/csp.h"

#endif /* MPIDI_IMPL_H_INCLUDED */

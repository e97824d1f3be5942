/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A put that the network loses: for tests of one-sided operations, with fabric.h. The write after
 * `fails` is set is dropped, and the counter has one error more. */
#ifndef FABRIC_WRITE_H_INCLUDED
#define FABRIC_WRITE_H_INCLUDED

#include "mt.h"
#include "fabric.h"

#define BYTES 16384             /* too many to be injected */

static atomic_int fails, errors;
static ssize_t (*real_write) (struct fid_ep *, const struct fi_msg_rma *, uint64_t);
static uint64_t (*real_errors) (struct fid_cntr *);

static ssize_t write_or_fail(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    if (!atomic_exchange(&fails, 0))
        return real_write(ep, msg, flags);
    atomic_fetch_add(&errors, 1);
    return 0;
}

static uint64_t count_errors(struct fid_cntr *cntr)
{
    return real_errors(cntr) + (uint64_t) atomic_load(&errors);
}

#endif /* FABRIC_WRITE_H_INCLUDED */

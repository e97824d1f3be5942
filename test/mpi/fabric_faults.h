/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#ifndef FABRIC_FAULTS_H_INCLUDED
#define FABRIC_FAULTS_H_INCLUDED

/* Makes libfabric refuse tagged messages. Not for providers with scalable endpoints. Included by one
 * source. */

#include "mt.h"
#include "fabric.h"

static struct fi_ops_tagged faulty_tagged, real_tagged;

/* What the next calls return instead of doing something, if failing: deferred of them -FI_EAGAIN, then
 * one -FI_EINVAL, if failing is 1. Then all is as ever. */
typedef struct {
    atomic_int deferred, failing;       /* failing: -1, 0 or 1 */
} fault_t;

static fault_t recv_fault, send_fault;

static inline void fault_arm(fault_t * f, int deferred)
{
    atomic_store(&f->deferred, deferred);
    atomic_store(&f->failing, 1);
}

static ssize_t fault_of(fault_t * f)
{
    if (!atomic_load(&f->failing))
        return 0;
    if (atomic_load(&f->deferred) > 0) {
        atomic_fetch_sub(&f->deferred, 1);
        return -FI_EAGAIN;
    }
    return atomic_exchange(&f->failing, 0) > 0 ? -FI_EINVAL : 0;
}

#define FAULTY(fault_, call_) \
    do { \
        ssize_t rc_ = fault_of(&fault_); \
        return rc_ ? rc_ : real_tagged.call_; \
    } while (0)

static ssize_t faulty_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                           uint64_t tag, uint64_t ignore, void *context)
{
    FAULTY(recv_fault, recv(ep, buf, len, desc, from, tag, ignore, context));
}

static ssize_t faulty_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
                               uint64_t data, fi_addr_t to, uint64_t tag, void *context)
{
    FAULTY(send_fault, senddata(ep, buf, len, desc, data, to, tag, context));
}

static ssize_t faulty_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
                                 fi_addr_t to, uint64_t tag)
{
    FAULTY(send_fault, injectdata(ep, buf, len, data, to, tag));
}

void fabric_endpoint(struct fid_ep *ep)
{
    if (!ep->tagged)
        return;
    faulty_tagged = real_tagged = *ep->tagged;
    faulty_tagged.recv = faulty_recv;
    faulty_tagged.senddata = faulty_senddata;
    faulty_tagged.injectdata = faulty_injectdata;
    ep->tagged = &faulty_tagged;
}

#endif /* FABRIC_FAULTS_H_INCLUDED */

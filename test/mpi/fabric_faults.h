/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#ifndef FABRIC_FAULTS_H_INCLUDED
#define FABRIC_FAULTS_H_INCLUDED

/* Makes libfabric refuse tagged messages: its tables of functions are copied, with ours in them, when
 * the library opens the network. Not for providers with scalable endpoints. Included by one source. */

#include "mt.h"

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

static struct fi_ops_fabric faulty_fabric;
static struct fi_ops_domain faulty_domain;
static struct fi_ops_tagged faulty_tagged;
static __typeof__(faulty_fabric.domain) real_domain;
static __typeof__(faulty_domain.endpoint) real_endpoint;
static struct fi_ops_tagged real_tagged;

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

static int open_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                         void *context)
{
    int rc = real_endpoint(domain, info, ep, context);

    if (rc == 0 && (*ep)->tagged) {
        faulty_tagged = real_tagged = *(*ep)->tagged;
        faulty_tagged.recv = faulty_recv;
        faulty_tagged.senddata = faulty_senddata;
        faulty_tagged.injectdata = faulty_injectdata;
        (*ep)->tagged = &faulty_tagged;
    }
    return rc;
}

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context)
{
    int rc = real_domain(fabric, info, domain, context);

    if (rc == 0) {
        faulty_domain = *(*domain)->ops;
        real_endpoint = faulty_domain.endpoint;
        faulty_domain.endpoint = open_endpoint;
        (*domain)->ops = &faulty_domain;
    }
    return rc;
}

/* Ours is found before libfabric's. */
int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    static __thread int depth;  /* a provider opens the one that it uses */
    int (*real) (struct fi_fabric_attr *, struct fid_fabric **, void *);
    int rc;

    *(void **) &real = dlsym(RTLD_NEXT, "fi_fabric");
    MT_CHECK(real, "no fi_fabric");
    depth++;
    rc = real(attr, fabric, context);
    depth--;
    if (rc == 0 && depth == 0) {
        faulty_fabric = *(*fabric)->ops;
        real_domain = faulty_fabric.domain;
        faulty_fabric.domain = open_domain;
        (*fabric)->ops = &faulty_fabric;
    }
    return rc;
}

#endif /* FABRIC_FAULTS_H_INCLUDED */

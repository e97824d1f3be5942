/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* libfabric between a test and the network: the library calls the fi_fabric below, and what it then
 * opens may have functions of the test in place of the provider's. The test defines _GNU_SOURCE, and
 * what it needs of fabric_domain, fabric_endpoint, fabric_counter and fabric_queue, which see each
 * object before the library does. Included by one source. */
#ifndef FABRIC_H_INCLUDED
#define FABRIC_H_INCLUDED

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

void fabric_domain(struct fid_domain *d) __attribute__((weak));
void fabric_endpoint(struct fid_ep *ep) __attribute__((weak));
void fabric_counter(struct fid_cntr *cntr) __attribute__((weak));
void fabric_queue(struct fid_cq *cq) __attribute__((weak));

/* ops_->member_ is function_ from now on, in a copy of *ops_; real_ is what it was. */
#define FABRIC_REPLACE(ops_, member_, real_, function_) \
    do { \
        __typeof__(*(ops_)) *copy_ = malloc(sizeof(*copy_)); \
        *copy_ = *(ops_); \
        real_ = copy_->member_; \
        copy_->member_ = function_; \
        (ops_) = copy_; \
    } while (0)

static struct {
    int (*domain) (struct fid_fabric *, struct fi_info *, struct fid_domain **, void *);
    int (*endpoint) (struct fid_domain *, struct fi_info *, struct fid_ep **, void *);
    int (*counter) (struct fid_domain *, struct fi_cntr_attr *, struct fid_cntr **, void *);
    int (*queue) (struct fid_domain *, struct fi_cq_attr *, struct fid_cq **, void *);
} fabric_real;

static int fabric_open_endpoint(struct fid_domain *d, struct fi_info *info, struct fid_ep **ep, void *c)
{
    int ret = fabric_real.endpoint(d, info, ep, c);
    if (ret == 0 && fabric_endpoint)
        fabric_endpoint(*ep);
    return ret;
}

static int fabric_open_counter(struct fid_domain *d, struct fi_cntr_attr *attr, struct fid_cntr **cntr,
                               void *c)
{
    int ret = fabric_real.counter(d, attr, cntr, c);
    if (ret == 0 && fabric_counter)
        fabric_counter(*cntr);
    return ret;
}

static int fabric_open_queue(struct fid_domain *d, struct fi_cq_attr *attr, struct fid_cq **cq, void *c)
{
    int ret = fabric_real.queue(d, attr, cq, c);
    if (ret == 0 && fabric_queue)
        fabric_queue(*cq);
    return ret;
}

static int fabric_open_domain(struct fid_fabric *f, struct fi_info *info, struct fid_domain **d,
                              void *c)
{
    int ret = fabric_real.domain(f, info, d, c);
    if (ret == 0) {
        if (fabric_domain)
            fabric_domain(*d);
        FABRIC_REPLACE((*d)->ops, endpoint, fabric_real.endpoint, fabric_open_endpoint);
        FABRIC_REPLACE((*d)->ops, cntr_open, fabric_real.counter, fabric_open_counter);
        FABRIC_REPLACE((*d)->ops, cq_open, fabric_real.queue, fabric_open_queue);
    }
    return ret;
}

/* Not what a provider opens for itself beneath. */
int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    static int depth;
    int (*real) (struct fi_fabric_attr *, struct fid_fabric **, void *);
    int ret;
    *(void **) &real = dlsym(RTLD_NEXT, "fi_fabric");
    depth++;
    ret = real(attr, fabric, context);
    if (--depth == 0 && ret == 0)
        FABRIC_REPLACE((*fabric)->ops, domain, fabric_real.domain, fabric_open_domain);
    return ret;
}

#endif /* FABRIC_H_INCLUDED */

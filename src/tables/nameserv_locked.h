/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef NAMESERV_LOCKED_H_INCLUDED
#define NAMESERV_LOCKED_H_INCLUDED

/* For pmi_nameserv.c: one thread at a time talks to the process manager. From here on, PMI's functions
 * of the name service are these. Without mpirun they fail. */

#if !defined(USE_PMI2_API) && !defined(USE_PMIX_API)
#include "threads/singleton.h"

#define NAMESERV_LOCKED(call_) \
    int rc; \
    if (MPIDI_is_singleton()) \
        return PMI_FAIL; \
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_PMI_MUTEX); \
    rc = call_; \
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_PMI_MUTEX); \
    return rc

static int nameserv_publish(const char service_name[], const char port[])
{
    NAMESERV_LOCKED(PMI_Publish_name(service_name, port));
}

static int nameserv_lookup(const char service_name[], char port[])
{
    NAMESERV_LOCKED(PMI_Lookup_name(service_name, port));
}

static int nameserv_unpublish(const char service_name[])
{
    NAMESERV_LOCKED(PMI_Unpublish_name(service_name));
}

#define PMI_Publish_name nameserv_publish
#define PMI_Lookup_name nameserv_lookup
#define PMI_Unpublish_name nameserv_unpublish
#endif

#endif /* NAMESERV_LOCKED_H_INCLUDED */

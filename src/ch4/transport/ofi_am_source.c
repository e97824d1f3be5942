/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ofi_impl.h"
#include <time.h>

uint64_t MPIDI_OFI_am_source[MPIDI_OFI_MAX_VNIS];

/* FNV-1a, from an earlier hash */
static uint64_t hash_of(uint64_t hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

int MPIDI_OFI_am_source_make(int vni)
{
    int mpi_errno = MPI_SUCCESS;
    int ctx_idx = MPIDI_OFI_get_ctx_index(NULL, vni, 0);
    char name[FI_NAME_MAX];
    size_t len = sizeof(name);
    struct timespec now;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    MPIDI_OFI_CALL(fi_getname((fid_t) MPIDI_OFI_global.ctx[ctx_idx].ep, name, &len), getname);
    MPIR_Assert(len <= sizeof(name));
    hash = hash_of(hash, name, len);
    /* VCIs may share an endpoint; a process may get the name of one that has ended */
    hash = hash_of(hash, &vni, sizeof(vni));
    clock_gettime(CLOCK_REALTIME, &now);
    hash = hash_of(hash, &now.tv_sec, sizeof(now.tv_sec));
    MPIDI_OFI_am_source[vni] = hash_of(hash, &now.tv_nsec, sizeof(now.tv_nsec));

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

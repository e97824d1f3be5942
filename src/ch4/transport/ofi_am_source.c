/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ofi_impl.h"
#include <time.h>

uint64_t MPIDI_OFI_am_source[MPIDI_OFI_MAX_VNIS];
void *MPIDI_OFI_am_renewed;

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

uint64_t MPIDI_OFI_am_source_renewed(fi_addr_t addr)
{
    const void *number = MPIDIU_map_lookup(MPIDI_OFI_am_renewed, addr);

    return number == MPIDIU_MAP_NOT_FOUND ? MPIDI_OFI_am_source[0] :
        hash_of(MPIDI_OFI_am_source[0], &number, sizeof(number));
}

void MPIDI_OFI_am_source_renew(MPIDI_av_entry_t * av)
{
    static uintptr_t last;
    const fi_addr_t addr = MPIDI_OFI_av_to_phys(av, 0, 0, 0);

    if (!MPIDI_OFI_ENABLE_AM)
        return;
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock);
    if (!MPIDI_OFI_am_renewed)
        MPIDIU_map_create(&MPIDI_OFI_am_renewed, MPL_MEM_ADDRESS);
    MPIDIU_map_update(MPIDI_OFI_am_renewed, addr, (void *) ++last, MPL_MEM_ADDRESS);
    MPIDIU_map_update(MPIDI_OFI_global.per_vni[0].am_send_seq_tracker, addr, NULL, MPL_MEM_OTHER);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock);
}

void MPIDI_OFI_am_source_forget(void)
{
    if (MPIDI_OFI_am_renewed)
        MPIDIU_map_destroy(MPIDI_OFI_am_renewed);
    MPIDI_OFI_am_renewed = NULL;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_PROVIDER_H_INCLUDED
#define OFI_PROVIDER_H_INCLUDED

/* For init_provider.c, whose first call of libfabric this is, before libfabric reads its variables.
 * What the program's environment sets goes first. */
static struct fi_info *set_provider_environment(void)
{
    /* tcp;ofi_rxm: a truncated message would cut the connection; without that, probed messages in
     * segments would be damaged; a VCI would take 64 MB. On one node it takes buffers when it connects:
     * most jobs never do, and other jobs would have 256 buffers for each connection of a VCI */
    setenv("FI_OFI_RXM_ENABLE_DYN_RBUF", "0", 0);
    setenv("FI_OFI_RXM_SAR_LIMIT", "0", 0);
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "256", 0);
    if (MPIR_Process.num_nodes == 1)
        setenv("FI_OFI_RXM_USE_SRX", "0", 0);
    return fi_allocinfo();
}

#define fi_allocinfo set_provider_environment

/* MPICH takes the provider with the most of the capabilities that it can use. By that measure sockets
 * and udp;ofi_rxd come before tcp;ofi_rxm. Here these two and shm, which serves one node only, come
 * last. sockets lets MPI_Mprobe take the message of an earlier receive (doc/models.md). */
static int score_provider(struct fi_info *prov, MPIDI_OFI_capabilities_t * optimal,
                          MPIDI_OFI_capabilities_t * minimal)
{
    static const char *const last[] = { "udp;ofi_rxd", "shm", "sockets" };
    const int score = MPIDI_OFI_match_provider(prov, optimal, minimal);
    const char *name = prov->fabric_attr->prov_name;
    const int n = sizeof(last) / sizeof(*last);

    for (int i = 0; i < n; i++) {
        if (MPL_stricmp(name, last[i]) == 0)
            return MPL_MIN(score, i + 1);
    }
    return score > 0 ? score + n : score;
}

#define MPIDI_OFI_match_provider score_provider

#endif /* OFI_PROVIDER_H_INCLUDED */

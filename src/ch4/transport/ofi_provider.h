/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_PROVIDER_H_INCLUDED
#define OFI_PROVIDER_H_INCLUDED

#define SHARED_BUFFERS "FI_OFI_RXM_USE_SRX"
#define CHOSEN_HERE "MPICH_OFI_RXM_USE_SRX_CHOSEN"

/* tcp;ofi_rxm has 256 buffers for each VCI, or with 0 here for each connection of a VCI. On one node
 * most jobs never connect. A job that a process of this one starts chooses for itself. */
static void choose_buffers(void)
{
    const char *set = getenv(SHARED_BUFFERS);

    if (MPIR_Process.num_nodes > 1) {
        if (getenv(CHOSEN_HERE) && set && !strcmp(set, "0"))
            unsetenv(SHARED_BUFFERS);
    } else if (!set) {
        setenv(SHARED_BUFFERS, "0", 1);
        setenv(CHOSEN_HERE, "1", 1);
    }
}

/* For init_provider.c, whose first call of libfabric this is, before libfabric reads its variables.
 * What the program's environment sets goes first. */
static struct fi_info *set_provider_environment(void)
{
    /* tcp;ofi_rxm: a truncated message would cut the connection; without that, probed messages in
     * segments would be damaged; a VCI would take 64 MB */
    setenv("FI_OFI_RXM_ENABLE_DYN_RBUF", "0", 0);
    setenv("FI_OFI_RXM_SAR_LIMIT", "0", 0);
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "256", 0);
    choose_buffers();
    return fi_allocinfo();
}

#define fi_allocinfo set_provider_environment

/* MPICH takes the provider with the most of the capabilities that it can use. By that measure sockets
 * and udp;ofi_rxd come before tcp;ofi_rxm. Here they come last, and so do shm, which serves one node
 * only, and net of libfabric 1.17, with which programs crash. sockets lets MPI_Mprobe take the message
 * of an earlier receive (doc/models.md). */
static int score_provider(struct fi_info *prov, MPIDI_OFI_capabilities_t * optimal,
                          MPIDI_OFI_capabilities_t * minimal)
{
    static const char *const last[] = { "net", "udp;ofi_rxd", "shm", "sockets" };
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

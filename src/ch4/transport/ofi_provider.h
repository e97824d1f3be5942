/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_PROVIDER_H_INCLUDED
#define OFI_PROVIDER_H_INCLUDED

/* For init_provider.c. What the program's environment sets goes first. */
static void set_provider_environment(void)
{
    /* tcp;ofi_rxm: a truncated message would cut the connection; without that, probed messages in
     * segments would be damaged; a VCI would take 64 MB */
    setenv("FI_OFI_RXM_ENABLE_DYN_RBUF", "0", 0);
    setenv("FI_OFI_RXM_SAR_LIMIT", "0", 0);
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "256", 0);
}

#endif /* OFI_PROVIDER_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_AV_LOCKED_H_INCLUDED
#define OFI_AV_LOCKED_H_INCLUDED

/* For init_addrxchg.c. A program with sessions may make the first communicator of all processes while
 * another of its threads communicates with itself and so polls VCI 0. Its domain is used with that VCI
 * locked; the other domains are not polled before this is done. */
static int MPIDI_OFI_av_insert(struct fid_av *av, void *names, size_t count, fi_addr_t * addresses,
                               uint64_t flags, void *context)
{
    int ret;

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock);
    ret = fi_av_insert(av, names, count, addresses, flags, context);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock);
    return ret;
}

#define fi_av_insert MPIDI_OFI_av_insert

#endif /* OFI_AV_LOCKED_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_WIN_LOCKED_H_INCLUDED
#define UCX_WIN_LOCKED_H_INCLUDED

/* For ucx_win.c. From here on, these calls of UCX take the VCI of the window win, a variable of the
 * caller: other threads may drive UCX meanwhile. The macro of a name does not apply within its own
 * text, so that UCX's function is called. */

#define MPIDI_UCX_WIN_LOCKED(call_) \
    __extension__({ \
        const int vni_ = MPIDI_UCX_get_win_vni(win); \
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vni_).lock); \
        ucs_status_t status_ = call_; \
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni_).lock); \
        status_; \
    })

#define ucp_mem_map(context_, params_, mem_) \
    MPIDI_UCX_WIN_LOCKED(ucp_mem_map(context_, params_, mem_))
#define ucp_mem_unmap(context_, mem_) \
    MPIDI_UCX_WIN_LOCKED(ucp_mem_unmap(context_, mem_))
#define ucp_rkey_pack(context_, mem_, buffer_, size_) \
    MPIDI_UCX_WIN_LOCKED(ucp_rkey_pack(context_, mem_, buffer_, size_))
#define ucp_ep_rkey_unpack(ep_, buffer_, rkey_) \
    MPIDI_UCX_WIN_LOCKED(ucp_ep_rkey_unpack(ep_, buffer_, rkey_))
#define ucp_rkey_destroy(rkey_) \
    (void) MPIDI_UCX_WIN_LOCKED((ucp_rkey_destroy(rkey_), UCS_OK))

#endif /* UCX_WIN_LOCKED_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_WIN_LOCKED_H_INCLUDED
#define OFI_WIN_LOCKED_H_INCLUDED

/* For ofi_win.c. From here on, these calls take the VCI of the window win, a variable of the caller:
 * other threads may drive libfabric meanwhile, whose domains belong to one thread at a time, and may
 * look up memory in the trees of a dynamic window. They are those beside collective calls, over which
 * no VCI is held; functions without one hold the VCI throughout. The macro of a name does not apply
 * within its own text: the function is called. */

#define MPIDI_OFI_WIN_LOCKED(call_) \
    __extension__({ \
        const int vni_ = MPIDI_OFI_get_win_vni(win); \
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vni_).lock); \
        int ret_ = call_; \
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni_).lock); \
        ret_; \
    })

#define fi_mr_reg(...) MPIDI_OFI_WIN_LOCKED(fi_mr_reg(__VA_ARGS__))
#define fi_close(fid_) MPIDI_OFI_WIN_LOCKED(fi_close(fid_))

#define MPL_gavl_tree_insert(...) MPIDI_OFI_WIN_LOCKED(MPL_gavl_tree_insert(__VA_ARGS__))
#define MPL_gavl_tree_delete_start_addr(tree_, addr_) \
    MPIDI_OFI_WIN_LOCKED(MPL_gavl_tree_delete_start_addr(tree_, addr_))

/* Around a function without collective calls; the second end is that of one that gives the window its
 * counter. */
#define MPIDI_OFI_WIN_ENTER(win_) \
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(MPIDI_OFI_get_win_vni(win_)).lock)
/* In the function that frees its part of a window: nothing to do, if there is none. */
#define MPIDI_OFI_WIN_ENTER_MADE(win_) \
    do { \
        MPIDI_OFI_WIN_ENTER(win_); \
        if (!MPIDI_OFI_WIN(win_).ep) \
            goto fn_exit; \
    } while (0)
#define MPIDI_OFI_WIN_EXIT(win_) MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(MPIDI_OFI_get_win_vni(win_)).lock)
#define MPIDI_OFI_WIN_EXIT_NEW(win_) \
    do { \
        MPIDI_OFI_flush_new_win(win_); \
        MPIDI_OFI_WIN_EXIT(win_); \
    } while (0)

#endif /* OFI_WIN_LOCKED_H_INCLUDED */

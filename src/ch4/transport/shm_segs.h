/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_SHM_SEGS_H_INCLUDED
#define MPIDI_SHM_SEGS_H_INCLUDED

/* For mpidu_shm_alloc.c, whose one list of shared segments several threads change: from here on its
 * macros take a mutex. A loop may be left by break alone. */

static int shm_segs_enter(void)
{
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    return 1;
}

static int shm_segs_exit(void)
{
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    return 0;
}

static void shm_segs_add(seg_list_t * el)
{
    shm_segs_enter();
    LL_APPEND(seg_list_head, seg_list_tail, el);
    shm_segs_exit();
}

#undef LL_APPEND
#define LL_APPEND(head_, tail_, el_) shm_segs_add(el_)

#undef LL_FOREACH
#define LL_FOREACH(head_, el_) \
    for (int in_ = shm_segs_enter(); in_; in_ = shm_segs_exit()) \
        for (el_ = (head_); el_; el_ = el_->next)

#endif /* MPIDI_SHM_SEGS_H_INCLUDED */

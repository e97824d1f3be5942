/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_FLUSH_HOLDS_H_INCLUDED
#define MPIDI_FLUSH_HOLDS_H_INCLUDED

/* What the netmods share of flushes that hold operations back (ofi_flush.h, ucx_flush.h).
 *
 *   MPIDI_flush_issues_for_others   the calling thread issues operations that other threads have posted
 *   MPIDI_flush_count               n more flushes of the VCI hold operations back; VCI locked
 *
 * With global they do nothing: no operation is posted there. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
/* None of the posted operations waits for a flush, since the thread that posted it has looked before
 * (issue/rma_direct.h), and the flush, if it has begun since, waits for it. */
MPL_STATIC_INLINE_PREFIX int MPIDI_flush_issues_for_others(void)
{
    return MPIDI_thread_local.draining;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_flush_count(int vci, int n)
{
    tsm_fetch_add(&MPIDI_VCI(vci).threads.flushing, n, TSM_RELAXED);
}
#else
#define MPIDI_flush_issues_for_others() 0
#define MPIDI_flush_count(vci_, n_) do { } while (0)
#endif

#endif /* MPIDI_FLUSH_HOLDS_H_INCLUDED */

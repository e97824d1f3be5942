/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* ch4_win.h includes this before its functions and again behind them. In between, a call of the netmod
 * that completes operations, ends an epoch or waits is this one: around it the posted operations are
 * issued and the watchdog is told, and an offloaded window has its own (CSP_WIN in casper/csp.h).
 * The macro of a name does not apply within its own text, so that the netmod's function is called. */

#ifndef MPIDI_NM_mpi_win_fence
#include "rma_sync.h"

#define MPIDI_NM_mpi_win_start(group_, assert_, win_) \
    MPIDI_RMA_WAITS(MPIDI_NM_mpi_win_start(group_, assert_, win_))
#define MPIDI_NM_mpi_win_wait(win_) \
    MPIDI_RMA_WAITS(MPIDI_NM_mpi_win_wait(win_))
#define MPIDI_NM_mpi_win_lock(type_, rank_, assert_, win_, av_) \
    MPIDI_RMA_WAITS(CSP_WIN(win_, lock, (type_, rank_, assert_, win_, av_)))
#define MPIDI_NM_mpi_win_lock_all(assert_, win_) \
    MPIDI_RMA_WAITS(CSP_WIN(win_, lock_all, (assert_, win_)))
#define MPIDI_NM_mpi_win_complete(win_) \
    MPIDI_RMA_SYNC(win_, CSP_WIN(win_, complete, (win_)))
#define MPIDI_NM_mpi_win_fence(assert_, win_) \
    MPIDI_RMA_SYNC(win_, CSP_WIN(win_, fence, (assert_, win_)))
#define MPIDI_NM_mpi_win_flush(rank_, win_, av_) \
    MPIDI_RMA_SYNC(win_, CSP_WIN(win_, flush, (rank_, win_, av_)))
#define MPIDI_NM_mpi_win_flush_all(win_) \
    MPIDI_RMA_SYNC(win_, CSP_WIN(win_, flush_all, (win_)))
#define MPIDI_NM_mpi_win_flush_local(rank_, win_, av_) \
    MPIDI_RMA_SYNC(win_, CSP_WIN(win_, flush_local, (rank_, win_, av_)))
#define MPIDI_NM_mpi_win_flush_local_all(win_) \
    MPIDI_RMA_SYNC(win_, CSP_WIN(win_, flush_local_all, (win_)))
#define MPIDI_NM_mpi_win_unlock(rank_, win_, av_) \
    MPIDI_RMA_SYNC(win_, MPIDI_rma_may_unlock(rank_, win_) ? \
                   CSP_WIN(win_, unlock, (rank_, win_, av_)) : \
                   MPIDI_rma_not_locked(__func__, __LINE__))
#define MPIDI_NM_mpi_win_unlock_all(win_) \
    MPIDI_RMA_SYNC(win_, CSP_WIN(win_, unlock_all, (win_)))

#else

#undef MPIDI_NM_mpi_win_start
#undef MPIDI_NM_mpi_win_wait
#undef MPIDI_NM_mpi_win_lock
#undef MPIDI_NM_mpi_win_lock_all
#undef MPIDI_NM_mpi_win_complete
#undef MPIDI_NM_mpi_win_fence
#undef MPIDI_NM_mpi_win_flush
#undef MPIDI_NM_mpi_win_flush_all
#undef MPIDI_NM_mpi_win_flush_local
#undef MPIDI_NM_mpi_win_flush_local_all
#undef MPIDI_NM_mpi_win_unlock
#undef MPIDI_NM_mpi_win_unlock_all

#endif

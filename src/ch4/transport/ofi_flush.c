/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ofi_win.h"
#include "threads/one_node.h"
#include "threads/transport/flush_holds.h"

/* All waits of a vni, flushes and held back operations, are in one list on the stacks of their
 * threads. Windows may share a counter, so a wait ends when any thread sees its counter complete.
 * That thread also finishes the completed noncontiguous operations of the window, because a moment
 * later its queue may hold operations that are not complete. */

#define WAITS(vni_) MPIDI_OFI_global.per_vni[vni_].flush.waits

/* The windows of a vni that have had a packed operation, until they are freed. */
#define PACKED(vni_) MPIDI_OFI_global.per_vni[vni_].flush.packed_wins

static MPIDI_OFI_flush_wait_t *first_wait(int vni)
{
    return MPL_atomic_relaxed_load_ptr(&WAITS(vni));
}

static void add_wait(int vni, MPIDI_OFI_flush_wait_t * self, MPIR_Win * win, struct fid_cntr *cntr)
{
    self->win = win;
    self->cntr = cntr;
    self->seen = win ? MPIDI_OFI_WIN(win).flush.seen : 0;
    self->done = 0;
    self->has_failed = 0;
    self->next = first_wait(vni);
    MPL_atomic_relaxed_store_ptr(&WAITS(vni), self);
}

static void remove_wait(int vni, MPIDI_OFI_flush_wait_t * self)
{
    MPIDI_OFI_flush_wait_t *w = first_wait(vni);

    if (w == self) {
        MPL_atomic_relaxed_store_ptr(&WAITS(vni), self->next);
        return;
    }
    while (w->next != self)
        w = w->next;
    w->next = self->next;
}

static int has_flush(int vni, struct fid_cntr *cntr)
{
    for (MPIDI_OFI_flush_wait_t * w = first_wait(vni); w; w = w->next) {
        if (w->cntr == cntr && w->win && !w->done)
            return 1;
    }
    return 0;
}

/* A failed operation never completes, and libfabric reports only how many errors there are; any thread
 * may have read their events. Many windows may share a counter, so a flush fails if there are errors
 * that its window has not returned yet, whichever window they are of: rather an error of another window
 * than none. A broken connection may be counted as more errors than the operations that it had; the
 * others complete later. So what is missing is not waited for any more only if no more is missing than
 * there are errors, and than was missing when they were seen, and nothing has changed from one look to
 * the next.
 * Providers that do not count errors (ofi_rxm) leave later flushes waiting, as in 4.0.2. */

/* Where the operations of the window are counted. */
static MPIDI_OFI_flush_errors_t *errors_of(MPIR_Win * win)
{
    MPIDI_OFI_context_t *shared;

    if (MPIDI_OFI_WIN(win).issued_cntr == &MPIDI_OFI_WIN(win).issued_cntr_v)
        return &MPIDI_OFI_WIN(win).flush.errors;
    shared = MPL_container_of(MPIDI_OFI_WIN(win).issued_cntr, MPIDI_OFI_context_t, rma_issued_cntr);
    return &shared->deferred.errors;
}

static uint64_t seen_errors(MPIR_Win * win)
{
    return MPL_atomic_relaxed_load_uint64(&errors_of(win)->seen);
}

/* A window without a counter is not made. */
void MPIDI_OFI_flush_new_win(MPIR_Win * win)
{
    if (MPIDI_OFI_WIN(win).issued_cntr)
        MPIDI_OFI_WIN(win).flush.seen = seen_errors(win);
}

void MPIDI_OFI_flush_new_counter(int ctx_idx)
{
    MPIDI_OFI_flush_errors_t *e = &MPIDI_OFI_global.ctx[ctx_idx].deferred.errors;

    MPL_atomic_relaxed_store_uint64(&e->seen, 0);
    MPL_atomic_relaxed_store_uint64(&e->completed, 0);
    MPL_atomic_relaxed_store_uint64(&e->settled, 0);
    MPL_atomic_relaxed_store_uint64(&e->missing, 0);
}

/* Two flushes of a window fail both, so each compares with what was known when it began. */
static void tell_errors(MPIDI_OFI_flush_wait_t * w)
{
    const uint64_t seen = seen_errors(w->win);

    if (w->seen != seen)
        w->has_failed = 1;
    MPIDI_OFI_WIN(w->win).flush.seen = seen;
}

/* Another VCI may share the counter of completions. */
static void raise_issued(MPIR_Win * win, uint64_t issued, uint64_t completed)
{
#if defined(MPIDI_CH4_USE_MT_RUNTIME) || defined(MPIDI_CH4_USE_MT_LOCKLESS)
    MPL_atomic_cas_uint64(MPIDI_OFI_WIN(win).issued_cntr, issued, completed);
#else   /* not of an atomic type */
    __atomic_compare_exchange_n(MPIDI_OFI_WIN(win).issued_cntr, &issued, completed, 0,
                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
#endif
}

/* Whether everything issued has completed: then no operation has the errors that were seen before. An
 * operation that was not waited for any more may complete all the same, and is counted again. */
static int is_complete(MPIR_Win * win)
{
    MPIDI_OFI_flush_errors_t *e = errors_of(win);
    const uint64_t seen = MPL_atomic_relaxed_load_uint64(&e->seen);
    const uint64_t completed = fi_cntr_read(MPIDI_OFI_WIN(win).cmpl_cntr);
    const uint64_t issued = MPIDI_OFI_win_read_issued_cntr(win);

    if (completed < issued)
        return 0;
    if (unlikely(completed > issued))
        raise_issued(win, issued, completed);
    if (unlikely(MPL_atomic_relaxed_load_uint64(&e->settled) != seen))
        MPL_atomic_relaxed_store_uint64(&e->settled, seen);
    return 1;
}

/* Looks at the errors of the counter of a window. */
static void take_errors(MPIR_Win * win, int vni)
{
    MPIDI_OFI_flush_errors_t *e = errors_of(win);
    struct fid_cntr *cntr = MPIDI_OFI_WIN(win).cmpl_cntr;
    const uint64_t completed = fi_cntr_read(cntr);
    const uint64_t missing = MPIDI_OFI_win_read_issued_cntr(win) - completed;
    const uint64_t settled = MPL_atomic_relaxed_load_uint64(&e->settled);
    const uint64_t errors = fi_cntr_readerr(cntr);
    const int is_still = MPL_atomic_relaxed_load_uint64(&e->seen) == errors &&
        MPL_atomic_relaxed_load_uint64(&e->completed) == completed;

    if (MPL_atomic_relaxed_load_uint64(&e->seen) != errors)
        MPL_atomic_relaxed_store_uint64(&e->missing, missing);
    MPL_atomic_relaxed_store_uint64(&e->seen, errors);
    MPL_atomic_relaxed_store_uint64(&e->completed, completed);
    for (MPIDI_OFI_flush_wait_t * w = first_wait(vni); w; w = w->next) {
        if (w->cntr == cntr && w->win && !w->done)
            tell_errors(w);
    }
    if (is_still && errors != settled && missing <= errors - settled &&
        missing <= MPL_atomic_relaxed_load_uint64(&e->missing) &&
        MPL_atomic_cas_uint64(&e->settled, settled, errors) == settled)
        MPIDI_OFI_uncount(win, 0, missing);
}

static void finish_noncontig(MPIR_Win * win)
{
    MPIDI_OFI_win_request_t *r = MPIDI_OFI_WIN(win).syncQ;

    MPIDI_OFI_WIN(win).syncQ = NULL;
    while (r) {
        MPIDI_OFI_win_request_t *next = r->next;
        MPIR_Request **sigreq = r->sigreq;
        MPIDI_OFI_win_request_complete(r);
        MPIDI_OFI_sigreq_complete(sigreq);
        r = next;
    }
}

void MPIDI_OFI_flush_packed(MPIR_Win * win)
{
    if (MPIDI_OFI_WIN(win).flush.is_packed)
        return;
    MPIDI_OFI_WIN(win).flush.is_packed = 1;
    MPIDI_OFI_WIN(win).flush.next_packed = PACKED(MPIDI_OFI_WIN(win).vni);
    PACKED(MPIDI_OFI_WIN(win).vni) = win;
}

void MPIDI_OFI_flush_forget(MPIR_Win * win)
{
    MPIR_Win **p = &PACKED(MPIDI_OFI_WIN(win).vni);

    if (!MPIDI_OFI_WIN(win).flush.is_packed)
        return;
    while (*p != win)
        p = &MPIDI_OFI_WIN(*p).flush.next_packed;
    *p = MPIDI_OFI_WIN(win).flush.next_packed;
}

/* Of what has completed in any window of the vni, also of operations that are not issued in full. */
void MPIDI_OFI_flush_give_back(int vni)
{
    for (MPIR_Win * win = PACKED(vni); win; win = MPIDI_OFI_WIN(win).flush.next_packed) {
        if (!is_complete(win))
            continue;
        finish_noncontig(win);
        for (MPIDI_OFI_win_request_t * r = MPIDI_OFI_WIN(win).deferredQ; r; r = r->next)
            MPIDI_OFI_complete_chunks(r);
    }
}

static void begin_flush(MPIR_Win * win, int vni, MPIDI_OFI_flush_wait_t * self)
{
    add_wait(vni, self, win, MPIDI_OFI_WIN(win).cmpl_cntr);
    MPIDI_flush_count(vni, 1);
}

/* Everything issued has completed: end all waits for that counter. A flush continues while its window
 * has operations that are not issued yet. */
static void reached(int vni, struct fid_cntr *cntr)
{
    for (MPIDI_OFI_flush_wait_t * w = first_wait(vni); w; w = w->next) {
        if (w->cntr != cntr || w->done || (w->win && MPIDI_OFI_WIN(w->win).deferredQ))
            continue;
        if (w->win) {
            finish_noncontig(w->win);
            tell_errors(w);
        }
        w->done = 1;
    }
}

/* Everything issued has completed: issue more of what waits for pack buffers. Those of what has
 * completed come back first: without that nothing might be issued, and the flush would never end. Other
 * windows may have them all, and be flushed by this thread only later. */
static int issue_packed(MPIR_Win * win, int vni)
{
    const uint64_t issued = MPIDI_OFI_win_read_issued_cntr(win);
    int mpi_errno;

    finish_noncontig(win);
    mpi_errno = MPIDI_OFI_issue_deferred_rma(win);
    if (mpi_errno == MPI_SUCCESS && issued == MPIDI_OFI_win_read_issued_cntr(win)) {
        MPIDI_OFI_flush_give_back(vni);
        mpi_errno = MPIDI_progress_turn_locked(vni);
    }
    return mpi_errno;
}

/* The caller returns its error. What was issued of it ends with the next flush, which unpacks nothing:
 * the program may have given its buffer back. */
void MPIDI_OFI_flush_drop(MPIR_Win * win, MPIDI_OFI_win_request_t * req, struct iovec *target_iov)
{
    for (MPIDI_OFI_pack_chunk * c = req->chunks; c; c = c->next)
        c->unpack_size = 0;
    MPL_free(target_iov);
    DL_DELETE(MPIDI_OFI_WIN(win).deferredQ, req);
    req->next = MPIDI_OFI_WIN(win).syncQ;
    MPIDI_OFI_WIN(win).syncQ = req;
}

static void end_flush(int vni, MPIDI_OFI_flush_wait_t * self)
{
    remove_wait(vni, self);
    MPIDI_flush_count(vni, -1);
}

static int failed_flush(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_OFI_ERR(1, mpi_errno, MPI_ERR_RMA_RANGE, "**ofid_cntr_wait", "**ofid_cntr_wait %s %d %s %s",
                  __SHORT_FILE__, __LINE__, __func__, fi_strerror(FI_EAVAIL));
  fn_fail:
    return mpi_errno;
}

/* On one node nothing is issued, so what was complete still is. A look at libfabric's counter may be a
 * poll of the network, with a system call (tcp), in each flush. */
static int was_complete(MPIR_Win * win)
{
    return MPIDI_on_one_node() && MPIDI_OFI_WIN(win).flush.has_completed &&
        MPIDI_OFI_WIN(win).flush.completed_at == MPIDI_OFI_win_read_issued_cntr(win);
}

/* 1 if there is nothing to wait for, as in windows whose operations all go through shared memory: then
 * the flush holds nothing back, and posts of other threads do not see it. */
static int is_flushed(MPIR_Win * win)
{
    MPIDI_OFI_flush_win_t *flush = &MPIDI_OFI_WIN(win).flush;

    if (!was_complete(win)) {
        const uint64_t issued = MPIDI_OFI_win_read_issued_cntr(win);
        if (!is_complete(win))
            return 0;
        flush->completed_at = issued;
        flush->has_completed = 1;
    }
    return !MPIDI_OFI_WIN(win).deferredQ && flush->seen == seen_errors(win);
}

/* Turns between two looks at the errors. */
#define TURNS 1000

/* Another thread may see that all is complete, and end this flush, while it waits. */
int MPIDI_OFI_win_do_progress(MPIR_Win * win, int vni)
{
    MPIDI_OFI_flush_wait_t flush;
    unsigned turns = 0;
    int mpi_errno = MPI_SUCCESS;

    if (is_flushed(win)) {
        reached(vni, MPIDI_OFI_WIN(win).cmpl_cntr);
        finish_noncontig(win);
        MPIDI_OFI_WIN(win).progress_counter = 1;
        return MPI_SUCCESS;
    }
    begin_flush(win, vni, &flush);
    MPIDI_TURNS_BEGIN();
    while (!flush.done && !flush.has_failed && mpi_errno == MPI_SUCCESS) {
        if (!is_complete(win)) {
            mpi_errno = MPIDI_progress_turn_locked(vni);
            if (mpi_errno == MPI_SUCCESS && !flush.done && ++turns % TURNS == 0)
                take_errors(win, vni);
        } else if (MPIDI_OFI_WIN(win).deferredQ) {
            mpi_errno = issue_packed(win, vni);
        } else {
            reached(vni, flush.cntr);
            MPIDI_OFI_WIN(win).progress_counter = 1;
        }
    }
    if (mpi_errno)
        take_errors(win, vni);  /* or the next flush would fail for the same operation */
    end_flush(vni, &flush);
    return flush.has_failed && mpi_errno == MPI_SUCCESS ? failed_flush() : mpi_errno;
}

/* Wait until the counter is complete, or no flush waits for it any more (a flush that fails ends only
 * its own wait). An error of progress ends the wait: the operation will return it as well. */
void MPIDI_OFI_hold_back_wait(MPIR_Win * win, int vni)
{
    struct fid_cntr *cntr = MPIDI_OFI_WIN(win).cmpl_cntr;
    MPIDI_OFI_flush_wait_t self;
    int mpi_errno = MPI_SUCCESS;

    if (MPIDI_flush_issues_for_others())
        return;
    MPIDI_TURNS_BEGIN();
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vni).lock);
    add_wait(vni, &self, NULL, cntr);
    while (!self.done && has_flush(vni, cntr) && mpi_errno == MPI_SUCCESS) {
        if (is_complete(win))
            reached(vni, cntr);
        else
            mpi_errno = MPIDI_progress_turn_locked(vni);
    }
    remove_wait(vni, &self);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni).lock);
}

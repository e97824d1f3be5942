/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_USC_H_INCLUDED
#define CH4_USC_H_INCLUDED

/* The user-space condition (the USC of HMCS<N>USC, ICS'19 section 4.2): a thread that waits for an
 * operation sleeps until that operation completes, and one of the waiting threads, the server,
 * drives progress for all. The completion wakes exactly the thread that waits for it. Here it serves
 * every model, when threads outnumber processors or have waited in vain for long; before that they
 * poll.
 *
 * Invariants
 *  - req->dev.tsm.waiter is NULL or the one thread that sleeps, or is about to, until req is
 *    complete. The thread stores itself before it looks at req for the last time, the completion
 *    looks at waiter after its decrement: one of them sees the other.
 *  - Who wants to end a sleep takes the pointer out, by exchange, and counts itself in the thread's
 *    `takers`, the server that elects its successor likewise. The first of them wakes, the others do
 *    not touch the thread again. The thread goes on only when it has counted all of them: those who
 *    have been faster than itself at taking its pointers back.
 *  - As long as a thread sleeps for a VCI, another one is its server, which is in a waiting call of
 *    its own and never sleeps. It elects one of the sleepers before it returns.
 *  - A wake (a system call) is issued after the lock of the VCI has been released.
 *
 * Threads: any; sleeping threads hold no VCI lock. */

#include "ch4_thread.h"

/* Orders the decrement of a completion counter before the look at the waiter; for processors whose
 * read-modify-writes are full barriers, only the compiler has to be told. */
#if defined(__x86_64__) || defined(__i386__)
#define MPIDI_tsm_usc_fence() atomic_signal_fence(memory_order_seq_cst)
#else
#define MPIDI_tsm_usc_fence() atomic_thread_fence(memory_order_seq_cst)
#endif

struct MPIR_Request;

/* Called by a waiting call whose poll found nothing: spins, yields, sleeps or, as the server, goes
 * on at once. See MPIDI_tsm_wait_end. */
void MPIDI_tsm_wait(MPID_Progress_state * state);

/* The caller of MPIDI_tsm_wait was the server of vci and leaves. */
void MPIDI_tsm_usc_leave(int vci);
void MPIDI_tsm_usc_init(int vci);

/* req has completed and has a waiter: it will be woken when the caller holds no VCI. Lock-free. */
void MPIDI_tsm_usc_complete(struct MPIR_Request *req);

/* End the sleep of all threads whose requests the calling thread has completed. */
void MPIDI_tsm_usc_wake(void);

#endif /* CH4_USC_H_INCLUDED */

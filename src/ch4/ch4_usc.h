/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_USC_H_INCLUDED
#define CH4_USC_H_INCLUDED

/* The user-space condition (TOPC section 6, HMCS<N>USC): a thread that waits for an operation
 * sleeps until that operation completes, and one of the waiting threads, the server, drives
 * progress for all. The completion wakes exactly the thread that waits for it. Here it serves every
 * model, when threads outnumber processors or have waited in vain for long; before that they poll.
 *
 * Invariants
 *  - req->dev.tsm.waiter is NULL or the one thread that sleeps, or is about to, until req is
 *    complete. The thread stores itself before it looks at req for the last time, the completion
 *    looks at waiter after its decrement: one of them sees the other.
 *  - Whoever takes the pointer out, by exchange, ends the sleep: the completion, the server that
 *    elects its successor, or the thread itself. So there is one wake for each sleep, and the
 *    thread's state is not touched after that.
 *  - As long as a thread sleeps for a VCI, another one is its server, which is in a waiting call of
 *    its own and never sleeps. It elects one of the sleepers before it returns.
 *  - A wake (a system call) is issued after the lock of the VCI has been released.
 *
 * Threads: any; sleeping threads hold no VCI lock. */

#include "ch4_thread.h"

struct MPIR_Request;

/* Called by a waiting call whose poll found nothing: spins, yields, sleeps or, as the server, goes
 * on at once. See MPIDI_tsm_wait_end. */
void MPIDI_tsm_wait(MPID_Progress_state * state);

/* Sleep until req is complete or until the caller is elected to serve vci. 1: the caller is the
 * server, makes progress, and calls MPIDI_tsm_usc_leave before it goes. Blocking. */
int MPIDI_tsm_usc_wait(int vci, struct MPIR_Request *req);
void MPIDI_tsm_usc_leave(int vci);
void MPIDI_tsm_usc_init(int vci);

/* req has completed and has a waiter: it will be woken when the caller holds no VCI. Lock-free. */
void MPIDI_tsm_usc_complete(struct MPIR_Request *req);

/* End the sleep of all threads whose requests the calling thread has completed. */
void MPIDI_tsm_usc_wake(void);

#endif /* CH4_USC_H_INCLUDED */

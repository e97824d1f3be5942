/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STACK_H_INCLUDED
#define MPIDI_STACK_H_INCLUDED

/* The stack of another thread of the process, for the watchdog. A signal makes the thread look at its
 * own stack; it is the highest real-time signal that the program has not taken. System calls that it
 * interrupts go on, except those that never do, such as epoll_wait. With glibc on Linux; elsewhere
 * there are no stacks. By one thread, the watchdog. */

/* Take a signal. It stays taken until MPIDI_stack_close, and is ignored from then on. note: what a
 * thread does besides when it is asked, in the handler. */
void MPIDI_stack_open(void (*note) (void));
void MPIDI_stack_close(void);

/* By a thread that blocks signals: it answers all the same. */
void MPIDI_stack_let_in(void);

/* Ask the thread with this number of Linux (gettid) for its stack. Returns 0 if it does not answer,
 * because it blocks the signal or has ended. All such threads together delay the caller by a second,
 * and each by 20 ms beyond that. */
int MPIDI_stack_ask(long lwp);

/* Print a line for each function that the thread asked last was in, each with the prefix. Only if it
 * has answered. */
void MPIDI_stack_print(FILE * out, const char *prefix);

#endif /* MPIDI_STACK_H_INCLUDED */

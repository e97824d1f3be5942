/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_AWAITED_H_INCLUDED
#define MPIDI_AWAITED_H_INCLUDED

/* What the requests are for that a thread waits for, for the watchdog. The thread itself looks at them,
 * in the signal handler of stack.h, since no other thread knows how long they exist. */

/* Note the requests that the calling thread waits for. Async-signal-safe. */
void MPIDI_awaited_note(void);

/* Print a line, with the prefix, for each of the first requests noted last, and one for how many more
 * there are. By the watchdog, when the thread has answered. */
void MPIDI_awaited_print(FILE * out, const char *prefix);

#endif /* MPIDI_AWAITED_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "stack.h"

#if defined(__linux__) && defined(__GLIBC__)

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "tsm/tsm_atomic.h"

#define FRAMES 32

/* Of the handler and of what calls it: not of interest. */
#define OWN_FRAMES 2

/* Looks for answers, one each millisecond: for all threads together, and then for each one. */
#define LOOKS 1000
#define LOOKS_EACH 20

static int looks;               /* left of LOOKS */

/* Of stack.state, which else is the number of the thread that is asked. One word: a thread that looked
 * at a number apart, and was then preempted, could answer for the thread that is asked after it. */
enum { IDLE = 0, WRITING = -1, ANSWERED = -2 };

static struct {
    int signal;                 /* 0: none is free */
    TSM_ATOMIC(long) state;
    void (*note) (void);
    int n;
    void *frame[FRAMES];
} stack;

/* A thread that answers late, when another one is asked, leaves all as it is. */
static void on_signal(int sig)
{
    int saved = errno;
    long lwp = syscall(SYS_gettid);

    (void) sig;
    if (tsm_cas(&stack.state, &lwp, WRITING, TSM_ACQUIRE, TSM_RELAXED)) {
        stack.n = backtrace(stack.frame, FRAMES);
        stack.note();
        tsm_store(&stack.state, ANSWERED, TSM_RELEASE);
    }
    errno = saved;
}

/* The first call of backtrace loads a library, which a handler must not do. */
void MPIDI_stack_open(void (*note) (void))
{
    struct sigaction before, action = {.sa_handler = on_signal,.sa_flags = SA_RESTART };
    void *frame[1];

    backtrace(frame, 1);
    sigfillset(&action.sa_mask);
    stack.note = note;
    stack.signal = 0;
    looks = LOOKS;
    for (int sig = SIGRTMAX; sig > SIGRTMIN && !stack.signal; sig--) {
        if (sigaction(sig, NULL, &before) == 0 && before.sa_handler == SIG_DFL &&
            sigaction(sig, &action, NULL) == 0)
            stack.signal = sig;
    }
}

/* A signal that a thread blocks may come after this, and ends the program if it is not ignored. */
void MPIDI_stack_close(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN };

    if (stack.signal)
        sigaction(stack.signal, &ignore, NULL);
    stack.signal = 0;
}

void MPIDI_stack_let_in(void)
{
    sigset_t set;

    sigemptyset(&set);
    if (stack.signal)
        sigaddset(&set, stack.signal);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* A thread that cannot be asked is no longer asked either: a signal of an earlier time may reach it. */
int MPIDI_stack_ask(long lwp)
{
    static const struct timespec millisecond = {.tv_nsec = 1000000 };
    long asked = lwp;
    int sent;

    if (tsm_load(&stack.state, TSM_ACQUIRE) == WRITING)
        return 0;
    tsm_store(&stack.state, lwp, TSM_RELEASE);
    sent = stack.signal && !syscall(SYS_tgkill, getpid(), lwp, stack.signal);
    for (int i = 0; sent && (i < LOOKS_EACH || looks-- > 0) &&
         tsm_load(&stack.state, TSM_ACQUIRE) != ANSWERED; i++)
        nanosleep(&millisecond, NULL);
    if (tsm_cas(&stack.state, &asked, IDLE, TSM_RELAXED, TSM_RELAXED))
        return 0;
    /* the thread is about to answer, unless it waits for a lock of the loader */
    for (int i = 0; i < LOOKS && tsm_load(&stack.state, TSM_ACQUIRE) != ANSWERED; i++)
        nanosleep(&millisecond, NULL);
    return tsm_load(&stack.state, TSM_ACQUIRE) == ANSWERED;
}

void MPIDI_stack_print(FILE * out, const char *prefix)
{
    char **name = backtrace_symbols(stack.frame, stack.n);

    for (int i = OWN_FRAMES; name && i < stack.n; i++)
        fprintf(out, "%s%s\n", prefix, name[i]);
    (free) (name);
}

#else

void MPIDI_stack_open(void (*note) (void))
{
    (void) note;
}

void MPIDI_stack_close(void)
{
}

void MPIDI_stack_let_in(void)
{
}

int MPIDI_stack_ask(long lwp)
{
    (void) lwp;
    return 0;
}

void MPIDI_stack_print(FILE * out, const char *prefix)
{
    (void) out, (void) prefix;
}

#endif

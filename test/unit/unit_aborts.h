/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Misuse must end the program. */

#ifndef UNIT_ABORTS_H_INCLUDED
#define UNIT_ABORTS_H_INCLUDED

#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run body(arg) in a child process, which an assertion must stop. */
static inline void unit_aborts(void (*body)(void *arg), void *arg)
{
#ifndef NDEBUG
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);       /* cmocka and the sanitizers catch it */
        close(STDERR_FILENO);           /* the message is expected */
        body(arg);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#else
    (void) body;
    (void) arg;
#endif
}

#endif /* UNIT_ABORTS_H_INCLUDED */

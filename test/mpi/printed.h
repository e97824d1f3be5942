/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What this process prints to stderr, and the report of MPIR_CVAR_PROGRESS_TIMEOUT in it. Included by
 * one source. */
#ifndef PRINTED_H_INCLUDED
#define PRINTED_H_INCLUDED

#include "mt.h"

#define REPORT "an MPI call has waited for more than MPIR_CVAR_PROGRESS_TIMEOUT="

static FILE *printed;           /* stderr of this process */
static int saved_stderr;

/* Before MPI_Init. */
static void redirect_stderr(void)
{
    printed = tmpfile();
    saved_stderr = dup(2);
    if (!printed || saved_stderr < 0 || dup2(fileno(printed), 2) < 0) {
        perror("cannot redirect stderr");
        exit(1);
    }
}

/* What was printed so far, from the start. */
static const char *printed_text(void)
{
    static char text[65536];
    ssize_t n = pread(fileno(printed), text, sizeof(text) - 1, 0);

    text[n < 0 ? 0 : n] = '\0';
    return text;
}

static int count_of(const char *text, const char *what)
{
    int n = 0;

    for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what))
        n++;
    return n;
}

/* The report is printed at once, with the lines of the VCIs at its end. */
static inline int is_reported(void)
{
    const char *vci = strstr(printed_text(), "  VCI 0: owner ");

    return vci && strchr(vci, '\n');
}

/* Failures of the test go to the real stderr. */
static void restore_stderr(void)
{
    fflush(stderr);
    dup2(saved_stderr, 2);
}

/* Failure of a process in which no call waits. */
static inline void must_have_printed_nothing(void)
{
    restore_stderr();
    MT_CHECK(!printed_text()[0], "printed without a wait: %s", printed_text());
}

/* A receive that is no wait, however late the message is. */
static inline void receive_without_wait(int *value, int tag)
{
    int flag = 0;

    while (!flag)
        MT_OK(MPI_Iprobe(mt.peer, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    MT_OK(MPI_Recv(value, 1, MPI_INT, mt.peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Whether the library has a server thread, so that no thread of ours must stay awake; set by run. */
static inline int has_server(void)
{
    const char *env = getenv("MT_SERVED");

    return env && !strcmp(env, "yes");
}

#endif /* PRINTED_H_INCLUDED */

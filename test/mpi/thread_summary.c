/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPIR_CVAR_CH4_THREAD_SUMMARY=1 gives one line at MPI_Finalize, by process 0, with the model in force
 * and the operations issued. In a library without --enable-thread-stats (MT_STATS=no) there is one line
 * at MPI_Init instead that says so, and MPI_T has no variables of the thread-safety models. So is there
 * one if CSP_NG=1 asks for a ghost in a library without --enable-casper. -n messages. */
#include "mt.h"
#include "pvars.h"

#define BYTES 4096

static char text[BYTES];
static FILE *file;
static int saved;

/* From now on what the process writes to fd goes to the file. */
static void capture(int fd)
{
    file = tmpfile();
    saved = dup(fd);
    if (!file || saved < 0 || dup2(fileno(file), fd) < 0) {
        perror("cannot capture output");
        exit(1);
    }
}

static void release(int fd)
{
    size_t n;

    fflush(NULL);
    dup2(saved, fd);
    rewind(file);
    n = fread(text, 1, BYTES - 1, file);
    text[n] = 0;
    fclose(file);
}

static void fail(const char *what)
{
    printf("%s: '%s'\n", what, text);
    fflush(stdout);
    exit(1);
}

/* Whether the text is one line that starts so, or, with NULL, empty. */
static void check_line(const char *start)
{
    if (!start && *text)
        fail("there should be no line");
    if (start && strncmp(text, start, strlen(start)))
        fail("another line is expected");
    if (start && strchr(text, '\n') != text + strlen(text) - 1)
        fail("not one line");
}

static void check_summary(void)
{
    char start[128];
    double operations;

    if (mt.rank != 0) {
        check_line(NULL);
        return;
    }
    snprintf(start, sizeof(start), "MPICH-TSM threads: rank 0: %s (progress: ", getenv("MT_MODEL"));
    check_line(start);
    if (!strstr(text, "): ") || sscanf(strstr(text, "): "), "): %lf operations", &operations) != 1 ||
        operations < 2 * (double) mt.iters)
        fail("wrong number of operations");
    if (!strstr(text, "; hint: "))
        fail("no hint");
}

static void check_absence(void)
{
    const char *summary = getenv("MPIR_CVAR_CH4_THREAD_SUMMARY");
    const int ghosts = !summary || strcmp(summary, "1");

    if (mt.rank == 0) {
        check_line(ghosts ? "CSP_NG=1: ignored" : "MPIR_CVAR_CH4_THREAD_SUMMARY=1: ignored");
        if (!strstr(text, ghosts ? "--enable-casper" : "--enable-thread-stats"))
            fail("the option is not named");
    } else {
        check_line(NULL);
    }
    pv_find();
    if (pv_num)
        fail("there are variables");
    MT_OK(MPI_T_finalize());
}

int main(int argc, char **argv)
{
    const char *is_there = getenv("MT_STATS");
    int counts = is_there && !strcmp(is_there, "yes");

    capture(2);
    mt_init(argc, argv, 1, 100);
    release(2);
    if (!counts)
        check_absence();
    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Sendrecv(NULL, 0, MPI_INT, mt.peer, 0, NULL, 0, MPI_INT, mt.peer, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    fflush(stdout);
    capture(1);
    MPI_Finalize();
    release(1);
    if (counts)
        check_summary();
    else
        check_line(NULL);
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

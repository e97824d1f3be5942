/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* For a test that starts jobs of its own. */
#ifndef MPIRUN_H_INCLUDED
#define MPIRUN_H_INCLUDED

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path of mpirun, which lies beside the process that has started this one; kept here. Exits if
 * there is none. */
static const char *mpirun(void)
{
    static char path[PATH_MAX + 16];
    char link[64];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/%d/exe", (int) getppid());
    n = readlink(link, path, PATH_MAX);
    path[n < 0 ? 0 : n] = '\0';
    if (!strrchr(path, '/')) {
        perror(link);
        exit(1);
    }
    strcpy(strrchr(path, '/'), "/mpirun");
    return path;
}

#endif /* MPIRUN_H_INCLUDED */

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A program that starts itself, with settings of the library that are wrong, or to do something that
 * ends with an error: as a program of one process. Included by one source. */
#ifndef ALONE_H_INCLUDED
#define ALONE_H_INCLUDED

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *alone_as = "init";   /* what the program that is started is to do */

static int is_alone(int argc, char **argv)
{
    if (argc == 2)
        alone_as = argv[1];
    return argc == 2;
}

static int only_init(void)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Finalize();
    return 0;
}

/* The program starts alone, not as one of this one's world; setting: what env shall run it with.
 * Returns its exit status, and how many of its lines begin with the first n characters of `wrong`. */
static int start_alone(const char *program, const char *setting, const char *wrong, size_t n,
                       int *named)
{
    char command[1024], line[1024];
    FILE *out;

    snprintf(command, sizeof(command), "env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID "
             "-u PMIX_NAMESPACE %s '%s' %s 2>&1", setting, program, alone_as);
    out = popen(command, "r");
    if (!out) {
        perror(command);
        exit(1);
    }
    *named = 0;
    while (fgets(line, sizeof(line), out))
        *named += !strncmp(line, wrong, n);
    return pclose(out);
}

#endif /* ALONE_H_INCLUDED */

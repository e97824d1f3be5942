/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A program that starts itself, with settings of the library that are wrong: as a program of one
 * process that only initializes MPI. Included by one source. */
#ifndef ALONE_H_INCLUDED
#define ALONE_H_INCLUDED

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_alone(int argc, char **argv)
{
    return argc == 2 && !strcmp(argv[1], "init");
}

static int only_init(void)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Finalize();
    return 0;
}

/* The program starts alone, not as one of this one's world. Returns its exit status, and how many of
 * its lines begin with the setting that is wrong, the first. */
static int start_alone(const char *program, const char *setting, const char *wrong, size_t n,
                       int *named)
{
    char command[1024], line[1024];
    FILE *out;

    snprintf(command, sizeof(command), "env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID "
             "-u PMIX_NAMESPACE %s '%s' init 2>&1", setting, program);
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

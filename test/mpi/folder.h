/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#ifndef FOLDER_H_INCLUDED
#define FOLDER_H_INCLUDED

/* A folder for the files of a test: in memory where the system has such a place, since a test must not
 * depend on how long a disk takes. Included by one source. */

#include "mt.h"

static char folder[64];

/* Collective; process 0 makes it. */
static void make_folder(const char *name)
{
    if (mt.rank == 0) {
        snprintf(folder, sizeof(folder), "/dev/shm/%s.XXXXXX", name);
        if (!mkdtemp(folder)) {
            snprintf(folder, sizeof(folder), "/tmp/%s.XXXXXX", name);
            MT_CHECK(mkdtemp(folder), "cannot make %s", folder);
        }
    }
    MT_OK(MPI_Bcast(folder, sizeof(folder), MPI_CHAR, 0, MPI_COMM_WORLD));
}

/* Collective; its files are closed and deleted. */
static void remove_folder(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        rmdir(folder);
}

#endif /* FOLDER_H_INCLUDED */

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

static inline void path_in_folder(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", folder, name);
}

/* Collective; the file is deleted when it is closed. */
static inline MPI_File open_in_folder(MPI_Comm comm, const char *name, MPI_Info info)
{
    char path[128];
    MPI_File file;
    path_in_folder(name, path, sizeof(path));
    MT_OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info,
                        &file));
    return file;
}

/* Collective; the file has rows of `blocks` blocks of n ints, of which this process sees one each. */
static inline void view_blocks(MPI_File file, int n, int blocks, const char *form)
{
    MPI_Datatype row, rows;
    MT_OK(MPI_Type_contiguous(n, MPI_INT, &row));
    MT_OK(MPI_Type_create_resized(row, 0, blocks * n * (MPI_Aint) sizeof(int), &rows));
    MT_OK(MPI_Type_commit(&rows));
    MT_OK(MPI_File_set_view(file, mt.rank * n * (MPI_Offset) sizeof(int), MPI_INT, rows, form,
                            MPI_INFO_NULL));
    MT_OK(MPI_Type_free(&row));
    MT_OK(MPI_Type_free(&rows));
}

/* Collective; its files are closed and deleted. */
static void remove_folder(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        rmdir(folder);
}

#endif /* FOLDER_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef SHM_FILE_H_INCLUDED
#define SHM_FILE_H_INCLUDED

/* For mpl_shm_mmap.c, in place of mkstemp. The file is sparse: a page is taken by the process that uses
 * it first, on its own memory node. A page that nobody has left is a signal then, so /dev/shm is not
 * taken if it has less room than the whole file. What was promised to other files, and not used yet, is
 * not counted. The place after /dev/shm is the last, so it is taken in any case. */

#include <sys/statvfs.h>

static int shm_has_room(int fd, intptr_t bytes)
{
    struct statvfs fs;

    return fstatvfs(fd, &fs) != 0 || fs.f_blocks == 0 || bytes / fs.f_frsize < fs.f_bavail;
}

/* A file of so many bytes, or -1. is_first: there is another place. */
static int shm_make_file(char *name, intptr_t bytes, int is_first)
{
    int fd = mkstemp(name);

    if (fd != -1 && ((is_first && !shm_has_room(fd, bytes)) || ftruncate(fd, bytes) != 0)) {
        unlink(name);
        close(fd);
        fd = -1;
    }
    return fd;
}

#define mkstemp(name_) shm_make_file(name_, seg_sz, (name_) == dev_shm_fname)

#endif /* SHM_FILE_H_INCLUDED */

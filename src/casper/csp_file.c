/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include "csp_file.h"
#include "csp_node.h"

/* Beyond the limit of the process there is a signal in place of an error. */
static int may_have(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur;
}

int csp_file_make(size_t bytes, char name[CSP_FILE_NAME])
{
#ifdef O_TMPFILE
    int fd = may_have(bytes) ? open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
#else
    int fd = -1;
#endif

    if (fd >= 0 && ftruncate(fd, (off_t) bytes) != 0) {
        close(fd);
        fd = -1;
    }
    snprintf(name, CSP_FILE_NAME, "/proc/%d/fd/%d", (int) getpid(), fd);
    return fd;
}

/* Ask first: a reservation that fails takes all memory that is left, for a moment, and other programs
 * that use a page for the first time then get a signal. */
static int has_room(int fd, size_t bytes)
{
    struct statvfs fs;

    return fstatvfs(fd, &fs) != 0 || fs.f_blocks == 0 || bytes / fs.f_frsize < fs.f_bavail;
}

int csp_file_reserve(int fd, size_t begin, size_t bytes)
{
    int error;

    if (bytes == 0)
        return 1;
    if (!may_have(begin + bytes) || !has_room(fd, bytes))
        return 0;
    do
        error = posix_fallocate(fd, (off_t) begin, (off_t) bytes);
    while (error == EINTR);
    return error == 0;
}

void csp_file_tell_short(void)
{
    if (tsm_swap(&csp_node.ghost[0].is_short, 1, TSM_RELAXED) == 0)
        fprintf(stderr, "MPI ghost processes: shared memory is short on a node: some memory is "
                "ordinary, and its messages take longer\n");
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <fcntl.h>
#include <signal.h>
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

/* What a process may need beside its queues and what it shares with its ghost. */
#define OTHER_BYTES (1 << 20)

/* The queues of MPICH. */
static size_t queue_bytes(void)
{
    const size_t vsis = (size_t) MPIDI_POSIX_global.num_vsis;

#if defined POSIX_EAGER_INLINE && POSIX_EAGER_INLINE == __posix_eager_inline_ring__
    return vsis * MPIDI_POSIX_ring_global.box_size;
#else
    return vsis * vsis * (size_t) MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS *
        (size_t) MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE;
#endif
}

/* So much must stay free. The shared memory that MPI_Init makes is sparse: a page of it is taken when
 * it is used for the first time, and without one that is a signal, in a program that did well without
 * ghosts. What was used already is counted again, since nobody knows how much that is. */
static uint64_t spare_bytes(void)
{
    return (uint64_t) MPIR_Process.local_size * (queue_bytes() + sizeof(csp_user_t) + OTHER_BYTES);
}

/* A process reserves so much at a time. */
#define PIECE ((size_t) 64 << 20)

/* `bytes`: what all processes of the node reserve just now. */
static int has_room(int fd, uint64_t bytes)
{
    struct statvfs fs;

    return fstatvfs(fd, &fs) != 0 || fs.f_blocks == 0 ||
        (bytes + spare_bytes()) / fs.f_frsize < fs.f_bavail;
}

/* Without signals: in a tmpfs of older kernels one that comes meanwhile undoes the reservation, so with
 * a fast timer, as that of a profiler, it would be tried again without end. Returns an error number. */
static int allocate(int fd, size_t begin, size_t bytes)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    do
        error = posix_fallocate(fd, (off_t) begin, (off_t) bytes);
    while (error == EINTR);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Ask first: a reservation that fails takes all memory that is left, for a moment, and other programs
 * that use a page for the first time then get a signal. Processes that ask at the same time count each
 * other's piece, also what is reserved of it by now, so that near the end of the memory one may be
 * refused that had room. What is taken off the sum has left f_bavail before: release and acquire.
 * rest: what the caller still needs, this piece included. */
static int reserve_piece(int fd, size_t begin, size_t piece, size_t rest)
{
    TSM_ATOMIC(uint64_t) *asked = &csp_node.ghost[0].asked;
    uint64_t others = tsm_fetch_add(asked, piece, TSM_ACQ_REL);
    int error = ENOSPC;

    if (has_room(fd, others + rest))
        error = allocate(fd, begin, piece);
    tsm_fetch_add(asked, -(uint64_t) piece, TSM_ACQ_REL);
    return error == 0;
}

/* All or nothing. */
static int reserve(int fd, size_t begin, size_t bytes)
{
    size_t done = 0, piece = 0;

    for (; done < bytes; done += piece) {
        piece = MPL_MIN(bytes - done, PIECE);
        if (!reserve_piece(fd, begin + done, piece, bytes - done))
            break;
    }
#ifdef FALLOC_FL_PUNCH_HOLE
    if (done > 0 && done < bytes)
        (void) fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, (off_t) begin,
                         (off_t) done);
#endif
    return done == bytes;
}

int csp_file_reserve(int fd, size_t begin, size_t bytes)
{
    return bytes == 0 || (may_have(begin + bytes) && reserve(fd, begin, bytes));
}

void csp_file_tell_short(void)
{
    if (tsm_swap(&csp_node.ghost[0].is_short, 1, TSM_RELAXED) == 0)
        fprintf(stderr, "MPI ghost processes: shared memory is short on a node: some memory is "
                "ordinary, and its messages take longer\n");
}

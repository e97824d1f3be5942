/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <sys/uio.h>
#include "csp_copy.h"

/* Bytes on their way between two processes: they stay in the cache of the ghost's core. */
#define HOP 65536

typedef ssize_t(*vm_call_t) (pid_t, const struct iovec *, unsigned long, const struct iovec *,
                             unsigned long, unsigned long);

static int copy(vm_call_t call, int pid, void *here, uint64_t addr, size_t bytes)
{
    while (bytes > 0) {
        struct iovec ours = { here, bytes };
        struct iovec theirs = { (void *) (uintptr_t) addr, bytes };
        ssize_t n = call(pid, &ours, 1, &theirs, 1, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EFAULT;
        here = (char *) here + n;
        addr += (uint64_t) n;
        bytes -= (size_t) n;
    }
    return 0;
}

int csp_copy_from(int pid, void *here, uint64_t addr, size_t bytes)
{
    return copy(process_vm_readv, pid, here, addr, bytes);
}

int csp_copy_to(int pid, uint64_t addr, const void *here, size_t bytes)
{
    return copy(process_vm_writev, pid, (void *) here, addr, bytes);
}

int csp_copy_between(int from_pid, uint64_t from, int to_pid, uint64_t to, size_t bytes)
{
    static char hop[HOP];
    int error = 0;

    while (bytes > 0 && !error) {
        size_t n = bytes < HOP ? bytes : HOP;
        error = csp_copy_from(from_pid, hop, from, n);
        if (!error)
            error = csp_copy_to(to_pid, to, hop, n);
        from += n;
        to += n;
        bytes -= n;
    }
    return error;
}

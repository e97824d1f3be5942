/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <sys/uio.h>
#include "csp_copy.h"
#include "csp_expose.h"
#include "csp_world.h"

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

/* Where the data is in this process; NULL: it is not mapped. A user lets the system copy within its own
 * memory, too, which may be gone if the program has freed it too early. */
static char *map_of(const csp_spot_t * spot)
{
    if (spot->segment && csp_world.is_ghost)
        return csp_expose_find(spot);
    return spot->pid == csp_world.pid ? (char *) (uintptr_t) spot->addr : NULL;
}

int csp_copy_from(const csp_spot_t * from, uint64_t offset, void *here, size_t bytes)
{
    const char *map = map_of(from);

    if (!map || !csp_world.is_ghost)
        return copy(process_vm_readv, from->pid, here, from->addr + offset, bytes);
    memcpy(here, map + offset, bytes);
    return 0;
}

int csp_copy_to(const csp_spot_t * to, uint64_t offset, const void *here, size_t bytes)
{
    char *map = map_of(to);

    if (!map || !csp_world.is_ghost)
        return copy(process_vm_writev, to->pid, (void *) here, to->addr + offset, bytes);
    memcpy(map + offset, here, bytes);
    return 0;
}

/* Neither is mapped: in pieces, by way of the ghost. */
static int hop_between(const csp_spot_t * from, const csp_spot_t * to, uint64_t offset, size_t bytes)
{
    static char hop[HOP];
    int error = 0;

    for (uint64_t done = 0; done < bytes && !error; done += HOP) {
        size_t n = MPL_MIN(bytes - done, HOP);
        error = csp_copy_from(from, offset + done, hop, n);
        if (!error)
            error = csp_copy_to(to, offset + done, hop, n);
    }
    return error;
}

int csp_copy_between(const csp_spot_t * from, const csp_spot_t * to, uint64_t offset, size_t bytes)
{
    char *map = map_of(from);

    if (map)
        return csp_copy_to(to, offset, map + offset, bytes);
    map = map_of(to);
    if (map)
        return csp_copy_from(from, offset, map + offset, bytes);
    return hop_between(from, to, offset, bytes);
}

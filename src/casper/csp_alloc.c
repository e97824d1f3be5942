/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <sys/mman.h>
#include "csp.h"
#include "csp_direct.h"
#include "csp_file.h"

/* Less is ordinary memory: a segment takes whole pages, and a file for a moment. */
#define LEAST 4096

/* Memory that our ghost has mapped, too, or NULL. *fits: there was enough for it. */
static void *map(size_t size, int fd, const char *name, int *fits)
{
    void *addr;
    uint64_t segment;

    *fits = csp_file_reserve(fd, 0, size);
    if (!*fits)
        return NULL;
    addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (addr == MAP_FAILED)
        return NULL;
    segment = csp_direct_map(csp_direct_key(), name, size);
    if (segment && csp_direct_add(addr, size, segment))
        return addr;
    if (segment)
        csp_direct_unmap(segment);
    munmap(addr, size);
    return NULL;
}

static void *alloc_direct(size_t size)
{
    char name[CSP_FILE_NAME];
    int fd = csp_file_make(size, name), fits = 1;
    void *addr;

    if (fd < 0)
        return NULL;
    addr = map(size, fd, name, &fits);
    close(fd);
    if (!fits)
        csp_file_tell_short();
    return addr;
}

void *csp_alloc_mem(MPI_Aint size)
{
    void *addr = csp_world.has_direct && size >= LEAST ? alloc_direct((size_t) size) : NULL;

    return addr ? addr : MPL_malloc(size, MPL_MEM_USER);
}

/* The ghost unmaps the segment when the operations that came before are complete, of which there are
 * none in a correct program; it has a mapping of its own. */
void csp_free_mem(void *addr)
{
    size_t bytes;
    uint64_t segment = csp_direct_remove(addr, &bytes);

    if (!segment) {
        MPL_free(addr);
        return;
    }
    if (csp_world.has_direct)
        csp_direct_unmap(segment);
    munmap(addr, bytes);
}

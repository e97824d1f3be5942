/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <fcntl.h>
#include <sys/mman.h>
#include "csp.h"
#include "csp_direct.h"
#include "csp_file.h"

/* Windows of MPI_Win_allocate_shared. MPICH makes the memory and keeps no name of it. So the processes
 * of a node map a file of ours, have their ghosts map it, and, if all could, move it to where MPICH's
 * memory was; everything else of the window stays as it is. */

/* What the first process of the node sends to the others. */
typedef struct file {
    uint64_t key;
    char name[CSP_FILE_NAME];   /* empty: there is none */
} file_t;

/* This process's view. */
typedef struct view {
    void *addr;                 /* NULL: not mapped */
    size_t bytes;
    int fd;                     /* of the file, or -1 */
    uint64_t segment;           /* 0: our ghost has not mapped it */
} view_t;

/* The hint; a window has direct memory unless one of its processes on the node does not want it. */
static int is_wanted(MPIR_Win * win, MPIR_Info * info)
{
    return csp_comm_wish(win->comm_ptr, info, "shmbuf_regist") != 0;
}

static int map_file(const file_t * file, size_t begin, size_t bytes, view_t * view)
{
    view->fd = open(file->name, O_RDWR | O_CLOEXEC);
    if (view->fd < 0)
        return 0;
    if (csp_file_reserve(view->fd, begin, bytes))
        view->addr = mmap(NULL, view->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, view->fd, 0);
    else
        csp_file_tell_short();
    if (view->addr == MAP_FAILED)
        view->addr = NULL;
    if (view->addr)
        view->segment = csp_direct_map(file->key, file->name, view->bytes);
    return view->segment != 0;
}

/* Returns a descriptor to close when all have mapped the file, or -1. */
static int make_file(file_t * file, size_t bytes)
{
    int fd;

    memset(file, 0, sizeof(*file));
    file->key = csp_direct_key();
    fd = csp_file_make(bytes, file->name);
    if (fd < 0)
        file->name[0] = '\0';
    return fd;
}

static void drop(const view_t * view)
{
    if (view->segment)
        csp_direct_unmap(view->segment);
    if (view->addr)
        munmap(view->addr, view->bytes);
}

/* Nobody goes back now, so this must succeed; the place is ours. Not by mremap: UCX puts a function of
 * its own in place of it, to which the place is unknown. */
static void put_in_place(view_t * view, void *place)
{
    if (mmap(place, view->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, view->fd, 0) != place)
        csp_fail("process %d cannot map a shared window", MPIR_Process.rank);
    munmap(view->addr, view->bytes);
    if (!csp_direct_add(place, view->bytes, view->segment))
        csp_direct_unmap(view->segment);
}

int csp_win_share(MPIR_Win * win, MPIR_Info * info, void *base, MPI_Aint size)
{
    MPIR_Comm *node = win->comm_ptr->node_comm;
    char *place = MPIDIG_WIN(win, mmap_addr);
    view_t view = {.bytes = (size_t) MPIDIG_WIN(win, mmap_sz),.fd = -1 };
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    int mpi_errno = MPI_SUCCESS, fd = -1, is_ready = 0;
    file_t file;

    if (!csp_world.has_direct || !node || !place)
        goto fn_exit;
    if (node->rank == 0)
        fd = make_file(&file, view.bytes);
    mpi_errno = MPIR_Bcast(&file, sizeof(file), MPI_BYTE, 0, node, &errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (is_wanted(win, info) && *file.name)
        is_ready = map_file(&file, size > 0 ? (size_t) ((char *) base - place) : 0, (size_t) size,
                            &view);
    mpi_errno = MPIR_Allreduce(MPI_IN_PLACE, &is_ready, 1, MPI_INT, MPI_MIN, node, &errflag);
    MPIR_ERR_CHECK(mpi_errno);
    if (is_ready)
        put_in_place(&view, place);
    else
        drop(&view);

  fn_exit:
    if (fd >= 0)
        close(fd);
    if (view.fd >= 0)
        close(view.fd);
    return mpi_errno;
  fn_fail:
    drop(&view);
    goto fn_exit;
}

void csp_win_unshare(MPIR_Win * win)
{
    size_t bytes;
    uint64_t segment = win->create_flavor == MPI_WIN_FLAVOR_SHARED ?
        csp_direct_remove(MPIDIG_WIN(win, mmap_addr), &bytes) : 0;

    if (segment)
        csp_direct_unmap(segment);
}

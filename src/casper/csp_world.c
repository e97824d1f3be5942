/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <stdarg.h>
#include "csp.h"
#include "csp_world.h"
#include "threads/singleton.h"

/* Time for the process manager to pass the line on; it drops what is in its pipes when it aborts. */
#define FORWARD_NS 200000000

csp_world_t csp_world;

int csp_ghosts(void)
{
    return csp_world.ghosts;
}

void csp_fail(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "MPI ghost processes: %s\n", text);
    fflush(stderr);
    nanosleep(&(struct timespec) {0, FORWARD_NS}, NULL);
    /* without mpirun it would print errors of its own */
    if (!MPIDI_is_singleton())
        MPIR_pmi_abort(1, text);
    _exit(1);
}

static void *must_have(void *memory)
{
    if (!memory)
        csp_fail("process %d is out of memory", MPIR_Process.rank);
    return memory;
}

void *csp_must_malloc(size_t bytes)
{
    return must_have(MPL_malloc(bytes ? bytes : 1, MPL_MEM_OTHER));
}

void *csp_must_calloc(size_t n, size_t size)
{
    return must_have(MPL_calloc(n ? n : 1, size, MPL_MEM_OTHER));
}

/* The map of MPI_COMM_WORLD when it is made for the second time; the device is up already. */
int csp_comm_map(MPIR_Comm * comm)
{
    if (comm != MPIR_Process.comm_world || !csp_world.is_split)
        return 0;
    MPIDI_COMM(comm, map).mode = csp_world.is_ghost ? MPIDI_RANK_MAP_OFFSET_INTRA :
        MPIDI_RANK_MAP_DIRECT_INTRA;
    MPIDI_COMM(comm, map).avtid = 0;
    MPIDI_COMM(comm, map).size = comm->local_size;
    MPIDI_COMM(comm, map).reg.offset = csp_world.is_ghost ? csp_world.users : 0;
    MPIDI_COMM(comm, local_map).mode = MPIDI_RANK_MAP_NONE;
    MPIDIU_avt_add_ref(0);
    return 1;
}

/* Free the communicator of all processes, but not its context id, which the next one has again. */
static int drop_world(void)
{
    MPIR_Comm *world = MPIR_Process.comm_world;
    int mpi_errno;

    world->recvcontext_id |= MPIR_CONTEXT_INTRANODE_OFFSET;
    mpi_errno = MPIR_Comm_release_always(world);
    MPIR_Process.comm_world = NULL;
    return mpi_errno;
}

static int make_world(void)
{
    MPIR_Comm *world = MPIR_Comm_builtin + 0;
    int mpi_errno;

    MPIR_Process.comm_world = world;
    MPII_Comm_init(world);
    world->handle = MPI_COMM_WORLD;
    world->context_id = 0;
    world->recvcontext_id = 0;
    world->comm_kind = MPIR_COMM_KIND__INTRACOMM;
    world->rank = MPIR_Process.rank - (csp_world.is_ghost ? csp_world.users : 0);
    world->local_size = csp_world.is_ghost ? csp_world.ghosts : csp_world.users;
    world->remote_size = world->local_size;
    mpi_errno = MPIR_Comm_commit(world);
    MPIR_ERR_CHECK(mpi_errno);
    MPL_strncpy(world->name, "MPI_COMM_WORLD", MPI_MAX_OBJECT_NAME);
    MPII_COMML_REMEMBER(world);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_world_split(void)
{
    int mpi_errno = drop_world();

    MPIR_ERR_CHECK(mpi_errno);
    csp_world.is_split = 1;
    mpi_errno = make_world();
    MPIR_ERR_CHECK(mpi_errno);
    if (csp_world.is_ghost)
        MPIR_ThreadInfo.thread_provided = MPI_THREAD_SINGLE;
    else
        MPIR_Process.size = csp_world.users;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

void csp_world_show_all(void)
{
    if (csp_world.is_split)
        MPIR_Process.size = csp_world.users + csp_world.ghosts;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <fcntl.h>
#include "csp_direct.h"
#include "csp_file.h"
#include "csp_post.h"
#include "csp_share.h"

/* The parts of two processes share no cache line. */
#define ALIGNMENT 64

/* ---- layout ---- */

static MPI_Aint aligned(MPI_Aint size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The sizes are those of parts[], or only ours. */
static void lay_out(csp_share_t * share, MPIR_Comm * node, MPI_Aint size,
                    const MPIDIG_win_shared_info_t * parts)
{
    share->bytes = node ? 0 : aligned(size);
    for (int i = 0; node && i < node->local_size; i++) {
        if (i == node->rank)
            share->offset = share->bytes;
        share->bytes += aligned((MPI_Aint) parts[i].size);
    }
    if (share->bytes == 0)
        share->bytes = ALIGNMENT;       /* there is no empty segment */
}

static int gather_parts(MPIR_Comm * node, MPI_Aint size, int disp_unit,
                        MPIDIG_win_shared_info_t * parts)
{
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    const MPIDIG_win_shared_info_t mine = {
        .size = (size_t) size,.disp_unit = (uint32_t) disp_unit,.ipc_mapped_device = -1
    };

    parts[node->rank] = mine;
    return MPIR_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, parts, sizeof(*parts), MPI_BYTE, node,
                          &errflag);
}

static void locate_parts(const csp_share_t * share, MPIR_Comm * node,
                         MPIDIG_win_shared_info_t * parts)
{
    char *place = share->addr;

    for (int i = 0; i < node->local_size; i++) {
        parts[i].shm_base_addr = parts[i].size > 0 ? place : NULL;
        place += aligned((MPI_Aint) parts[i].size);
    }
}

/* ---- the segment ---- */

/* By one process of the node. On failure the name stays empty. */
static void create(csp_share_t * share)
{
    char *name;

    share->key = csp_direct_key();
    if (MPL_shm_seg_create_and_attach(share->handle, share->bytes, &share->addr, 0)) {
        share->addr = NULL;
    } else if (MPL_shm_hnd_get_serialized_by_ref(share->handle, &name) == MPL_SUCCESS &&
               strlen(name) < sizeof(share->name)) {
        MPL_strncpy(share->name, name, sizeof(share->name));
    } else {
        MPL_shm_seg_remove(share->handle);      /* nobody can find it */
    }
}

static void attach(csp_share_t * share)
{
    if (MPL_shm_hnd_deserialize(share->handle, share->name, strlen(share->name)) ||
        MPL_shm_seg_attach(share->handle, share->bytes, &share->addr, 0))
        share->addr = NULL;
}

static int share_name(csp_share_t * share, MPIR_Comm * node)
{
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
    int mpi_errno = MPIR_Bcast(&share->key, 1, MPI_UINT64_T, 0, node, &errflag);

    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = MPIR_Bcast(share->name, sizeof(share->name), MPI_BYTE, 0, node, &errflag);
    return mpi_errno;
}

static int is_creator(MPIR_Comm * node)
{
    return !node || node->rank == 0;
}

int csp_share_open(csp_share_t * share, MPIR_Win * win, MPI_Aint size, int disp_unit,
                   MPIDIG_win_shared_info_t * parts)
{
    MPIR_Comm *node = win->comm_ptr->node_comm;
    int mpi_errno = node ? gather_parts(node, size, disp_unit, parts) : MPI_SUCCESS;

    MPIR_ERR_CHECK(mpi_errno);
    lay_out(share, node, size, parts);
    if (MPL_shm_hnd_init(&share->handle) == MPL_SUCCESS && is_creator(node))
        create(share);
    if (node) {
        mpi_errno = share_name(share, node);
        MPIR_ERR_CHECK(mpi_errno);
        if (!is_creator(node) && *share->name && share->handle)
            attach(share);
        locate_parts(share, node, parts);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

void csp_share_unname(csp_share_t * share, MPIR_Win * win)
{
    if (is_creator(win->comm_ptr->node_comm) && *share->name)
        MPL_shm_seg_remove(share->handle);
}

/* ---- the ghost ---- */

/* Each user reserves its own part, so that the ghost meets no page that the system cannot give. */
static int reserve(const csp_share_t * share, MPI_Aint size)
{
    int fd = open(share->name, O_RDWR | O_CLOEXEC), fits;

    if (fd < 0)
        return 0;
    fits = csp_file_reserve(fd, (size_t) share->offset, (size_t) size);
    close(fd);
    if (!fits)
        csp_file_tell_short();
    return fits;
}

int csp_share_map(csp_share_t * share, MPI_Aint size, csp_target_t * target)
{
    csp_post_t post = {
        .kind = CSP_POST_MAP,.flags = CSP_POST_LOCK,.object = share->key,
        .bytes = (uint64_t) share->bytes
    };
    csp_op_t *op;

    if (!share->addr || !*share->name || !reserve(share, size))
        return 0;
    MPL_COMPILE_TIME_ASSERT(sizeof(share->name) <= sizeof(post.data));
    memcpy(post.data, share->name, sizeof(share->name));
    if (csp_ask(&post, &op))
        return 0;
    share->is_mapped = op->answer.error == MPI_SUCCESS;
    share->segment = op->answer.segment;
    target->base = op->answer.object + (uint64_t) share->offset;
    target->lock = op->answer.bytes;
    csp_op_free(op);
    if (share->is_mapped)
        csp_direct_add(share->addr, (size_t) share->bytes, share->segment);
    return share->is_mapped;
}

void csp_share_close(csp_share_t * share, const csp_target_t * target)
{
    const csp_post_t post = {
        .kind = CSP_POST_UNMAP,.flags = CSP_POST_LOCK,.object = share->segment,
        .addr = target->lock
    };

    if (share->is_mapped) {
        size_t bytes;
        csp_direct_remove(share->addr, &bytes);
        csp_post(&post);        /* without memory for it the ghost keeps the segment until the end */
    }
    if (share->addr)
        MPL_shm_seg_detach(share->handle, &share->addr, share->bytes);
    if (share->handle)
        MPL_shm_hnd_finalize(&share->handle);
}

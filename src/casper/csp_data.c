/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_data.h"

void csp_data_none(csp_data_t * data)
{
    memset(data, 0, sizeof(*data));
}

/* Find size and place; 1 if there are gaps. */
static int look(const void *buf, MPI_Aint count, MPI_Datatype datatype, csp_data_t * data)
{
    int is_contig;
    size_t bytes;
    MPIR_Datatype *type ATTRIBUTE((unused));
    MPI_Aint true_lb;

    csp_data_none(data);
    MPIDI_Datatype_get_info(count, datatype, is_contig, bytes, type, true_lb);
    data->bytes = (MPI_Aint) bytes;
    data->addr = MPIR_get_contig_ptr(buf, true_lb);
    return !is_contig && bytes > 0;
}

static int get_memory(csp_data_t * data)
{
    int mpi_errno = MPI_SUCCESS;

    data->packed = MPL_malloc(data->bytes, MPL_MEM_BUFFER);
    MPIR_ERR_CHKANDJUMP(!data->packed, mpi_errno, MPI_ERR_OTHER, "**nomem");
    data->addr = data->packed;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_data_of_send(const void *buf, MPI_Aint count, MPI_Datatype datatype, csp_data_t * data)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint packed;

    if (!look(buf, count, datatype, data))
        goto fn_exit;
    mpi_errno = get_memory(data);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Typerep_pack(buf, count, datatype, 0, data->packed, data->bytes, &packed);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Assert(packed == data->bytes);

  fn_exit:
    return mpi_errno;
  fn_fail:
    csp_data_free(data);
    goto fn_exit;
}

int csp_data_of_recv(void *buf, MPI_Aint count, MPI_Datatype datatype, csp_data_t * data)
{
    int mpi_errno = MPI_SUCCESS;

    if (!look(buf, count, datatype, data))
        goto fn_exit;
    mpi_errno = get_memory(data);
    MPIR_ERR_CHECK(mpi_errno);
    data->buf = buf;
    data->count = count;
    data->datatype = datatype;
    MPIR_Datatype_add_ref_if_not_builtin(datatype);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_data_arrived(csp_data_t * data, MPI_Aint bytes)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint unpacked;

    if (data->packed && bytes > 0)
        mpi_errno = MPIR_Typerep_unpack(data->packed, bytes, data->buf, data->count, data->datatype,
                                        0, &unpacked);
    return mpi_errno;
}

void csp_data_free(csp_data_t * data)
{
    MPL_free(data->packed);
    if (data->datatype)
        MPIR_Datatype_release_if_not_builtin(data->datatype);
    csp_data_none(data);
}

/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

/* In place of MPICH's file, whose MPIR_Typerep_to_iov_offset never gets to an offset other than 0, and
 * leaves the datatype: a put or get of more pieces than MPIR_CVAR_CH4_OFI_RMA_IOVEC_MAX ended the
 * program. */

#include "mpiimpl.h"
#include "mpir_typerep.h"
#include "dataloop.h"

/* The pieces from byte `first` on, at most *n of them, and at most up to byte *last. */
static void take_pieces(MPIR_Segment * seg, MPI_Aint first, MPI_Aint * last, struct iovec *iov,
                        MPI_Aint * n)
{
    int most = (int) MPL_MIN(*n, INT_MAX);

    MPIR_Segment_to_iov(seg, first, last, iov, &most);
    *n = most;
}

int MPIR_Typerep_to_iov(const void *buf, MPI_Aint count, MPI_Datatype type, MPI_Aint byte_offset,
                        struct iovec *iov, MPI_Aint max_iov_len, MPI_Aint max_iov_bytes,
                        MPI_Aint * actual_iov_len, MPI_Aint * actual_iov_bytes)
{
    MPI_Aint last = byte_offset + max_iov_bytes;
    MPIR_Segment *seg;

    *actual_iov_len = 0;
    *actual_iov_bytes = 0;
    if (max_iov_len == 0 || max_iov_bytes == 0)
        return MPI_SUCCESS;
    seg = MPIR_Segment_alloc(buf, count, type);
    *actual_iov_len = max_iov_len;
    take_pieces(seg, byte_offset, &last, iov, actual_iov_len);
    *actual_iov_bytes = last - byte_offset;
    MPIR_Segment_free(seg);
    return MPI_SUCCESS;
}

/* iov also has the pieces before iov_offset for a while. */
int MPIR_Typerep_to_iov_offset(const void *buf, MPI_Aint count, MPI_Datatype type,
                               MPI_Aint iov_offset, struct iovec *iov, MPI_Aint max_iov_len,
                               MPI_Aint * actual_iov_len)
{
    MPIR_Segment *seg = MPIR_Segment_alloc(buf, count, type);
    MPI_Aint bytes = 0, last = MPIR_AINT_MAX;

    for (MPI_Aint skipped = 0, n; skipped < iov_offset; skipped += n) {
        n = MPL_MIN(max_iov_len, iov_offset - skipped);
        take_pieces(seg, bytes, &last, iov, &n);
        MPIR_Assert(n > 0);
        for (MPI_Aint i = 0; i < n; i++)
            bytes += iov[i].iov_len;
        last = MPIR_AINT_MAX;
    }
    *actual_iov_len = max_iov_len;
    take_pieces(seg, bytes, &last, iov, actual_iov_len);
    MPIR_Segment_free(seg);
    return MPI_SUCCESS;
}

int MPIR_Typerep_iov_len(MPI_Aint count, MPI_Datatype type, MPI_Aint max_iov_bytes,
                         MPI_Aint * iov_len)
{
    MPIR_Segment *seg = MPIR_Segment_alloc(NULL, count, type);
    MPI_Aint last = max_iov_bytes;

    MPIR_Segment_count_contig_blocks(seg, 0, &last, iov_len);
    MPIR_Segment_free(seg);
    return MPI_SUCCESS;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_COMM_EXCHANGE_H_INCLUDED
#define MPIDI_COMM_EXCHANGE_H_INCLUDED

/* For ch4_comm.c, which ignores whether the addresses of the other group could be looked up. From here
 * on it does not: a failure goes to fn_fail. The macro of a name does not apply within its own text. */
#define MPIDIU_upids_to_gpids(size_, sizes_, upids_, gpids_) \
    do { \
        mpi_errno = MPIDIU_upids_to_gpids(size_, sizes_, upids_, gpids_); \
        MPIR_ERR_CHECK(mpi_errno); \
    } while (0)

/* The lpids of the other group are 0 until they are known: then none of them has a reference that a
 * failure would have to drop (dynproc.h). */
#undef MPIR_CHKPMEM_MALLOC
#define MPIR_CHKPMEM_MALLOC MPIR_CHKPMEM_CALLOC

/* It is defined with the user's tag (dynproc.h). */
#define MPID_Intercomm_exchange_map(comm_, leader_, peer_, remote_leader_, ...) \
    MPIDI_intercomm_exchange_map(comm_, leader_, peer_, remote_leader_, int tag, __VA_ARGS__)

#endif /* MPIDI_COMM_EXCHANGE_H_INCLUDED */

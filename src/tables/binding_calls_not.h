/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef BINDING_CALLS_NOT_H_INCLUDED
#define BINDING_CALLS_NOT_H_INCLUDED

/* For the files that define the functions of binding_calls.h, and of mpidpost.h: MPICH's, without our
 * part. */
#undef MPIR_Comm_dup_with_info_impl
#undef MPIR_Comm_idup_with_info_impl
#undef MPIR_Comm_set_info_impl
#undef MPIR_Comm_split_type_impl
#undef MPIR_Comm_create_from_group_impl
#undef MPIR_Intercomm_create_from_groups_impl
#undef MPID_Win_create
#undef MPID_Win_create_dynamic
#undef MPID_Win_allocate
#undef MPID_Win_allocate_shared

#endif /* BINDING_CALLS_NOT_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef FLATTEN_ONCE_H_INCLUDED
#define FLATTEN_ONCE_H_INCLUDED

/* For typeutil.c: makes the flattened form of a datatype, unless it has one; threads with different
 * VCIs may both be the first. */
static void flatten_once(MPIR_Datatype * type)
{
    if (__atomic_load_n(&type->flattened, __ATOMIC_ACQUIRE))
        return;
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
    if (type->flattened == NULL) {
        MPIR_Typerep_flatten_size(type, &type->flattened_sz);
        void *buf = MPL_malloc(type->flattened_sz, MPL_MEM_DATATYPE);
        MPIR_Assert(buf);
        MPIR_Typerep_flatten(type, buf);
        __atomic_store_n(&type->flattened, buf, __ATOMIC_RELEASE);
    }
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_HANDLE_MUTEX);
}

#endif /* FLATTEN_ONCE_H_INCLUDED */

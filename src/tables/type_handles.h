/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef TYPE_HANDLES_H_INCLUDED
#define TYPE_HANDLES_H_INCLUDED

/* For type_contents.c. MPI_Type_get_contents returns the handles of the types themselves, with a
 * reference for each, and the program frees these as well. A type's attributes belong to the last of
 * its handles, so the others are counted here, in a hash table: ROMIO has thousands for a moment when
 * the type of a file access is a struct of as many types. */

#include "uthash.h"

typedef struct type_handles {
    MPI_Datatype type;
    int n;                      /* handles beside the first one */
    UT_hash_handle hh;
} type_handles_t;

static type_handles_t *counted_types;
static MPL_initlock_t counted_lock = MPL_INITLOCK_INITIALIZER;

/* With the lock. */
static type_handles_t *find_counted(MPI_Datatype type)
{
    type_handles_t *counted;

    HASH_FIND_INT(counted_types, &type, counted);
    return counted;
}

/* With the lock. Returns NULL without memory; without memory for the table uthash ends the program. */
static type_handles_t *begin_counting(MPI_Datatype type)
{
    type_handles_t *counted = MPL_calloc(1, sizeof(*counted), MPL_MEM_DATATYPE);

    if (counted) {
        counted->type = type;
        HASH_ADD_INT(counted_types, type, counted, MPL_MEM_DATATYPE);
    }
    return counted;
}

void MPIR_Type_add_handle(MPIR_Datatype * type)
{
    type_handles_t *counted;

    MPIR_Object_add_ref(type);
    MPL_initlock_lock(&counted_lock);
    counted = find_counted(type->handle);
    if (!counted)
        counted = begin_counting(type->handle);
    if (counted)
        counted->n++;
    MPL_initlock_unlock(&counted_lock);
}

/* 1 if the program has no other handle of the type, else it has one less now. */
static int is_last_handle(MPI_Datatype type)
{
    type_handles_t *counted;

    MPL_initlock_lock(&counted_lock);
    counted = find_counted(type);
    if (counted && --counted->n == 0) {
        HASH_DEL(counted_types, counted);
        MPL_free(counted);
    }
    MPL_initlock_unlock(&counted_lock);
    return counted == NULL;
}

/* In MPI_Type_free, before it drops the reference of a handle: deletes the attributes with the last
 * handle. Returns an MPI error code, that of a delete function. */
int MPIR_Type_forget_handle(MPI_Datatype type)
{
    MPIR_Datatype *type_ptr = NULL;

    MPIR_Datatype_get_ptr(type, type_ptr);
    if (is_last_handle(type) && MPIR_Process.attr_free && type_ptr->attributes)
        return MPIR_Process.attr_free(type, &type_ptr->attributes);
    return MPI_SUCCESS;
}

#undef MPIR_Datatype_ptr_add_ref
#define MPIR_Datatype_ptr_add_ref(type_) MPIR_Type_add_handle(type_)

#endif /* TYPE_HANDLES_H_INCLUDED */

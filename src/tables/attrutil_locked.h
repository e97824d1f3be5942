/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ATTRUTIL_LOCKED_H_INCLUDED
#define ATTRUTIL_LOCKED_H_INCLUDED

/* For attrutil.c: the lists of attributes, and the program's functions, which are called without the
 * lock of the list (threads/attr_lock.h). MPICH's functions, which follow, have other names here;
 * those for lists are not used. */
#include "threads/attr_lock.h"

MPII_ATTR_LOCKS_DEFINE

static int call_attr_delete(int handle, MPIR_Attribute * p);
static int call_attr_copy(int handle, MPIR_Attribute * p, void **value_copy, int *flag);

/* With the lock of the object's list. Works on a copy: p may be deleted meanwhile. */
int MPIR_Call_attr_delete(int handle, MPIR_Attribute * p)
{
    int mpi_errno;
    MPIR_Attribute copy = *p;
    MPII_attr_call_t call;

    if (p->keyval->delfn.user_function == NULL)
        return MPI_SUCCESS;
    MPII_Keyval_add_ref(copy.keyval);
    MPII_attr_begin_call(&call, handle, copy.keyval->handle, 0);
    mpi_errno = call_attr_delete(handle, &copy);
    MPII_attr_end_call(&call);
    MPII_attr_release_keyval(copy.keyval);
    return mpi_errno;
}

/* Likewise. p stays, but may be set meanwhile. */
int MPIR_Call_attr_copy(int handle, MPIR_Attribute * p, void **value_copy, int *flag)
{
    int mpi_errno;
    MPIR_Attribute old = *p;
    MPII_attr_call_t call;

    if (p->keyval->copyfn.user_function == NULL)
        return MPI_SUCCESS;
    MPII_attr_begin_call(&call, handle, p->keyval->handle, 1);
    mpi_errno = call_attr_copy(handle, &old, value_copy, flag);
    MPII_attr_end_call(&call);
    return mpi_errno;
}

int MPIR_Attr_dup_list(int handle, MPIR_Attribute * old_attrs, MPIR_Attribute ** new_attr)
{
    int mpi_errno = MPI_SUCCESS, flag;
    void *value = NULL;
    MPIR_Attribute *p, *copy;

    MPII_attr_enter(handle);
    for (p = MPII_attr_first(handle, old_attrs); p; p = p->next) {
        const MPIR_Attr_type type = p->attrType;
        flag = 0;
        mpi_errno = MPIR_Call_attr_copy(handle, p, &value, &flag);
        if (mpi_errno != MPI_SUCCESS)
            break;
        if (!flag)
            continue;
        copy = MPID_Attr_alloc();
        if (copy == NULL) {
            MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**nomem");
            break;
        }
        copy->keyval = p->keyval;
        MPII_Keyval_add_ref(p->keyval);
        copy->attrType = type;
        copy->value = (MPII_Attr_val_t) (intptr_t) value;
        copy->pre_sentinal = copy->post_sentinal = 0;
        copy->next = NULL;
        *new_attr = copy;
        new_attr = &copy->next;
    }
    MPII_attr_exit(handle);
    return mpi_errno;
}

/* A delete function may change the list, so the next one is the first that is left. All are called; the
 * first error is returned. */
int MPIR_Attr_delete_list(int handle, MPIR_Attribute ** list)
{
    int mpi_errno = MPI_SUCCESS, rc;
    MPIR_Attribute *p;

    MPII_attr_enter(handle);
    while ((p = *list) != NULL) {
        if (p->pre_sentinal != 0 || p->post_sentinal != 0) {
            MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**attrsentinal");
            break;
        }
        const int key = p->keyval->handle;
        if (MPII_attr_is_called(handle, key, 0)) { /* it still needs the attribute */
            MPII_attr_exit(handle);
            MPII_attr_enter_for(handle, key, 0);
            continue;
        }
        rc = MPIR_Call_attr_delete(handle, p);
        mpi_errno = mpi_errno ? mpi_errno : rc;
        if (!MPII_attr_unlink(list, p, key))
            continue;           /* a function has deleted it, by MPI_Comm_delete_attr */
        MPII_attr_release_keyval(p->keyval);
        MPIR_Handle_obj_free(&MPID_Attr_mem, p);
    }
    MPII_attr_exit(handle);
    return mpi_errno;
}

static int attr_dup_list(int handle, MPIR_Attribute * old_attrs, MPIR_Attribute ** new_attr)
    ATTRIBUTE((unused));
static int attr_delete_list(int handle, MPIR_Attribute ** list) ATTRIBUTE((unused));
#define MPIR_Call_attr_delete call_attr_delete
#define MPIR_Call_attr_copy call_attr_copy
#define MPIR_Attr_dup_list attr_dup_list
#define MPIR_Attr_delete_list attr_delete_list

#endif /* ATTRUTIL_LOCKED_H_INCLUDED */

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
    MPII_attr_begin_call(&call, handle, copy.keyval->handle);
    mpi_errno = call_attr_delete(handle, &copy);
    MPII_attr_end_call(&call);
    MPII_attr_release_keyval(copy.keyval);
    return mpi_errno;
}

/* Likewise, for an attribute of a list that no other thread knows. */
int MPIR_Call_attr_copy(int handle, MPIR_Attribute * p, void **value_copy, int *flag)
{
    int mpi_errno;
    MPII_attr_call_t call;

    if (p->keyval->copyfn.user_function == NULL)
        return MPI_SUCCESS;
    MPII_attr_begin_call(&call, handle, p->keyval->handle);
    mpi_errno = call_attr_copy(handle, p, value_copy, flag);
    MPII_attr_end_call(&call);
    return mpi_errno;
}

/* An attribute of the new list gets the copy of what the object has for its key now; flag: it stays. */
static int attr_copy_value(int handle, const MPIR_Attribute * old, MPIR_Attribute * p, int *flag)
{
    int mpi_errno;
    void *value = NULL;

    *flag = 0;
    if (old == NULL)
        return MPI_SUCCESS;     /* deleted meanwhile */
    p->attrType = old->attrType;
    p->value = old->value;
    mpi_errno = MPIR_Call_attr_copy(handle, p, &value, flag);
    p->value = (MPII_Attr_val_t) (intptr_t) value;
    return mpi_errno;
}

/* A list with the keys of another one, without values. */
static int attr_copy_keys(const MPIR_Attribute * old, MPIR_Attribute ** list)
{
    for (; old; old = old->next) {
        MPIR_Attribute *p = MPID_Attr_alloc();
        if (p == NULL)
            return 0;
        p->keyval = old->keyval;
        MPII_Keyval_add_ref(p->keyval);
        p->pre_sentinal = p->post_sentinal = 0;
        p->next = NULL;
        *list = p;
        list = &p->next;
    }
    return 1;
}

static void attr_free(MPIR_Attribute ** list)
{
    MPIR_Attribute *p = *list;

    *list = p->next;
    MPII_attr_release_keyval(p->keyval);
    MPID_Attr_free(p);
}

/* A copy function may delete any attribute, so the keys are copied first. */
int MPIR_Attr_dup_list(int handle, MPIR_Attribute * old_attrs, MPIR_Attribute ** new_attr)
{
    int mpi_errno = MPI_SUCCESS, flag;

    MPII_attr_enter(handle);
    if (!attr_copy_keys(MPII_attr_first(handle, old_attrs), new_attr))
        MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**nomem");
    while (*new_attr && mpi_errno == MPI_SUCCESS) {
        MPIR_Attribute *p = *new_attr;
        mpi_errno = attr_copy_value(handle, MPII_attr_find(MPII_attr_first(handle, old_attrs),
                                                           p->keyval->handle), p, &flag);
        if (mpi_errno == MPI_SUCCESS && flag)
            new_attr = &p->next;
        else
            attr_free(new_attr);
    }
    while (*new_attr)           /* after an error */
        attr_free(new_attr);
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
        if (MPII_attr_is_called(handle, key)) { /* it still needs the attribute */
            MPII_attr_exit(handle);
            MPII_attr_enter_for(handle, key);
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

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ATTR_LOCKED_H_INCLUDED
#define ATTR_LOCKED_H_INCLUDED

/* For attr_impl.c: the attributes of communicators, datatypes and windows, which threads may set, get
 * and delete at the same time (threads/attr_lock.h). Setting and deleting is the same for all three,
 * but for the place of a new one, and is here; looking one up is MPICH's, with the lock. */
#include "threads/attr_lock.h"

/* Set an attribute of the object. A new one is first in the list of a communicator; the others are in
 * the order of their keys. */
static int attr_set(int handle, MPIR_Attribute ** list, MPII_Keyval * keyval, void *value,
                    MPIR_Attr_type type)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Attribute *p;

    MPII_attr_enter_for(handle, keyval->handle);
    p = MPII_attr_find(*list, keyval->handle);
    if (p) {
        mpi_errno = MPIR_Call_attr_delete(handle, p);
        if (mpi_errno != MPI_SUCCESS)
            goto fn_exit;
        p = MPII_attr_find(*list, keyval->handle);      /* the delete function may have deleted it */
    }
    if (!p) {
        p = MPID_Attr_alloc();
        MPIR_ERR_CHKANDJUMP1(!p, mpi_errno, MPI_ERR_OTHER, "**nomem", "**nomem %s",
                             "MPIR_Attribute");
        p->keyval = keyval;
        MPII_Keyval_add_ref(keyval);
        p->pre_sentinal = p->post_sentinal = 0;
        if (HANDLE_GET_MPI_KIND(handle) != MPIR_COMM) {
            while (*list && (*list)->keyval->handle < keyval->handle)
                list = &(*list)->next;
        }
        p->next = *list;
        *list = p;
    }
    p->attrType = type;
    p->value = (MPII_Attr_val_t) (intptr_t) value;

  fn_exit:
    MPII_attr_exit(handle);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Delete an attribute, if the object has it and the delete function lets it. */
static int attr_delete(int handle, MPIR_Attribute ** list, MPII_Keyval * keyval)
{
    int mpi_errno = MPI_SUCCESS;
    const int key = keyval->handle;
    MPIR_Attribute *p;

    MPII_attr_enter_for(handle, key);
    p = MPII_attr_find(*list, key);
    if (p)
        mpi_errno = MPIR_Call_attr_delete(handle, p);
    if (p && mpi_errno == MPI_SUCCESS && MPII_attr_unlink(list, p, key)) {
        MPII_attr_release_keyval(p->keyval);
        MPID_Attr_free(p);
    }
    MPII_attr_exit(handle);
    return mpi_errno;
}

/* The three functions of a kind of object; MPICH's, with other names, follow. */
#define ATTR_LOCKED(Kind_, kind_, type_) \
    static int kind_##_get_attr(type_ *, int, void *, int *, MPIR_Attr_type); \
    static int kind_##_set_attr(type_ *, MPII_Keyval *, void *, MPIR_Attr_type) \
        ATTRIBUTE((unused)); \
    static int kind_##_delete_attr(type_ *, MPII_Keyval *) ATTRIBUTE((unused)); \
    \
    int MPIR_##Kind_##_get_attr_impl(type_ * obj, int keyval, void *value, int *flag, \
                                     MPIR_Attr_type type) \
    { \
        int mpi_errno; \
        if (HANDLE_IS_BUILTIN(keyval)) \
            return kind_##_get_attr(obj, keyval, value, flag, type); \
        MPII_attr_enter(obj->handle); \
        mpi_errno = kind_##_get_attr(obj, keyval, value, flag, type); \
        MPII_attr_exit(obj->handle); \
        return mpi_errno; \
    } \
    int MPIR_##Kind_##_set_attr_impl(type_ * obj, MPII_Keyval * keyval, void *value, \
                                     MPIR_Attr_type type) \
    { \
        return attr_set(obj->handle, &obj->attributes, keyval, value, type); \
    } \
    int MPIR_##Kind_##_delete_attr_impl(type_ * obj, MPII_Keyval * keyval) \
    { \
        return attr_delete(obj->handle, &obj->attributes, keyval); \
    }

ATTR_LOCKED(Comm, comm, MPIR_Comm)
ATTR_LOCKED(Type, type, MPIR_Datatype)
ATTR_LOCKED(Win, win, MPIR_Win)

#define MPIR_Comm_get_attr_impl comm_get_attr
#define MPIR_Comm_set_attr_impl comm_set_attr
#define MPIR_Comm_delete_attr_impl comm_delete_attr
#define MPIR_Type_get_attr_impl type_get_attr
#define MPIR_Type_set_attr_impl type_set_attr
#define MPIR_Type_delete_attr_impl type_delete_attr
#define MPIR_Win_get_attr_impl win_get_attr
#define MPIR_Win_set_attr_impl win_set_attr
#define MPIR_Win_delete_attr_impl win_delete_attr

#endif /* ATTR_LOCKED_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ATTR_LOCK_H_INCLUDED
#define MPIDI_ATTR_LOCK_H_INCLUDED

/* For MPICH's attributes: a lock of the list of one object. The program's functions run without it:
 * they may call MPI, also for attributes of the same object. Meanwhile other threads may change the
 * list, but not this attribute: a thread that sets or deletes it waits until the function has returned,
 * else both would call the delete function for one value. A thread that is itself in such a function
 * does not wait for one that waits, as that may wait for this one: then both functions run, as in
 * MPICH, and the attribute may be gone when either returns.
 *
 *   MPII_attr_enter        to look an attribute up; handle: of the object
 *   MPII_attr_enter_for    to set or delete that of a key
 *   MPII_attr_exit         the end of both
 *   MPII_attr_first        inside: where the list begins; the caller may have looked before it entered
 *   MPII_attr_find         inside: the attribute of a key, or NULL
 *   MPII_attr_begin_call   before a function of the program is called for an attribute
 *   MPII_attr_end_call     afterwards
 *   MPII_attr_unlink       takes an attribute out of the list
 *
 * In global a thread takes the lock of the process first, but not in MPI_Cart_rank and its kin: they
 * look up the topology, which is an attribute, without that. */

#include "tsm/lock/tsm_futex_lock.h"
#include "tsm/tsm_wait.h"

#include <pthread.h>

/* A function of the program runs; on the stack of its thread. */
typedef struct MPII_attr_call {
    int handle, keyval;
    pthread_t thread;
    TSM_ATOMIC(int) *waits;     /* of its thread */
    struct MPII_attr_call *next;
} MPII_attr_call_t;

/* Objects of one kind have successive handles, and few threads meet at one of them. */
#define MPII_ATTR_LOCKS 16

typedef struct {
    tsm_futex_lock_t lock MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE);
    MPII_attr_call_t *calls;
} MPII_attr_lock_t;

extern MPII_attr_lock_t MPII_attr_locks[MPII_ATTR_LOCKS];
extern __thread int MPII_attr_depth;    /* functions of the program that the thread is in */
extern __thread TSM_ATOMIC(int) MPII_attr_waits;    /* 1: it waits for another thread's */
#define MPII_ATTR_LOCKS_DEFINE \
    MPII_attr_lock_t MPII_attr_locks[MPII_ATTR_LOCKS];  /* all free */ \
    __thread int MPII_attr_depth; \
    __thread TSM_ATOMIC(int) MPII_attr_waits;

static inline MPII_attr_lock_t *MPII_attr_lock_of(int handle)
{
    return &MPII_attr_locks[handle & (MPII_ATTR_LOCKS - 1)];
}

static inline void MPII_attr_enter(int handle)
{
#ifdef MPICH_IS_THREADED
    if (MPIR_ThreadInfo.isThreaded)
        tsm_futex_lock_acquire(&MPII_attr_lock_of(handle)->lock);
#endif
}

static inline void MPII_attr_exit(int handle)
{
#ifdef MPICH_IS_THREADED
    if (MPIR_ThreadInfo.isThreaded)
        tsm_futex_lock_release(&MPII_attr_lock_of(handle)->lock);
#endif
}

static inline MPIR_Attribute *MPII_attr_first(int handle, MPIR_Attribute * seen)
{
    MPIR_Comm *comm;
    MPIR_Datatype *type;

    switch (HANDLE_GET_MPI_KIND(handle)) {
        case MPIR_COMM:
            MPIR_Comm_get_ptr(handle, comm);
            return comm->attributes;
        case MPIR_DATATYPE:
            MPIR_Datatype_get_ptr(handle, type);
            return type->attributes;
        default:
            return seen;
    }
}

static inline MPIR_Attribute *MPII_attr_find(MPIR_Attribute * list, int keyval)
{
    while (list && list->keyval->handle != keyval)
        list = list->next;
    return list;
}

/* A thread in a function does not wait for one that waits itself: that one might wait for it. */
static inline int MPII_attr_must_wait(const MPII_attr_call_t * call)
{
    return !pthread_equal(call->thread, pthread_self()) &&
        (!MPII_attr_depth || !tsm_load(call->waits, TSM_RELAXED));
}

/* 1: another thread is in a function for this attribute, for which the calling thread must wait. */
static inline int MPII_attr_is_called(int handle, int keyval)
{
    const MPII_attr_call_t *call = MPII_attr_lock_of(handle)->calls;

    while (call && (call->handle != handle || call->keyval != keyval || !MPII_attr_must_wait(call)))
        call = call->next;
    return call != NULL;
}

static inline void MPII_attr_enter_for(int handle, int keyval)
{
    MPII_attr_enter(handle);
    while (MPII_attr_is_called(handle, keyval)) {
        tsm_store(&MPII_attr_waits, 1, TSM_RELAXED);
        MPII_attr_exit(handle);
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
        tsm_yield();
#else
        MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
        tsm_yield();
        MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
#endif
        MPII_attr_enter(handle);
    }
    tsm_store(&MPII_attr_waits, 0, TSM_RELAXED);
}

static inline void MPII_attr_begin_call(MPII_attr_call_t * call, int handle, int keyval)
{
    MPII_attr_lock_t *lock = MPII_attr_lock_of(handle);

    *call = (MPII_attr_call_t) {.handle = handle,.keyval = keyval,.thread = pthread_self(),
        .waits = &MPII_attr_waits,.next = lock->calls
    };
    lock->calls = call;
    MPII_attr_depth++;
    MPII_attr_exit(handle);
}

static inline void MPII_attr_end_call(const MPII_attr_call_t * call)
{
    MPII_attr_call_t **link = &MPII_attr_lock_of(call->handle)->calls;

    MPII_attr_enter(call->handle);
    MPII_attr_depth--;
    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
}

/* Drop a reference, an attribute's or a call's. */
static inline void MPII_attr_release_keyval(MPII_Keyval * keyval)
{
    int in_use;

    MPII_Keyval_release_ref(keyval, &in_use);
    if (!in_use)
        MPIR_Handle_obj_free(&MPII_Keyval_mem, keyval);
}

/* Take p, of that key, out of the list; 0 if a delete function has. Then p may be another attribute. */
static inline int MPII_attr_unlink(MPIR_Attribute ** list, const MPIR_Attribute * p, int keyval)
{
    while (*list && (*list != p || p->keyval->handle != keyval))
        list = &(*list)->next;
    if (*list == NULL)
        return 0;
    *list = p->next;
    return 1;
}

#endif /* MPIDI_ATTR_LOCK_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDU_THREAD_FALLBACK_H_INCLUDED
#define MPIDU_THREAD_FALLBACK_H_INCLUDED

/* Mutexes and critical sections of the device, in place of MPICH's header mpidu_thread_fallback.h
 * (graft.map). The lock in each mutex is ours (mpidu_lock.h). A section has a name, which
 * --enable-thread-cs= makes real or empty: GLOBAL is around (nearly) each MPI call of `global`, and VCI
 * is section.h's; POBJ, which ch4 refuses, is always empty. Only ch3 uses condition variables. */

#include "mpidu_lock.h"

typedef struct {
    MPIDU_lock_t mutex;
    MPIDU_LOCK_PAD
    MPL_thread_id_t owner;      /* 0: no thread; the holder of a section writes it */
    int count;                  /* depth of the holder's sections */
    void *vci;                  /* MPIDI_vci_t of ch4, in the lock of a VCI (and in counted_lock.h) */
} MPIDU_Thread_mutex_t;

typedef MPL_thread_cond_t MPIDU_Thread_cond_t;  /* for mpid_thread.h */
typedef MPL_thread_id_t MPIDU_Thread_id_t;
typedef MPL_thread_func_t MPIDU_Thread_func_t;

/* Threads are MPL's. */
#define MPIDU_Thread_init MPL_thread_init
#define MPIDU_Thread_finalize MPL_thread_finalize
#define MPIDU_Thread_create MPL_thread_create
#define MPIDU_Thread_exit MPL_thread_exit
#define MPIDU_Thread_self MPL_thread_self
#define MPIDU_Thread_join MPL_thread_join
#define MPIDU_Thread_same MPL_thread_same

/* Macros from here on, so that a failed assertion names the line that uses them. err_: int *, set to 0
 * or an errno value. */
#define MPIDUI_LOG(level_, text_, object_) \
    MPL_DBG_MSG_P(MPIR_DBG_THREAD, level_, text_ " %p", object_)
#define MPIDUI_LOG_CALL(name_, object_, call_) \
    do { \
        MPIDUI_LOG(VERBOSE, "enter " name_, object_); \
        call_; \
        MPIDUI_LOG(VERBOSE, "exit " name_, object_); \
    } while (0)

#define MPIDU_Thread_mutex_create(m_, err_) \
    do { \
        MPIDU_lock_create(&(m_)->mutex, err_); \
        (m_)->owner = 0; \
        (m_)->count = 0; \
        (m_)->vci = NULL; \
        MPIDUI_LOG(TYPICAL, "Created mutex", m_); \
    } while (0)

#define MPIDU_Thread_mutex_destroy(m_, err_) \
    do { \
        MPIDUI_LOG(TYPICAL, "About to destroy mutex", m_); \
        MPIDU_lock_destroy(&(m_)->mutex, err_); \
    } while (0)

#if defined(ENABLE_THREAD_STATS) && MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__GLOBAL
#include "threads/section/counted_lock.h"
#define MPIDU_Thread_mutex_lock(m_, err_, prio_) \
    do { \
        MPIDI_counted_lock(m_, (prio_) == MPL_THREAD_PRIO_LOW); \
        *(int *) (err_) = 0; \
    } while (0)

#define MPIDU_Thread_mutex_unlock(m_, err_) \
    do { \
        MPIDI_counted_unlock(m_); \
        *(int *) (err_) = 0; \
    } while (0)
#define MPIDUI_PAUSE() MPIDI_counted_pause()

#else
#define MPIDU_Thread_mutex_lock(m_, err_, prio_) \
    do { \
        MPIDU_lock_acquire(&(m_)->mutex, err_, prio_); \
        MPIR_Assert(*(err_) == 0); \
    } while (0)

#define MPIDU_Thread_mutex_unlock(m_, err_) \
    do { \
        MPIDU_lock_release(&(m_)->mutex, err_); \
        MPIR_Assert(*(err_) == 0); \
    } while (0)
#define MPIDUI_PAUSE() MPIDU_lock_pause()
#endif

/* Let other threads have the mutex during pause_, and take it back after those that take it for the
 * first time. The section is the caller's again, as deep as before. */
#define MPIDU_Thread_let_in(m_, err_, pause_) \
    do { \
        const int depth_ = (m_)->count; \
        const MPL_thread_id_t holder_ = (m_)->owner; \
        MPIR_Assert(depth_ > 0); \
        (m_)->count = 0; \
        (m_)->owner = 0; \
        MPIDU_Thread_mutex_unlock(m_, err_); \
        pause_; \
        MPIDU_Thread_mutex_lock(m_, err_, MPL_THREAD_PRIO_LOW); \
        MPIR_Assert((m_)->count == 0); \
        (m_)->count = depth_; \
        (m_)->owner = holder_; \
    } while (0)

#define MPIDU_Thread_yield(m_, err_) MPIDU_Thread_let_in(m_, err_, MPIDUI_PAUSE())

#ifdef MPICH_IS_THREADED
/* 1 if the calling thread is in the section of m. Another thread never finds its own identity there. */
static inline int MPIDUI_mutex_is_mine(const MPIDU_Thread_mutex_t * m)
{
    MPL_thread_id_t self, owner = m->owner;
    int same = 0;

    MPL_thread_self(&self);
    MPL_thread_same(&self, &owner, &same);
    return same;
}

/* The sections of a plain mutex, in a program with several threads. A thread that is in the section
 * must not enter again; without assertions it goes one level deeper. */
#define MPIDUI_THREAD_CS_ENTER(mutex) \
    do { \
        if (MPIR_ThreadInfo.isThreaded) { \
            const int again_ = MPIDUI_mutex_is_mine(&(mutex)); \
            MPIR_Assert(!again_); \
            if (!again_) { \
                int err_ = 0; \
                MPIDUI_LOG_CALL("MPIDU_Thread_mutex_lock", &(mutex), \
                                MPIDU_Thread_mutex_lock(&(mutex), &err_, MPL_THREAD_PRIO_HIGH)); \
                MPIR_Assert((mutex).count == 0); \
                MPL_thread_self(&(mutex).owner); \
            } \
            (mutex).count++; \
        } \
    } while (0)

#define MPIDUI_THREAD_CS_EXIT(mutex) \
    do { \
        if (MPIR_ThreadInfo.isThreaded) { \
            (mutex).count--; \
            MPIR_Assert((mutex).count >= 0); \
            if ((mutex).count == 0) { \
                int err_ = 0; \
                (mutex).owner = 0; \
                MPIDUI_LOG(VERBOSE, "MPIDU_Thread_mutex_unlock", &(mutex)); \
                MPIDU_Thread_mutex_unlock(&(mutex), &err_); \
            } \
        } \
    } while (0)

#define MPIDUI_THREAD_CS_YIELD(mutex) \
    do { \
        if (MPIR_ThreadInfo.isThreaded) { \
            int err_ = 0; \
            MPIR_Assert(MPIDUI_mutex_is_mine(&(mutex))); \
            MPIDUI_LOG_CALL("MPIDU_Thread_yield", &(mutex), MPIDU_Thread_yield(&(mutex), &err_)); \
        } \
    } while (0)

#define MPIDU_THREAD_CS_ENTER(name, mutex) MPIDUI_THREAD_CS_ENTER_##name(mutex)
#define MPIDU_THREAD_CS_EXIT(name, mutex) MPIDUI_THREAD_CS_EXIT_##name(mutex)
#define MPIDU_THREAD_CS_YIELD(name, mutex) MPIDUI_THREAD_CS_YIELD_##name(mutex)
#define MPIDU_THREAD_ASSERT_IN_CS(name, mutex) MPIDUI_THREAD_ASSERT_IN_CS_##name(mutex)

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__GLOBAL
#define MPIDUI_THREAD_CS_ENTER_GLOBAL(mutex) MPIDUI_THREAD_CS_ENTER(mutex)
#define MPIDUI_THREAD_CS_EXIT_GLOBAL(mutex) MPIDUI_THREAD_CS_EXIT(mutex)
#define MPIDUI_THREAD_CS_YIELD_GLOBAL(mutex) MPIDU_LOCK_YIELDS(MPIDUI_THREAD_CS_YIELD(mutex))
#else
#define MPIDUI_THREAD_CS_ENTER_GLOBAL(mutex)    /* empty */
#define MPIDUI_THREAD_CS_EXIT_GLOBAL(mutex)     /* empty */
#if MPICH_THREAD_GRANULARITY != MPICH_THREAD_GRANULARITY__VCI   /* else in section.h */
#define MPIDUI_THREAD_CS_YIELD_GLOBAL(mutex)    /* empty */
#endif
#endif

#define MPIDUI_THREAD_CS_ENTER_POBJ(mutex)      /* empty */
#define MPIDUI_THREAD_CS_EXIT_POBJ(mutex)       /* empty */
#define MPIDUI_THREAD_CS_YIELD_POBJ(mutex)      /* empty */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "threads/section/section.h"
#else
#define MPIDUI_THREAD_CS_ENTER_VCI(mutex)       /* empty */
#define MPIDUI_THREAD_CS_EXIT_VCI(mutex)        /* empty */
#define MPIDUI_THREAD_CS_YIELD_VCI(mutex)       /* empty */
#define MPIDUI_THREAD_ASSERT_IN_CS_VCI(mutex)   /* empty */
#endif

#else /* one thread */
#define MPIDU_THREAD_CS_ENTER(name, mutex)      /* empty */
#define MPIDU_THREAD_CS_EXIT(name, mutex)       /* empty */
#define MPIDU_THREAD_CS_YIELD(name, mutex)      /* empty */
#define MPIDU_THREAD_ASSERT_IN_CS(name, mutex)  /* empty */
#endif

#endif /* MPIDU_THREAD_FALLBACK_H_INCLUDED */

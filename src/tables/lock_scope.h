/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef LOCK_SCOPE_H_INCLUDED
#define LOCK_SCOPE_H_INCLUDED

/* A lock from here to the end of the block, however that is left. It is a declaration: no goto may jump
 * over it to a label in the block.
 *
 *   LOCK_SCOPE(lock_)   takes lock_, a static MPL_initlock_t
 *   LOCK_OWN_SCOPE()    takes a lock of this place's own: one thread at a time is in the block */
static inline MPL_initlock_t *lock_scope_begin(MPL_initlock_t * lock)
{
    MPL_initlock_lock(lock);
    return lock;
}

static inline void lock_scope_end(MPL_initlock_t ** lock)
{
    MPL_initlock_unlock(*lock);
}

#define LOCK_SCOPE(lock_) \
    MPL_initlock_t *scope_lock_ __attribute__((cleanup(lock_scope_end), unused)) = \
        lock_scope_begin(&(lock_))
#define LOCK_OWN_SCOPE() \
    static MPL_initlock_t own_lock_ = MPL_INITLOCK_INITIALIZER; \
    LOCK_SCOPE(own_lock_)

#endif /* LOCK_SCOPE_H_INCLUDED */

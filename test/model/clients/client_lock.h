/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CLIENT_LOCK_H_INCLUDED
#define CLIENT_LOCK_H_INCLUDED

/* A lock without a context: two threads acquire, one tries first. The last one may free it.
 * CLIENT_LOCK(name): its type is name_t, and it has name_try, name_acquire and name_release.
 * INITIALIZER: of a free one. Makes main. */

#define CLIENT_LOCK(name, INITIALIZER) \
    static name##_t lock = INITIALIZER; \
    static int won; \
    \
    static void *acquires(void *arg) \
    { \
        (void) arg; \
        for (int i = 0; i < 2; i++) { \
            name##_acquire(&lock); \
            client_critical(); \
            name##_release(&lock); \
        } \
        return NULL; \
    } \
    \
    static void *tries(void *arg) \
    { \
        if (name##_try(&lock)) { \
            client_critical(); \
            won++; \
            name##_release(&lock); \
        } \
        return acquires(arg); \
    } \
    \
    int main(void) \
    { \
        client_team(3, (void *(*const[])(void *)) { acquires, acquires, tries }); \
        assert(client_count == 6 + won); \
        client_scribble(&lock); \
        return 0; \
    }

#endif /* CLIENT_LOCK_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef JOIN_SOCKET_H_INCLUDED
#define JOIN_SOCKET_H_INCLUDED

/* For spawn_impl.c: MPI_Comm_join reads the peer's port from a socket that does not block, and makes
 * progress while there is nothing to read. In MPICH it keeps the lock of global for that time, though
 * the peer may need other threads of this process, and it waits for ever if the peer has closed. */
#include "bsend_sent.h"

#include <errno.h>
#include <sys/socket.h>

static ssize_t join_recv(int fd, void *buffer, size_t length)
{
    ssize_t n = recv(fd, buffer, length, 0);
    int err = n < 0 ? errno : ECONNRESET;

    if (n > 0)
        return n;
    if (err == EAGAIN || err == EWOULDBLOCK)
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    errno = err;
    return -1;
}

#define recv(fd_, buffer_, length_, flags_) join_recv(fd_, buffer_, length_)

#endif /* JOIN_SOCKET_H_INCLUDED */

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* While a thread waits in MPI_Comm_join, other threads of its process are let in: process 1 joins only
 * after it has got a message of another thread of process 0. Then process 0 joins with a connection
 * that its peer has closed, which is an error and no endless wait. */
#include "mt.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define SOCKET_OK(call_) MT_CHECK((call_) == 0, "%s: %s", #call_, strerror(errno))

static atomic_int joins;        /* the thread is about to call MPI_Comm_join */

/* Of this process and its peer. */
static int connection(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t bytes = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0), accepted;

    MT_CHECK(fd >= 0, "socket: %s", strerror(errno));
    if (mt.rank == 1) {
        MT_OK(MPI_Recv(&at.sin_port, sizeof(at.sin_port), MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        SOCKET_OK(connect(fd, (struct sockaddr *) &at, sizeof(at)));
        return fd;
    }
    SOCKET_OK(bind(fd, (struct sockaddr *) &at, sizeof(at)));
    SOCKET_OK(listen(fd, 1));
    SOCKET_OK(getsockname(fd, (struct sockaddr *) &at, &bytes));
    MT_OK(MPI_Send(&at.sin_port, sizeof(at.sin_port), MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    accepted = accept(fd, NULL, NULL);
    MT_CHECK(accepted >= 0, "accept: %s", strerror(errno));
    close(fd);
    return accepted;
}

static void *join(void *fd)
{
    MPI_Comm other;
    int sent = mt.rank, received = -1;

    atomic_store(&joins, 1);
    MT_OK(MPI_Comm_join(*(int *) fd, &other));
    MT_OK(MPI_Sendrecv(&sent, 1, MPI_INT, 0, 1, &received, 1, MPI_INT, 0, 1, other,
                       MPI_STATUS_IGNORE));
    MT_CHECK(received == !mt.rank, "got %d", received);
    MT_OK(MPI_Comm_disconnect(&other));
    return NULL;
}

static void join_and_send(int fd)
{
    pthread_t joiner;

    MT_CHECK(pthread_create(&joiner, NULL, join, &fd) == 0, "cannot create a thread");
    while (!atomic_load(&joins))
        usleep(1000);
    usleep(200000);             /* most likely it waits by now */
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD));
    pthread_join(joiner, NULL);
}

static void receive_and_join(int fd)
{
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    join(&fd);
}

/* fd: closed by process 1. */
static void join_closed(int fd)
{
    MPI_Comm other;

    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MT_CHECK(MPI_Comm_join(fd, &other) != MPI_SUCCESS, "joined with a process that has closed");
}

int main(int argc, char **argv)
{
    int fd;

    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    fd = connection();
    if (mt.rank == 0)
        join_and_send(fd);
    else
        receive_and_join(fd);
    close(fd);
    fd = connection();
    if (mt.rank == 0)
        join_closed(fd);
    close(fd);
    return mt_finish();
}

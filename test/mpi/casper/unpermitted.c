/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Users that the system does not permit to read and write each other's memory, as between different
 * users of the machine or where a filter forbids it; their ghost may. Here our own functions of these
 * names, in place of those of the C library, refuse. CSP_NG=1. -n: messages. */
#define _GNU_SOURCE
#include "../mt.h"

#include <sys/syscall.h>
#include <sys/uio.h>

static atomic_int refusals;

/* The last process is the ghost. */
static int is_refused(void)
{
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
    if (!rank || !size || atoi(rank) == atoi(size) - 1)
        return 0;
    atomic_fetch_add(&refusals, 1);
    errno = EPERM;
    return 1;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n,
                         const struct iovec *there, unsigned long m, unsigned long flags)
{
    return is_refused() ? -1 : syscall(SYS_process_vm_readv, pid, here, n, there, m, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long n,
                          const struct iovec *there, unsigned long m, unsigned long flags)
{
    return is_refused() ? -1 : syscall(SYS_process_vm_writev, pid, here, n, there, m, flags);
}

static void ping_pong(char *data, int bytes, int n)
{
    for (int i = 0; i < n; i++) {
        const char value = (char) (i + 1);
        if (mt.rank == 0) {
            memset(data, value, bytes);
            MT_OK(MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
            memset(data, 0, bytes);
        }
        MT_OK(MPI_Recv(data, bytes, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int k = 0; k < bytes; k += 1 + bytes / 7)
            MT_CHECK(data[k] == value, "message %d of %d bytes: byte %d is %d", i, bytes, k, data[k]);
        if (mt.rank == 1)
            MT_OK(MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 1, 1000, 5000, 100000, 1000000 };
    mt_init(argc, argv, 1, 100);
    MT_CHECK(mt.size == 2, "run with two users");
    MT_CHECK(atomic_load(&refusals) > 0, "the library does not call our functions");
    char *data = mt_alloc(1000000);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        ping_pong(data, sizes[i], (int) mt.iters);
    free(data);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Direct memory in a program with a fast timer. In a tmpfs of an older Linux a signal undoes a
 * reservation that is not complete. So one that takes longer than a turn of the timer never succeeds
 * unless it is made without signals. That is played here for all large ones. */
#define _GNU_SOURCE
#include "../mt.h"
#include <fcntl.h>

enum { AT_ONCE = 1 << 16, N = 1 << 22 };

static atomic_int refusals;

/* Takes the place of libc's, also for the library. */
int posix_fallocate(int fd, off_t begin, off_t bytes)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    if (bytes > AT_ONCE && !sigismember(&now, SIGPROF)) {
        MT_CHECK(atomic_fetch_add(&refusals, 1) < 1000, "reserves memory again and again");
        return EINTR;
    }
    return fallocate(fd, 0, begin, bytes) == 0 ? 0 : errno;
}

static void check_signals(void)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    MT_CHECK(!sigismember(&now, SIGPROF), "signals stay blocked");
}

static void use(char *mem)
{
    char in[4];
    MT_CHECK(mem, "no memory");
    memset(mem, mt.rank + 1, N);
    MT_OK(MPI_Sendrecv(mem + N - 4, 4, MPI_CHAR, mt.peer, 1, in, 4, MPI_CHAR, mt.peer, 1,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_CHECK(in[3] == mt.peer + 1, "data");
    check_signals();
}

int main(int argc, char **argv)
{
    MPI_Win win;
    char *mem;
    mt_init(argc, argv, 1, 1);
    MT_OK(MPI_Alloc_mem(N, MPI_INFO_NULL, &mem));
    use(mem);
    MT_OK(MPI_Free_mem(mem));
    MT_OK(MPI_Win_allocate(N, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    use(mem);
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Win_allocate_shared(N, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    use(mem);
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

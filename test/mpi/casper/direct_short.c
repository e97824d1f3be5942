/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Alloc_mem without shared memory for it: memory of more than there ever is, and memory beyond the
 * limit of the process, is ordinary memory and works. */
#include "../mt.h"
#include <sys/resource.h>
#include <sys/statvfs.h>

/* The first and the last bytes are used, so that no other pages are needed. */
static void use(char *mem, size_t bytes)
{
    char in[100000];
    for (int i = 0; i < 100000; i++)
        mem[i] = mem[bytes - 100000 + (size_t) i] = (char) (i + mt.rank);
    for (int part = 0; part < 2; part++) {
        char *out = part ? mem + bytes - 100000 : mem;
        MT_OK(MPI_Sendrecv(out, 100000, MPI_CHAR, mt.peer, 1, in, 100000, MPI_CHAR, mt.peer, 1,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 100000; i++)
            MT_CHECK(in[i] == (char) (i + mt.peer), "data");
    }
}

/* Where the system gives no process so much address space, nothing is shown. */
static void more_than_there_is(void)
{
    struct statvfs shm;
    char *mem;
    size_t bytes;
    MT_CHECK(statvfs("/dev/shm", &shm) == 0, "no /dev/shm");
    bytes = (size_t) shm.f_blocks * shm.f_frsize + (1 << 20);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int rc = MPI_Alloc_mem((MPI_Aint) bytes, MPI_INFO_NULL, &mem), all;
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    int mine = rc == MPI_SUCCESS;
    MT_OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (all)
        use(mem, bytes);
    if (mine)
        MT_OK(MPI_Free_mem(mem));
}

static void beyond_the_limit(void)
{
    struct rlimit old, limit;
    char *mem;
    MT_CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0, "getrlimit");
    limit = old;
    limit.rlim_cur = 100000;
    MT_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
    MT_OK(MPI_Alloc_mem(1000000, MPI_INFO_NULL, &mem));
    use(mem, 1000000);
    MT_CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0, "setrlimit");
    MT_OK(MPI_Free_mem(mem));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    beyond_the_limit();
    more_than_there_is();
    return mt_finish();
}

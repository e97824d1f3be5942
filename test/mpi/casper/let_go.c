/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Memory of MPI_Alloc_mem that a message came from before its receive goes back to the system after
 * MPI_Free_mem: the ghost, which has kept the message, no longer maps it. The test never ends if it
 * does. Run it with an even number of users. */
#include "../mt.h"

#include <sys/statvfs.h>
#include <time.h>

#define MEMORY (4L << 20)       /* each time */
#define MESSAGE 8192

/* In use in the file system of shared memory. */
static long in_use(void)
{
    struct statvfs fs;

    MT_CHECK(statvfs("/dev/shm", &fs) == 0, "statvfs of /dev/shm fails");
    return (long) (fs.f_blocks - fs.f_bfree) * (long) fs.f_frsize;
}

/* Long enough for the ghost, which then has nothing else to do, to take the data to itself. */
static void rest(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000,.tv_nsec = ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static void once(int tag)
{
    char *memory;

    MT_OK(MPI_Alloc_mem(MEMORY, MPI_INFO_NULL, &memory));
    memset(memory, tag, MEMORY);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank % 2 == 0) {
        MT_OK(MPI_Send(memory, MESSAGE, MPI_BYTE, mt.peer, tag, MPI_COMM_WORLD));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    } else {
        rest(20);
        MT_OK(MPI_Recv(memory + MESSAGE, MESSAGE, MPI_BYTE, mt.peer, tag, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        MT_CHECK(!memcmp(memory, memory + MESSAGE, MESSAGE), "message %d is damaged", tag);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    MT_OK(MPI_Free_mem(memory));
}

int main(int argc, char **argv)
{
    long before;

    mt_init(argc, argv, 1, 40);
    once(0);
    rest(200);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    before = in_use();
    for (int i = 1; i <= mt.iters; i++)
        once(i % 100);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    /* the ghost lets go when it is idle */
    while (in_use() > before + mt.iters * MEMORY / 4)
        rest(50);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    return mt_finish();
}

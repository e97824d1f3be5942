/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* User 0 sends more than ghosts keep while user 1 is outside MPI. The memory of the ghosts is bounded,
 * and all arrives, in order. -n: messages of -s bytes. Small ones are sent one after the other. */
#include "ghost.h"

#define MOST_MB 400             /* a ghost keeps 256 MB, 36 MB of small messages, and what it is */
#define SMALL 1024
#define STILL 10                /* looks, 0.1 s apart, */
#define STILL_MB 2              /* between which the memory grows by this at most */
#define MOST_LOOKS 200

/* With the shared memory, in which small messages wait. */
static long mb_of(pid_t pid)
{
    char name[64];
    long pages = 0, resident = 0;
    snprintf(name, sizeof(name), "/proc/%d/statm", (int) pid);
    FILE *f = fopen(name, "r");
    MT_CHECK(f && fscanf(f, "%ld %ld", &pages, &resident) == 2, "cannot read %s", name);
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE) / 1000000;
}

/* The largest of the ghosts. */
static long ghost_mb(void)
{
    long most = 0;
    for (int i = 0; i < n_ghosts; i++) {
        long mb = mb_of(ghosts[i]);
        most = mb > most ? mb : most;
    }
    return most;
}

static void send_small(char *data)
{
    for (long i = 0; i < mt.iters; i++) {
        memset(data, (int) (1 + i % 100), (size_t) mt.bytes);
        MT_OK(MPI_Send(data, (int) mt.bytes, MPI_CHAR, 1, (int) (i % 7), MPI_COMM_WORLD));
    }
}

static void send_large(char *data)
{
    const int n = (int) mt.iters;
    MPI_Request *r = mt_alloc((size_t) n * sizeof(*r));
    memset(data, 1, (size_t) mt.bytes);
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Isend(data, (int) mt.bytes, MPI_CHAR, 1, i % 7, MPI_COMM_WORLD, &r[i]));
    MT_OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    free(r);
}

/* Until the ghosts take no more, or little: they keep some messages, one after the other. */
static void watch(void)
{
    long before = 0;
    for (int looks = 0, still = 0; looks < MOST_LOOKS && still < STILL; looks++) {
        usleep(100000);
        long now = ghost_mb();
        MT_CHECK(now < MOST_MB, "a ghost has %ld MB", now);
        still = now > before + STILL_MB ? 0 : still + 1;
        before = now;
    }
}

static void receive_late(char *data)
{
    watch();
    for (long i = 0; i < mt.iters; i++) {
        char expected = (char) (mt.bytes > SMALL ? 1 : 1 + i % 100);
        memset(data, 0, (size_t) mt.bytes);
        MT_OK(MPI_Recv(data, (int) mt.bytes, MPI_CHAR, 0, (int) (i % 7), MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        MT_CHECK(data[0] == expected && data[mt.bytes - 1] == expected,
                 "message %ld has other data: %d and %d", i, data[0], data[mt.bytes - 1]);
    }
    MT_CHECK(ghost_mb() < MOST_MB, "a ghost has %ld MB after all", ghost_mb());
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 7000);
    if (mt.bytes == 0)
        mt.bytes = 65536;
    char *data = mt_alloc((size_t) mt.bytes);
    find_ghost();
    if (mt.rank == 1)
        receive_late(data);
    else
        (mt.bytes > SMALL ? send_large : send_small) (data);
    free(data);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* User 0 sends more than the ghost keeps while user 1 is outside MPI. The ghost's memory is bounded,
 * and all arrives. -n: messages of -s bytes. */
#include "ghost.h"

#define MOST_MB 330             /* the ghost keeps 256 MB */

static long ghost_mb(void)
{
    char name[64];
    long pages = 0, resident = 0, shared = 0;
    snprintf(name, sizeof(name), "/proc/%d/statm", (int) ghost);
    FILE *f = fopen(name, "r");
    MT_CHECK(f && fscanf(f, "%ld %ld %ld", &pages, &resident, &shared) == 3, "cannot read %s", name);
    fclose(f);
    return (resident - shared) * sysconf(_SC_PAGESIZE) / 1000000;
}

static void send_all(const char *data)
{
    const int n = (int) mt.iters;
    MPI_Request *r = mt_alloc((size_t) n * sizeof(*r));
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Isend(data, (int) mt.bytes, MPI_CHAR, 1, i % 7, MPI_COMM_WORLD, &r[i]));
    MT_OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    free(r);
}

static void receive_late(char *data)
{
    for (int i = 0; i < 20; i++) {
        usleep(100000);
        MT_CHECK(ghost_mb() < MOST_MB, "the ghost has %ld MB", ghost_mb());
    }
    for (long i = 0; i < mt.iters; i++) {
        memset(data, 0, (size_t) mt.bytes);
        MT_OK(MPI_Recv(data, (int) mt.bytes, MPI_CHAR, 0, (int) (i % 7), MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        MT_CHECK(data[0] == 1 && data[mt.bytes - 1] == 1, "message %ld has other data", i);
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 7000);
    if (mt.bytes == 0)
        mt.bytes = 65536;
    char *data = mt_alloc((size_t) mt.bytes);
    find_ghost();
    memset(data, 1, (size_t) mt.bytes);
    if (mt.rank == 0)
        send_all(data);
    else
        receive_late(data);
    free(data);
    return mt_finish();
}

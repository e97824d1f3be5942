/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Linked with msgrate, it fails a run in which a process sends the first message of its measurement
 * before all other sending processes have sent the last one of their warm-ups. Process 0 comes late, so
 * that others would begin without it. Each sending process has one thread; it counts its MPI_Isend. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WARM_UP 1024            /* messages: 16 windows of 64 */
#define LATE_USEC 200000

static atomic_long *sent;       /* of each process, in memory of all */
static MPI_Win win;
static int size, rank;

/* msgrate calls it once, in all processes. */
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm * newcomm)
{
    MPI_Aint bytes = 0;
    int unit;
    void *mine;

    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        bytes = (MPI_Aint) sizeof(*sent) * size;
    PMPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm, &mine, &win);
    if (rank == 0)
        memset(mine, 0, (size_t) bytes);
    PMPI_Win_shared_query(win, 0, &bytes, &unit, &sent);
    PMPI_Barrier(comm);
    return PMPI_Comm_split(comm, color, key, newcomm);
}

int MPI_Finalize(void)
{
    PMPI_Win_free(&win);
    return PMPI_Finalize();
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request * request)
{
    long before = atomic_fetch_add(&sent[rank], 1);

    if (rank == 0 && before == 0)
        usleep(LATE_USEC);
    for (int i = 0; before == WARM_UP && i < size / 2; i++) {
        if (atomic_load(&sent[i]) < WARM_UP) {
            fprintf(stderr, "process %d is early: %d still warms up\n", rank, i);
            PMPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    return PMPI_Isend(buf, count, type, dest, tag, comm, request);
}

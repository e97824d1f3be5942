/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A partition of more than 2^31 items, whose count the receive keeps in full. Both buffers are one
 * small piece of memory that is mapped many times, so that there is little to hold. */
#define _GNU_SOURCE
#include "mt.h"
#include <sys/mman.h>

#define PIECE ((size_t) 4 << 20)
#define COUNT (((MPI_Count) 1 << 31) + 8)

static size_t map_bytes(void)
{
    return ((size_t) COUNT + PIECE - 1) / PIECE * PIECE;
}

static char *map_piece(void)
{
    int fd = memfd_create("piece", 0);
    char *all = mmap(NULL, map_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    MT_CHECK(fd >= 0 && ftruncate(fd, PIECE) == 0 && all != MAP_FAILED, "no memory");
    for (size_t at = 0; at < map_bytes(); at += PIECE)
        MT_CHECK(mmap(all + at, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
                 MAP_FAILED, "cannot map the piece at %zu", at);
    close(fd);
    return all;
}

int main(int argc, char **argv)
{
    char *buf;
    MPI_Request r;
    MPI_Status status;
    MPI_Count n = 0;

    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    buf = map_piece();
    if (mt.rank == 0) {
        memset(buf, 7, PIECE);
        MT_OK(MPI_Psend_init(buf, 1, COUNT, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    } else {
        MT_OK(MPI_Precv_init(buf, 1, COUNT, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    }
    MT_OK(MPI_Start(&r));
    if (mt.rank == 0)
        MT_OK(MPI_Pready(0, r));
    MT_OK(MPI_Wait(&r, &status));
    if (mt.rank == 1) {
        MT_OK(MPI_Get_elements_x(&status, MPI_BYTE, &n));
        MT_CHECK(n == COUNT, "%lld bytes", (long long) n);
        for (size_t i = 0; i < PIECE; i++)
            MT_CHECK(buf[i] == 7, "byte %zu is %d", i, buf[i]);
    }
    MT_OK(MPI_Request_free(&r));
    return mt_finish();
}

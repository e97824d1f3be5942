/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#ifndef LATCH_H_INCLUDED
#define LATCH_H_INCLUDED

/* A file that keeps a process outside MPI until another one removes it. Included by one source. */

#include "mt.h"
#include <fcntl.h>

static char latch[] = "/tmp/mt_latch.XXXXXX";

/* Collective; process 0 makes the file. */
static void make_latch(void)
{
    if (mt.rank == 0) {
        int fd = mkstemp(latch);
        MT_CHECK(fd >= 0, "cannot create %s", latch);
        close(fd);
    }
    MT_OK(MPI_Bcast(latch, sizeof(latch), MPI_CHAR, 0, MPI_COMM_WORLD));
}

static void open_latch(void)
{
    MT_CHECK(unlink(latch) == 0, "cannot remove %s", latch);
}

/* Outside MPI. */
static void wait_latch(void)
{
    while (access(latch, F_OK) == 0)
        usleep(1000);
}

#endif /* LATCH_H_INCLUDED */

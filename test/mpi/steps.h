/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Steps of a test that its processes exchange through shared memory, outside MPI: they say which step
 * they have done, and wait for one of another. */
#ifndef STEPS_H_INCLUDED
#define STEPS_H_INCLUDED

#include "mt.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

static _Atomic int *step_of;    /* the round in which a step was last done */

/* Make the steps 0 to n - 1, all in round 0. Collective. */
static void steps_share(int n)
{
    char path[] = "/tmp/mpich-tsm-test-XXXXXX";
    size_t size = (size_t) n * sizeof(*step_of);
    int fd = mt.rank == 0 ? mkstemp(path) : -1;
    MT_OK(MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD));
    if (mt.rank == 0)
        MT_CHECK(fd >= 0 && ftruncate(fd, (off_t) size) == 0, "%s: %s", path, strerror(errno));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank != 0)
        fd = open(path, O_RDWR);
    step_of = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MT_CHECK(step_of != MAP_FAILED, "%s: %s", path, strerror(errno));
    close(fd);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        unlink(path);
}

static void step_done(int step, int round)
{
    atomic_store(&step_of[step], round);
}

static inline int step_last(int step)
{
    return atomic_load(&step_of[step]);
}

static void step_wait(int step, int round)
{
    while (atomic_load(&step_of[step]) < round)
        sched_yield();
}

#endif /* STEPS_H_INCLUDED */

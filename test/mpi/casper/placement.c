/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* CSP_PLACEMENT: the first half of the processes is bound to one processor, the second half to another
 * one, and hwloc is told that these are two NUMA nodes and two sockets. Then each half gives a ghost;
 * with CSP_PLACEMENT=machine the last two processes are ghosts. Messages work between all.
 * -n: rounds. */
#define _GNU_SOURCE
#include <sched.h>
#include "../mt.h"

static int all, me;             /* processes, ghosts too, and the number that mpirun gave this one */

static int number_in(const char *name)
{
    const char *text = getenv(name);
    if (!text) {
        fprintf(stderr, "%s is not set\n", name);
        exit(1);
    }
    return atoi(text);
}

/* Returns 0 if there is one processor only. */
static int bind_to_half(void)
{
    cpu_set_t may, one;
    int nth = me < all / 2 ? 0 : 1;
    sched_getaffinity(0, sizeof(may), &may);
    if (CPU_COUNT(&may) < 2 || !CPU_ISSET(0, &may) || !CPU_ISSET(1, &may))
        return 0;
    CPU_ZERO(&one);
    CPU_SET(nth, &one);
    return sched_setaffinity(0, sizeof(one), &one) == 0;
}

static int expected_number(int rank)
{
    const char *placement = getenv("CSP_PLACEMENT");
    int users = all / 2 - 1;
    if (!placement || strcmp(placement, "machine") == 0)
        return rank;
    return rank < users ? rank : rank + 1;
}

static void all_to_all(long round)
{
    int *in = mt_alloc((size_t) mt.size * sizeof(int)), out = mt.rank + (int) round;
    MPI_Request *req = mt_alloc(2 * (size_t) mt.size * sizeof(*req));
    for (int i = 0; i < mt.size; i++) {
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD, &req[i]));
        MT_OK(MPI_Isend(&out, 1, MPI_INT, i, 1, MPI_COMM_WORLD, &req[mt.size + i]));
    }
    MT_OK(MPI_Waitall(2 * mt.size, req, MPI_STATUSES_IGNORE));
    for (int i = 0; i < mt.size; i++)
        MT_CHECK(in[i] == i + round, "%d from %d", in[i], i);
    free(in);
    free(req);
}

int main(int argc, char **argv)
{
    all = number_in("PMI_SIZE");
    me = number_in("PMI_RANK");
    int is_bound = bind_to_half();
    setenv("HWLOC_SYNTHETIC", "pack:2 [numa] pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    mt_init(argc, argv, 1, 50);
    MT_CHECK(mt.size == all - 2, "%d users of %d processes", mt.size, all);
    if (is_bound)
        MT_CHECK(me == expected_number(mt.rank), "process %d has rank %d", me, mt.rank);
    for (long i = 0; i < mt.iters; i++)
        all_to_all(i);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Comm_create_from_group without a context id left is an error, for the world and for one process;
 * once ids are there again, it makes a communicator. The error handler is the one that the call is
 * given, as in MPI_Intercomm_create_from_groups: that of MPI_COMM_WORLD would end the program. So does
 * MPI_Dist_graph_create fail, by the handler of its communicator. */
#include "mt.h"

#define MOST 4096

static MPI_Errhandler counting;
static int handled;

static void count(MPI_Comm * comm, int *rc, ...)
{
    MT_CHECK(*comm == MPI_COMM_NULL && *rc != MPI_SUCCESS, "the handler got %d", *rc);
    handled++;
}

static int fill_up(MPI_Comm * comm)
{
    int n = 0;

    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    while (MPI_Comm_dup(MPI_COMM_SELF, &comm[n]) == MPI_SUCCESS)
        MT_CHECK(++n < MOST, "%d duplicates", n);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    return n;
}

static void check(int rc, MPI_Comm comm, const char *what)
{
    MT_CHECK(rc != MPI_SUCCESS, "%s: no error, %s communicator", what,
             comm == MPI_COMM_NULL ? "no" : "a");
}

static void must_fail(MPI_Group group, MPI_Errhandler handler, const char *what)
{
    MPI_Comm comm = MPI_COMM_NULL;

    check(MPI_Comm_create_from_group(group, "full", MPI_INFO_NULL, handler, &comm), comm, what);
}

static void must_fail_between(MPI_Group self, MPI_Group world, MPI_Errhandler handler)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group peer;

    MT_OK(MPI_Group_incl(world, 1, &mt.peer, &peer));
    check(MPI_Intercomm_create_from_groups(self, 0, peer, 0, "full", MPI_INFO_NULL, handler, &comm),
          comm, "between processes");
    MT_OK(MPI_Group_free(&peer));
}

static void all_must_fail(MPI_Group self, MPI_Group world, MPI_Errhandler handler)
{
    must_fail(self, handler, "one process");
    must_fail(world, handler, "all processes");
    must_fail_between(self, world, handler);
}

static void must_work(MPI_Group group)
{
    MPI_Comm comm;
    int n;

    MT_OK(MPI_Comm_create_from_group(group, "room", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MT_OK(MPI_Comm_size(comm, &n));
    MT_CHECK(n == mt.size, "%d processes", n);
    MT_OK(MPI_Barrier(comm));
    MT_OK(MPI_Comm_free(&comm));
}

static void graph_must_fail(void)
{
    MPI_Comm graph = MPI_COMM_NULL;
    int degree = 1;

    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    check(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &mt.rank, &degree, &mt.peer, MPI_UNWEIGHTED,
                                MPI_INFO_NULL, 0, &graph), graph, "a graph");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    static MPI_Comm comm[MOST];
    MPI_Group world, self;
    int n;

    mt_init(argc, argv, 1, 1);
    MT_OK(MPI_Comm_create_errhandler(count, &counting));
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    n = fill_up(comm);
    all_must_fail(self, world, MPI_ERRORS_RETURN);
    all_must_fail(self, world, counting);
    graph_must_fail();
    MT_CHECK(handled == 3, "the handler ran %d times", handled);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    while (n > 0)
        MT_OK(MPI_Comm_free(&comm[--n]));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    must_work(world);
    MT_OK(MPI_Errhandler_free(&counting));
    MT_OK(MPI_Group_free(&world));
    MT_OK(MPI_Group_free(&self));
    return mt_finish();
}

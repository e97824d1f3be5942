/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Comm_create_from_group without a context id left is an error, for the world and for one process;
 * once ids are there again, it makes a communicator. */
#include "mt.h"

#define MOST 4096

static int fill_up(MPI_Comm * comm)
{
    int n = 0;

    while (MPI_Comm_dup(MPI_COMM_SELF, &comm[n]) == MPI_SUCCESS)
        MT_CHECK(++n < MOST, "%d duplicates", n);
    return n;
}

static void must_fail(MPI_Group group, const char *what)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int rc = MPI_Comm_create_from_group(group, "full", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);

    MT_CHECK(rc != MPI_SUCCESS, "%s: no error, %s communicator", what,
             comm == MPI_COMM_NULL ? "no" : "a");
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

int main(int argc, char **argv)
{
    static MPI_Comm comm[MOST];
    MPI_Group world, self;
    int n;

    mt_init(argc, argv, 1, 1);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    n = fill_up(comm);
    must_fail(self, "one process");
    must_fail(world, "all processes");
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    while (n > 0)
        MT_OK(MPI_Comm_free(&comm[--n]));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    must_work(world);
    MT_OK(MPI_Group_free(&world));
    MT_OK(MPI_Group_free(&self));
    return mt_finish();
}

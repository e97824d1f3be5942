/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Groups tell spawned processes from those of MPI_COMM_WORLD with the same rank (MPI-4.0 section 7.3):
 * translated ranks, intersection, difference, union, and a communicator from a union. */
#include "mt.h"

#define SPAWNED 2

static MPI_Comm merged;         /* parents first */
static MPI_Group all, here, there;

static void ranks(MPI_Group from, int n, MPI_Group to, int first)
{
    for (int i = 0; i < n; i++) {
        const int want = first == MPI_UNDEFINED ? MPI_UNDEFINED : first + i;
        int got;
        MT_OK(MPI_Group_translate_ranks(from, 1, &i, to, &got));
        MT_CHECK(got == want, "rank %d is %d there, not %d", i, got, want);
    }
}

static void is_same(MPI_Group made, MPI_Group want)
{
    int result, size;

    MT_OK(MPI_Group_size(made, &size));
    MT_OK(MPI_Group_compare(made, want, &result));
    MT_CHECK(result == MPI_IDENT, "another group, of %d processes", size);
}

static void sets(int is_parent)
{
    MPI_Group made;
    int size, rank, sum;
    MPI_Comm comm;

    MT_OK(MPI_Group_intersection(all, there, &made));
    is_same(made, there);
    MT_OK(MPI_Group_free(&made));
    MT_OK(MPI_Group_difference(all, here, &made));
    is_same(made, there);
    MT_OK(MPI_Group_free(&made));
    MT_OK(MPI_Group_intersection(here, there, &made));
    is_same(made, MPI_GROUP_EMPTY);

    MT_OK(MPI_Group_union(is_parent ? here : there, is_parent ? there : here, &made));
    is_same(made, all);
    MT_OK(MPI_Comm_create_group(merged, made, 0, &comm));
    MT_OK(MPI_Group_free(&made));
    MT_OK(MPI_Comm_size(comm, &size));
    MT_OK(MPI_Comm_rank(comm, &rank));
    MT_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    MT_CHECK(sum == size * (size - 1) / 2, "the ranks add up to %d", sum);
    MT_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Comm inter, parent = mt_init_spawned(argc, argv, 1, 1);
    const int is_parent = parent == MPI_COMM_NULL;
    int n_here, n_there, first;

    if (is_parent)
        MT_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, SPAWNED, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                             MPI_ERRCODES_IGNORE));
    else
        inter = parent;
    MT_OK(MPI_Intercomm_merge(inter, !is_parent, &merged));
    MT_OK(MPI_Comm_group(merged, &all));
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &here));
    MT_OK(MPI_Comm_remote_group(inter, &there));
    MT_OK(MPI_Group_size(here, &n_here));
    MT_OK(MPI_Group_size(there, &n_there));
    first = is_parent ? 0 : n_there;
    ranks(here, n_here, all, first);
    ranks(there, n_there, all, is_parent ? n_here : 0);
    ranks(there, n_there, here, MPI_UNDEFINED);
    sets(is_parent);
    MT_OK(MPI_Group_free(&all));
    MT_OK(MPI_Group_free(&here));
    MT_OK(MPI_Group_free(&there));
    MT_OK(MPI_Comm_free(&merged));
    MT_OK(MPI_Comm_disconnect(&inter));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Programs see users only: sizes, ranks, groups, attributes, and communicators made from them, by MPI_
 * and by PMPI_ calls. -n: the number of users. */
#include "../mt.h"

static void check_attributes(void)
{
    int *value, flag;
    MT_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    MT_CHECK(flag && *value >= 32767, "MPI_TAG_UB is %d", flag ? *value : -1);
    MT_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
    MT_CHECK(!flag || *value >= mt.size, "MPI_UNIVERSE_SIZE is %d of %d", *value, mt.size);
}

static void check_groups(void)
{
    MPI_Group world;
    MPI_Comm dup, reverse, made;
    int size, rank, result;
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MT_OK(MPI_Group_size(world, &size));
    MT_CHECK(size == mt.size, "group of %d", size);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MT_OK(MPI_Comm_compare(MPI_COMM_WORLD, dup, &result));
    MT_CHECK(result == MPI_CONGRUENT, "a duplicate is not congruent: %d", result);
    MT_OK(MPI_Comm_split(dup, 0, -mt.rank, &reverse));
    MT_OK(MPI_Comm_rank(reverse, &rank));
    MT_CHECK(rank == mt.size - 1 - mt.rank, "rank %d after a split", rank);
    MT_OK(MPI_Comm_create_group(MPI_COMM_WORLD, world, 5, &made));
    MT_OK(MPI_Comm_size(made, &size));
    MT_CHECK(size == mt.size, "communicator of %d", size);
    MT_OK(MPI_Comm_free(&made));
    MT_OK(MPI_Comm_free(&reverse));
    MT_OK(MPI_Comm_free(&dup));
    MT_OK(MPI_Group_free(&world));
}

/* A ring on comm, and a collective. */
static void use(MPI_Comm comm)
{
    int rank, size, got = -1, sum;
    MT_OK(MPI_Comm_rank(comm, &rank));
    MT_OK(MPI_Comm_size(comm, &size));
    MT_OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
                       (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE));
    MT_CHECK(got == (rank + size - 1) % size, "got %d", got);
    MT_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    MT_CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
}

static void check_communicators(void)
{
    MPI_Comm node, half, grid, inter, merged;
    int dims = mt.size, period = 1;
    use(MPI_COMM_WORLD);
    use(MPI_COMM_SELF);
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    use(node);
    MT_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &period, 0, &grid));
    use(grid);
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, 0, &half));
    use(half);
    if (mt.size > 1) {
        MT_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mt.rank % 2, 7, &inter));
        MT_OK(MPI_Intercomm_merge(inter, mt.rank % 2, &merged));
        use(merged);
        MT_OK(MPI_Comm_free(&merged));
        MT_OK(MPI_Comm_free(&inter));
    }
    MT_OK(MPI_Comm_free(&half));
    MT_OK(MPI_Comm_free(&grid));
    MT_OK(MPI_Comm_free(&node));
}

int main(int argc, char **argv)
{
    int size;
    mt_options(argc, argv, 1, 2);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt.size);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    MT_CHECK(mt.size == mt.iters && size == mt.size, "%d users, not %ld", mt.size, mt.iters);
    check_attributes();
    check_groups();
    check_communicators();
    return mt_finish();
}

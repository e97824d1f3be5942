/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Win_start waits for the posts of its own group, whatever else is posted. Ranks 2 and 3 post
 * their windows to rank 1 for its second access epoch; rank 1 knows it, and starts the first one,
 * towards rank 0, which posts last. Repeated -n times. */
#include "mt.h"

#define TAG 5

static MPI_Win win;
static int word;

static MPI_Group group_of(int n, const int *ranks)
{
    MPI_Group all, some;

    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MT_OK(MPI_Group_incl(all, n, ranks, &some));
    MT_OK(MPI_Group_free(&all));
    return some;
}

/* Access epoch of rank 1: put a value to each of these ranks. */
static void put_to(int n, const int *ranks, int value)
{
    MPI_Group group = group_of(n, ranks);

    MT_OK(MPI_Win_start(group, 0, win));
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Put(&value, 1, MPI_INT, ranks[i], 0, 1, MPI_INT, win));
    MT_OK(MPI_Win_complete(win));
    MT_OK(MPI_Group_free(&group));
}

static void access_twice(int value)
{
    for (int from = 2; from < 4; from++)
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, TAG, MPI_COMM_WORLD));
    put_to(1, (const int[]) { 0 }, value);
    put_to(2, (const int[]) { 3, 2 }, value);
}

static void expose(int value)
{
    MPI_Group group = group_of(1, (const int[]) { 1 });

    if (mt.rank == 0)
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    word = -1;
    MT_OK(MPI_Win_post(group, 0, win));
    if (mt.rank != 0)
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, TAG, MPI_COMM_WORLD));
    MT_OK(MPI_Win_wait(win));
    MT_CHECK(word == value, "the window holds %d, not %d", word, value);
    MT_OK(MPI_Group_free(&group));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 200);
    MT_CHECK(mt.size == 4, "run with 4 processes");
    MT_OK(MPI_Win_create(&word, sizeof(word), sizeof(word), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < mt.iters; i++) {
        if (mt.rank == 1)
            access_twice(i);
        else
            expose(i);
    }
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

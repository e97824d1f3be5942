/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Programs are spawned one after the other, and each ends. Where libfabric has few ports (the row in
 * testlist), later ones have the address of earlier ones: what is sent to them is not taken for the
 * rest of what was sent to those. */
#include "mt.h"

#define PUTS 5

/* Each process adds to the other's memory, by active messages. */
static void use_window(MPI_Comm inter, int is_child)
{
    MPI_Comm both;
    MPI_Win win;
    int one = 1, memory = 0, peer = !is_child;

    MT_OK(MPI_Intercomm_merge(inter, is_child, &both));
    MT_OK(MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, both, &win));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win));
    for (int i = 0; i < PUTS; i++)
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, win));
    MT_OK(MPI_Win_unlock(peer, win));
    MT_OK(MPI_Barrier(both));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, is_child, 0, win));     /* one's own */
    MT_CHECK(memory == PUTS, "%d instead of %d", memory, PUTS);
    MT_OK(MPI_Win_unlock(is_child, win));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Comm_disconnect(&both));
    MT_OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv)
{
    MPI_Comm inter = mt_init_spawned(argc, argv, 1, 10);

    if (inter != MPI_COMM_NULL)
        use_window(inter, 1);
    else
        for (int i = 0; i < (int) mt.iters; i++) {
            MT_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                                 MPI_ERRCODES_IGNORE));
            use_window(inter, 0);
        }
    return mt_finish();
}

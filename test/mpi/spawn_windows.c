/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Two programs are spawned after each other, and process 0 of each sends active messages to this one:
 * one program must not be taken for the other. */
#include "mt.h"

static void use_window(MPI_Comm inter, int is_child)
{
    MPI_Comm both;
    MPI_Win win;
    int value = 17, memory = 0;

    MT_OK(MPI_Intercomm_merge(inter, is_child, &both));
    MT_OK(MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, both, &win));
    if (is_child) {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        MT_OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
        MT_OK(MPI_Win_unlock(0, win));
    }
    MT_OK(MPI_Barrier(both));
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, is_child, 0, win));     /* one's own */
    MT_CHECK(is_child || memory == value, "the put brought %d", memory);
    MT_OK(MPI_Win_unlock(is_child, win));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Comm_free(&both));
}

int main(int argc, char **argv)
{
    MPI_Comm inter = mt_init_spawned(argc, argv, 1, 2);

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

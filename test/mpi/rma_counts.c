/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A one-sided operation with a count that the device has no room for says so; it does not move what is
 * left of the count in 32 bits. */
#include "mt.h"

static void refuses(const char *what, int rc)
{
    mt_fails(rc, MPI_ERR_COUNT, what);
}

int main(int argc, char **argv)
{
    const MPI_Count n = ((MPI_Count) 1 << 32) + 1;
    char in = 1, out = 2, *memory;
    MPI_Request r;
    MPI_Win win;

    mt_init(argc, argv, 1, 1);
    MT_OK(MPI_Win_allocate(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    *memory = 0;
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Win_lock_all(0, win));
    refuses("put", MPI_Put_c(&in, n, MPI_CHAR, mt.peer, 0, n, MPI_CHAR, win));
    refuses("get", MPI_Get_c(&out, n, MPI_CHAR, mt.peer, 0, n, MPI_CHAR, win));
    refuses("acc", MPI_Accumulate_c(&in, n, MPI_CHAR, mt.peer, 0, n, MPI_CHAR, MPI_SUM, win));
    refuses("get_acc", MPI_Get_accumulate_c(&in, n, MPI_CHAR, &out, n, MPI_CHAR, mt.peer, 0, n,
                                            MPI_CHAR, MPI_SUM, win));
    refuses("rput", MPI_Rput_c(&in, n, MPI_CHAR, mt.peer, 0, n, MPI_CHAR, win, &r));
    refuses("rget", MPI_Rget_c(&out, n, MPI_CHAR, mt.peer, 0, n, MPI_CHAR, win, &r));
    refuses("racc", MPI_Raccumulate_c(&in, n, MPI_CHAR, mt.peer, 0, n, MPI_CHAR, MPI_SUM, win, &r));
    refuses("rget_acc", MPI_Rget_accumulate_c(&in, n, MPI_CHAR, &out, n, MPI_CHAR, mt.peer, 0, n,
                                              MPI_CHAR, MPI_SUM, win, &r));
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_CHECK(*memory == 0 && out == 2, "something has moved");
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

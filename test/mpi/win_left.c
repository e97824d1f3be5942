/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Windows of all kinds that the program has used, and never frees: MPI_Finalize frees no objects of the
 * program (MPI-4.0 section 11.2.2), and need not be told of them. Their memory is still registered with
 * the network. Each is left in the state that comes first to a program: locked, with an attached piece
 * of memory, between two fences, or free. */
#include "mt.h"

enum { BYTES = 4096 };

static char attached[BYTES], created[BYTES], value = 1;

static void put(MPI_Aint at, MPI_Win win)
{
    MT_OK(MPI_Put(&value, 1, MPI_BYTE, mt.peer, at, 1, MPI_BYTE, win));
}

static void put_locked(MPI_Aint at, MPI_Win win)
{
    MT_OK(MPI_Win_lock_all(0, win));
    put(at, win);
    MT_OK(MPI_Win_flush_all(win));
}

/* coll_attach: each piece has a registration of its own. */
static void leave_dynamic(const char *coll_attach)
{
    MPI_Aint at, at_peer;
    MPI_Info info;
    MPI_Win win;

    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "coll_attach", coll_attach));
    MT_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Win_attach(win, attached, BYTES));
    MT_OK(MPI_Get_address(attached, &at));
    MT_OK(MPI_Sendrecv(&at, 1, MPI_AINT, mt.peer, 0, &at_peer, 1, MPI_AINT, mt.peer, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    put_locked(at_peer, win);
}

static void leave_created(void)
{
    MPI_Win win;

    MT_OK(MPI_Win_create(created, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_fence(0, win));
    put(0, win);
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
}

static void leave_allocated(void)
{
    char *base;
    MPI_Win win;

    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        put_locked(0, win);
        if (i)
            MT_OK(MPI_Win_unlock_all(win));
    }
}

static void leave_shared(void)
{
    MPI_Comm node;
    MPI_Win win;
    char *base;

    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MT_OK(MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, node, &base, &win));
    base[0] = 1;
    MT_OK(MPI_Comm_free(&node));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    leave_dynamic("false");
    leave_dynamic("true");
    leave_created();
    leave_allocated();
    leave_shared();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    return mt_finish();
}

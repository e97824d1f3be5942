/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Windows and partitioned communication in a process with sessions only. On a communicator of
 * mpi://WORLD they work, also with one process; on one of mpi://SELF, before there is one of all
 * processes, they are errors of class MPI_ERR_UNSUPPORTED_OPERATION. So are communicators of some of
 * the processes, and those between two groups. */
#include "session.h"

static int memory;

static void use_window(MPI_Win * win)
{
    const int value = 5;

    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, *win));
    MT_OK(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, *win));
    MT_OK(MPI_Win_unlock(0, *win));
    MT_OK(MPI_Win_free(win));
}

static void works(MPI_Comm comm)
{
    int out = 3, in = 0, *base;
    MPI_Request r[2];
    MPI_Win win;

    MT_OK(MPI_Win_create(&memory, sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &win));
    use_window(&win);
    MT_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
    use_window(&win);
    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Psend_init(&out, 1, 1, MPI_INT, mt.rank, 0, comm, MPI_INFO_NULL, &r[0]));
    MT_OK(MPI_Precv_init(&in, 1, 1, MPI_INT, mt.rank, 0, comm, MPI_INFO_NULL, &r[1]));
    MT_OK(MPI_Startall(2, r));
    MT_OK(MPI_Pready(0, r[0]));
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    MT_CHECK(in == 3, "%d arrived", in);
    MT_OK(MPI_Request_free(&r[0]));
    MT_OK(MPI_Request_free(&r[1]));
}

static void is_refused(MPI_Comm comm)
{
    int *base;
    MPI_Win win;
    MPI_Request r;

    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    mt_fails(MPI_Win_create(&memory, sizeof(int), 1, MPI_INFO_NULL, comm, &win),
             MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Win_create");
    mt_fails(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, comm, &base, &win),
             MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Win_allocate");
    mt_fails(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win), MPI_ERR_UNSUPPORTED_OPERATION,
             "MPI_Win_create_dynamic");
    mt_fails(MPI_Psend_init(&memory, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &r),
             MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Psend_init");
}

static void is_from(MPI_Group group, MPI_Comm * comm, int class)
{
    int rc = MPI_Comm_create_from_group(group, "some", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm);
    if (class == MPI_SUCCESS)
        MT_OK(rc);
    else
        mt_fails(rc, class, "some processes");
}

/* group: of all processes. An empty group has no communicator, whenever. */
static void from_groups(MPI_Group group, int has_world)
{
    const int others[] = { 0, (mt.rank + 1) % mt.size };
    MPI_Group some, next, all_but_one;
    MPI_Comm comm = MPI_COMM_WORLD;

    is_from(MPI_GROUP_EMPTY, &comm, MPI_SUCCESS);
    MT_CHECK(comm == MPI_COMM_NULL, "a communicator of no process");
    if (has_world || mt.size == 1)
        return;
    MT_OK(MPI_Group_incl(group, 1, &mt.rank, &some));
    MT_OK(MPI_Group_incl(group, 1, &others[1], &next));
    MT_OK(MPI_Group_excl(group, 1, others, &all_but_one));
    mt_fails(MPI_Intercomm_create_from_groups(some, 0, next, 0, "two", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                              &comm), MPI_ERR_UNSUPPORTED_OPERATION, "two groups");
    if (mt.size > 2 && mt.rank > 0)
        is_from(all_but_one, &comm, MPI_ERR_UNSUPPORTED_OPERATION);
    MT_OK(MPI_Group_free(&some));
    MT_OK(MPI_Group_free(&next));
    MT_OK(MPI_Group_free(&all_but_one));
}

/* A nonblocking collective of one process, before there is a communicator of all. */
static void barrier(MPI_Comm comm)
{
    MPI_Request r;

    MT_OK(MPI_Ibarrier(comm, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

int main(void)
{
    MPI_Session s = open_session();
    MPI_Comm comm = comm_of_session(s, "mpi://SELF"), world;
    MPI_Group group;

    MT_OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    MT_OK(MPI_Group_rank(group, &mt.rank));
    MT_OK(MPI_Group_size(group, &mt.size));
    barrier(comm);
    from_groups(group, 0);
    if (mt.size > 1)
        is_refused(comm);
    world = comm_of_session(s, "mpi://WORLD");
    works(world);
    from_groups(group, 1);
    MT_OK(MPI_Group_free(&group));
    MT_OK(MPI_Comm_free(&world));
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Sessions see users only, and their communicators carry messages: before MPI_Init, beside
 * MPI_COMM_WORLD, where one ends with a message under way, and after MPI_Finalize. Ghosts do not do
 * what the program does at exit. -n: users and sessions. */
#include "../mt.h"

static void check_set(MPI_Session s, const char *name, int size)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int flag, n;
    MPI_Info info;
    MPI_Group group;
    MT_OK(MPI_Session_get_pset_info(s, name, &info));
    MT_OK(MPI_Info_get(info, "mpi_size", MPI_MAX_INFO_VAL, text, &flag));
    MT_CHECK(flag && atoi(text) == size, "%s: mpi_size %s, not %d", name, flag ? text : "", size);
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Group_from_session_pset(s, name, &group));
    MT_OK(MPI_Group_size(group, &n));
    MT_CHECK(n == size, "%s: %d processes, not %d", name, n, size);
    MT_OK(MPI_Group_free(&group));
}

static MPI_Comm open_session(MPI_Session * s)
{
    MPI_Group group;
    MPI_Comm comm;
    MT_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, s));
    MT_OK(MPI_Group_from_session_pset(*s, "mpi://WORLD", &group));
    MT_OK(MPI_Comm_create_from_group(group, "casper/session", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                     &comm));
    MT_OK(MPI_Group_free(&group));
    MT_OK(MPI_Comm_rank(comm, &mt.rank));
    MT_OK(MPI_Comm_size(comm, &mt.size));
    check_set(*s, "mpi://WORLD", mt.size);
    check_set(*s, "mpi://SELF", 1);
    return comm;
}

/* Without MPI_COMM_WORLD. */
static void alone(int users)
{
    int out[2000], in[2000];
    MPI_Session s;
    MPI_Comm comm = open_session(&s);
    MT_CHECK(mt.size == users, "%d users, not %d", mt.size, users);
    for (int i = 0; i < 2000; i++)
        out[i] = mt.rank + i;
    MT_OK(MPI_Sendrecv(out, 2000, MPI_INT, (mt.rank + 1) % users, 2, in, 2000, MPI_INT,
                       (mt.rank + users - 1) % users, 2, comm, MPI_STATUS_IGNORE));
    MT_CHECK(in[1999] == (mt.rank + users - 1) % users + 1999, "received %d", in[1999]);
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
}

static void beside(int i)
{
    const int next = (mt.rank + 1) % mt.size, prev = (mt.rank + mt.size - 1) % mt.size;
    int early = -1, late = -1;
    MPI_Session s;
    MPI_Comm comm = open_session(&s);
    MPI_Request r[3];

    MT_OK(MPI_Irecv(&late, 1, MPI_INT, prev, 1, MPI_COMM_WORLD, &r[0]));
    MT_OK(MPI_Irecv(&early, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &r[1]));
    MT_OK(MPI_Isend(&i, 1, MPI_INT, next, 1, comm, &r[2]));
    MT_OK(MPI_Waitall(2, &r[1], MPI_STATUSES_IGNORE));
    MT_CHECK(early == i, "received %d in the session", early);
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
    i = ~i;
    MT_OK(MPI_Send(&i, 1, MPI_INT, next, 1, MPI_COMM_WORLD));
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    MT_CHECK(late == i, "received %d after the session", late);
}

static int is_user;

static void at_exit(void)
{
    if (!is_user) {
        fprintf(stderr, "a ghost does what the program does at exit\n");
        _exit(1);
    }
}

int main(int argc, char **argv)
{
    mt_options(argc, argv, 1, 2);
    const int users = (int) mt.iters;
    MT_CHECK(atexit(at_exit) == 0, "atexit fails");
    alone(users);
    is_user = 1;
    mt_init(argc, argv, 1, 2);
    MT_CHECK(mt.size == users, "%d users in MPI_COMM_WORLD, not %d", mt.size, users);
    for (int i = 0; i < users; i++)
        beside(i);
    MPI_Finalize();
    alone(users);
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Sessions one after the other: when the last has ended, the library is finalized, and the next one
 * initializes it again. Threads exchange messages in each. Crashes in MPICH 4.0.2, which reads control
 * variables that the end of the first session has freed. */
#include "mt.h"

static MPI_Comm comm;

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (int i = 0; i < 20; i++) {
        int in = -1, out = i + t->id;
        MT_OK(MPI_Sendrecv(&out, 1, MPI_INT, mt.peer, t->id, &in, 1, MPI_INT, mt.peer, t->id, comm,
                           MPI_STATUS_IGNORE));
        MT_CHECK(in == out, "thread %d: %d arrived instead of %d", t->id, in, out);
    }
    return NULL;
}

static void session(void)
{
    MPI_Session s;
    MPI_Info info;
    MPI_Group group;
    int sum = 0, one = 1;

    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    MT_OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &s));
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    MT_OK(MPI_Comm_create_from_group(group, "tsm-test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                     &comm));
    MT_OK(MPI_Group_free(&group));
    MT_OK(MPI_Comm_rank(comm, &mt.rank));
    MT_OK(MPI_Comm_size(comm, &mt.size));
    mt.peer = mt.rank ^ 1;
    MT_CHECK(mt.size == 2, "run with 2 processes");
    mt_run(mt.threads, worker);
    MT_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    MT_CHECK(sum == 2, "allreduce gives %d", sum);
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
}

int main(int argc, char **argv)
{
    mt_options(argc, argv, 4, 3);
    for (long i = 0; i < mt.iters; i++)
        session();
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A thread makes the first communicator of all processes, and waits for the others. Another one makes
 * one of its process alone meanwhile (-n 1), or opens the first file (-n 2); or it is MPI_Init_thread,
 * after a session, that makes it (-n 3). */
#include "session.h"

#include <unistd.h>

enum { COMM = 1, FILES, WORLD };

/* So much later than process 0 the others begin; their threads act in between. */
#define LATE_US 600000

static MPI_Comm self;

#ifdef ROMIO_VERSION
static void use_file(void)
{
    char path[] = "/tmp/sessions_beside.XXXXXX";
    MPI_File file;
    int fd = mkstemp(path);

    MT_CHECK(fd >= 0, "cannot make %s", path);
    close(fd);
    MT_OK(MPI_File_open(self, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    MT_OK(MPI_File_close(&file));
}
#else
#define use_file() mt_fail(__FILE__, __LINE__, "the library has no files")
#endif

static void *act_beside(void *arg)
{
    MPI_Session *s = arg;
    MPI_Comm comm;

    usleep(LATE_US / 2);
    if (mt.iters == COMM) {
        comm = comm_of_session(*s, "mpi://SELF");
        MT_OK(MPI_Comm_free(&comm));
    } else if (mt.iters == FILES) {
        use_file();
    }
    return NULL;
}

static void learn_rank(MPI_Session s)
{
    MPI_Group group;

    MT_OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    MT_OK(MPI_Group_rank(group, &mt.rank));
    MT_OK(MPI_Group_free(&group));
}

static void make_world(MPI_Session s)
{
    MPI_Comm world;
    pthread_t thread;

    self = comm_of_session(s, "mpi://SELF");
    MT_CHECK(pthread_create(&thread, NULL, act_beside, &s) == 0, "cannot create a thread");
    usleep(mt.rank == 0 ? 0 : LATE_US);
    world = comm_of_session(s, "mpi://WORLD");
    MT_CHECK(pthread_join(thread, NULL) == 0, "cannot join");
    MT_OK(MPI_Comm_free(&world));
    MT_OK(MPI_Comm_free(&self));
}

static void init_world(void)
{
    int provided;

    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Finalize());
}

int main(int argc, char **argv)
{
    MPI_Session s;

    mt_options(argc, argv, 1, COMM);
    s = open_session();
    learn_rank(s);
    if (mt.iters == WORLD)
        init_world();
    else
        make_world(s);
    MT_OK(MPI_Session_finalize(&s));
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* An error of a call with a session goes to the handler of that session, whatever another thread's
 * session has (MPI-4.0 section 9.3), and to the one that is set later. Other threads end sessions, and
 * make communicators of theirs, meanwhile. */
#include "mt.h"

static _Thread_local MPI_Session mine;
static _Thread_local int called;

static void handler(MPI_Session * session, int *code, ...)
{
    (void) code;
    MT_CHECK(*session == mine, "another session");
    called++;
}

static void fails(int rc)
{
    MT_CHECK(rc != MPI_SUCCESS, "no error");
}

static void make_comm(int id)
{
    MPI_Group group;
    MPI_Comm comm;
    char tag[20];

    snprintf(tag, sizeof(tag), "thread %d", id);
    MT_OK(MPI_Group_from_session_pset(mine, "mpi://SELF", &group));
    MT_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MT_OK(MPI_Group_free(&group));
    MT_OK(MPI_Comm_free(&comm));
}

static void *use(void *arg)
{
    const mt_thread_t *self = arg;
    MPI_Errhandler errhandler = MPI_ERRORS_RETURN;
    const int wanted = self->id % 2 ? 4 : 0;
    MPI_Group group;
    MPI_Info info;
    int psets, length = 0;

    for (long i = 0; i < mt.iters; i++) {
        if (wanted)
            MT_OK(MPI_Session_create_errhandler(handler, &errhandler));
        mine = MPI_SESSION_NULL;
        MT_OK(MPI_Session_init(MPI_INFO_NULL, errhandler, &mine));
        if (wanted)
            MT_OK(MPI_Errhandler_free(&errhandler));
        called = 0;
        fails(MPI_Group_from_session_pset(mine, "mpi://NOBODY", &group));
        fails(MPI_Session_get_pset_info(mine, "mpi://NOBODY", &info));
        MT_OK(MPI_Session_get_num_psets(mine, MPI_INFO_NULL, &psets));
        fails(MPI_Session_get_nth_pset(mine, MPI_INFO_NULL, psets, &length, NULL));
        fails(MPI_Session_get_nth_pset(mine, MPI_INFO_NULL, -1, &length, NULL));
        MT_CHECK(called == wanted, "the handler was called %d times", called);
        make_comm(self->id);
        MT_OK(MPI_Session_set_errhandler(mine, MPI_ERRORS_RETURN));
        fails(MPI_Group_from_session_pset(mine, "mpi://NOBODY", &group));
        MT_CHECK(called == wanted, "a handler that is no longer set was called");
        MT_OK(MPI_Session_finalize(&mine));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 20);
    mt_run(mt.threads, use);
    return mt_finish();
}

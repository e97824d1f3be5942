/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* An error keeps its class while newer ones take the place of its text, of which MPICH keeps 128: one
 * thread has more failed receives than that before it asks for the first, and threads make errors at
 * the same time. */
#include "mt.h"

#define FAILED 200

static void truncated(int rc)
{
    mt_fails(rc, MPI_ERR_TRUNCATE, "a receive that is too short");
}

static void many_at_once(void)
{
    MPI_Request req[FAILED];
    int in[FAILED], out[2] = { 1, 2 };

    for (int i = 0; i < FAILED; i++)
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &req[i]));
    for (int i = 0; i < FAILED; i++)
        MT_OK(MPI_Send(out, 2, MPI_INT, 0, i, MPI_COMM_SELF));
    for (int i = 0; i < FAILED; i++)
        truncated(MPI_Wait(&req[i], MPI_STATUS_IGNORE));
}

static void *make_errors(void *arg)
{
    const int tag = FAILED + ((mt_thread_t *) arg)->id;
    int in, out[2] = { 1, 2 };
    MPI_Request req;

    for (int i = 0; i < mt.iters; i++) {
        mt_fails(MPI_Send(out, 1, MPI_INT, 1, tag, MPI_COMM_SELF), MPI_ERR_RANK, "a send to nobody");
        MT_OK(MPI_Isend(out, 2, MPI_INT, 0, tag, MPI_COMM_SELF, &req));
        truncated(MPI_Recv(&in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 2000);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    many_at_once();
    mt_run(mt.threads, make_errors);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A message of a process to itself is longer than its receive: the error goes to the handler of the
 * communicator, a duplicate of MPI_COMM_SELF, whichever of the two is first, and after a matched
 * probe. */
#include "mt.h"

static MPI_Comm self;
static int calls;
static char out[16], in[16];

static void handler(MPI_Comm * comm, int *code, ...)
{
    int class;

    (void) comm;
    MPI_Error_class(*code, &class);
    MT_CHECK(class == MPI_ERR_TRUNCATE, "error class %d", class);
    calls++;
}

static void begin(void)
{
    MPI_Errhandler errhandler;

    MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
    MT_OK(MPI_Comm_create_errhandler(handler, &errhandler));
    MT_OK(MPI_Comm_set_errhandler(self, errhandler));
    MT_OK(MPI_Errhandler_free(&errhandler));
    calls = 0;
}

static void end(MPI_Request send, MPI_Request receive, const char *what)
{
    MPI_Status status;
    int count;

    MPI_Wait(&receive, &status);
    MT_CHECK(calls == 1, "%s: the handler is called %d times", what, calls);
    MT_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    MT_CHECK(status.MPI_TAG == 1 && count == 8, "%s: tag %d, count %d", what, status.MPI_TAG, count);
    MT_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_free(&self));
}

int main(int argc, char **argv)
{
    MPI_Request send, receive;
    MPI_Message message;

    mt_init(argc, argv, 1, 20);
    for (long i = 0; i < mt.iters; i++) {
        begin();
        MT_OK(MPI_Irecv(in, 8, MPI_BYTE, 0, 1, self, &receive));
        MT_OK(MPI_Isend(out, 16, MPI_BYTE, 0, 1, self, &send));
        end(send, receive, "receive first");
        begin();
        MT_OK(MPI_Isend(out, 16, MPI_BYTE, 0, 1, self, &send));
        MT_OK(MPI_Irecv(in, 8, MPI_BYTE, 0, 1, self, &receive));
        end(send, receive, "send first");
        begin();
        MT_OK(MPI_Isend(out, 16, MPI_BYTE, 0, 1, self, &send));
        MT_OK(MPI_Mprobe(0, 1, self, &message, MPI_STATUS_IGNORE));
        MT_OK(MPI_Imrecv(in, 8, MPI_BYTE, &message, &receive));
        end(send, receive, "matched probe");
    }
    return mt_finish();
}

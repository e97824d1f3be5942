/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Finalize with a pending send to a process that was spawned, whose request was freed. The
 * receiver, which comes late, must get it: MPI_COMM_WORLD's processes have all ended MPI by then. */
#include "mt.h"

#define LATE 500000             /* microseconds */

static void send(char *program, char *text)
{
    MPI_Comm child;
    MPI_Request r;
    char *argv[] = { "-s", text, NULL };
    char *out = mt_alloc((size_t) mt.bytes);

    MT_OK(MPI_Comm_spawn(program, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
                         MPI_ERRCODES_IGNORE));
    memset(out, 1, (size_t) mt.bytes);
    MT_OK(MPI_Isend(out, (int) mt.bytes, MPI_BYTE, 0, 0, child, &r));
    MT_OK(MPI_Request_free(&r));
}

static void receive(MPI_Comm parent)
{
    char *in = mt_alloc((size_t) mt.bytes);

    usleep(LATE);
    memset(in, 0, (size_t) mt.bytes);
    MT_OK(MPI_Recv(in, (int) mt.bytes, MPI_BYTE, 0, 0, parent, MPI_STATUS_IGNORE));
    MT_CHECK(in[0] == 1 && in[mt.bytes - 1] == 1, "the message is damaged");
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Comm parent = mt_init_spawned(argc, argv, 1, 1);
    char text[32];

    mt.bytes = mt.bytes ? mt.bytes : 16 << 20;
    snprintf(text, sizeof(text), "%ld", mt.bytes);
    if (parent == MPI_COMM_NULL)
        send(argv[0], text);
    else
        receive(parent);
    MT_OK(MPI_Finalize());
    if (parent != MPI_COMM_NULL)        /* the receiver knows */
        printf(" No Errors\n");
    return 0;
}

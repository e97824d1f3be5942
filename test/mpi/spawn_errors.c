/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Comm_spawn that fails gives its port back; one process may ignore the error codes while another
 * asks for them. */
#include "mt.h"

/* The name of a port tells its number: the next one is the same again if nothing was lost. */
static void port_name(char *port)
{
    memset(port, 0, MPI_MAX_PORT_NAME);
    MT_OK(MPI_Open_port(MPI_INFO_NULL, port));
    MT_OK(MPI_Close_port(port));
}

/* Too long for the process manager's protocol. */
static void failing(void)
{
    char before[MPI_MAX_PORT_NAME], after[MPI_MAX_PORT_NAME], program[4096];
    MPI_Comm self, c;
    int codes[1];

    memset(program, 'x', sizeof(program) - 1);
    program[sizeof(program) - 1] = '\0';
    MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
    MT_OK(MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN));
    port_name(before);
    for (int i = 0; i < 10; i++) {
        int rc = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, self, &c,
                                i % 2 ? codes : MPI_ERRCODES_IGNORE);
        MT_CHECK(rc != MPI_SUCCESS, "a program without a name could be started");
    }
    port_name(after);
    MT_CHECK(strcmp(before, after) == 0, "ports were lost: %s, then %s", before, after);
    MT_OK(MPI_Comm_free(&self));
}

static void one_ignores(char *program, int rank)
{
    int code = -1, n = 41;
    MPI_Comm c;

    MT_OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &c,
                         mt.rank == rank ? MPI_ERRCODES_IGNORE : &code));
    MT_CHECK(mt.rank == rank || code == MPI_SUCCESS, "error code %d", code);
    MT_OK(MPI_Bcast(&n, 1, MPI_INT, mt.rank == 0 ? MPI_ROOT : MPI_PROC_NULL, c));
    MT_OK(MPI_Comm_disconnect(&c));
}

static void child(MPI_Comm parent)
{
    int n = -1;

    MT_OK(MPI_Bcast(&n, 1, MPI_INT, 0, parent));
    MT_CHECK(n == 41, "got %d", n);
    MT_OK(MPI_Comm_disconnect(&parent));
}

int main(int argc, char **argv)
{
    MPI_Comm parent = mt_init_spawned(argc, argv, 1, 1);

    if (parent != MPI_COMM_NULL) {
        child(parent);
        return mt_finish();
    }
    failing();
    for (int i = 0; i < (int) mt.iters; i++) {
        one_ignores(argv[0], 0);
        one_ignores(argv[0], 1);
    }
    return mt_finish();
}

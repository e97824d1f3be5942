/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A process that was started without mpirun has no MPI_UNIVERSE_SIZE, there is no name service, and it
 * cannot start others: its calls return so. MPICH started an mpiexec to ask, which ended at once, and
 * waited for it for ever. */
#include "alone.h"

#include <unistd.h>

#define LIMIT 30                /* seconds after which a call hangs */

static int ask(void)
{
    char port[MPI_MAX_PORT_NAME];
    int *size, has_size = 1, published, found, spawned;
    MPI_Comm child;

    alarm(LIMIT);
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &size, &has_size);
    published = MPI_Publish_name("no_mpirun", MPI_INFO_NULL, "port");
    found = MPI_Lookup_name("no_mpirun", MPI_INFO_NULL, port);
    spawned = MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
                             MPI_ERRCODES_IGNORE);
    MPI_Finalize();
    return has_size || published == MPI_SUCCESS || found == MPI_SUCCESS || spawned == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int named, status;

    if (is_alone(argc, argv))
        return ask();
    MPI_Init(NULL, NULL);
    status = start_alone(argv[0], "", "[unset]", 7, &named);
    MPI_Finalize();
    if (status != 0 || named != 0) {
        printf("status %x, %d lines of PMI\n", status, named);
        return 1;
    }
    printf(" No Errors\n");
    return 0;
}

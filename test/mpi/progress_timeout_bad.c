/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A negative MPIR_CVAR_PROGRESS_TIMEOUT: MPI_Init fails after one line that names it. 0 is no error. */
#include "alone.h"

#define CVAR "MPIR_CVAR_PROGRESS_TIMEOUT"

int main(int argc, char **argv)
{
    const char *const settings[] = { CVAR "=-1", CVAR "=0" };

    if (is_alone(argc, argv))
        return only_init();
    for (int is_good = 0; is_good < 2; is_good++) {
        int named, status;
        status = start_alone(argv[0], settings[is_good], CVAR, strlen(CVAR), &named);
        if (named != !is_good || !status != is_good) {
            printf("%s: exit status %d, %d lines name it\n", settings[is_good], status, named);
            return 1;
        }
    }
    printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Wrong settings of the trace: MPI_Init fails after one line that names the setting. A library without
 * --enable-thread-stats (MT_STATS=no) says in one line that it ignores the trace, and goes on. Starts
 * itself, as programs of one process. */
#include "alone.h"

#define CVAR "MPIR_CVAR_CH4_THREAD_TRACE"

static const char *const settings[] = {
    CVAR "=/nowhere/trace", CVAR "_SAMPLE=0 " CVAR "=/dev/null%r", CVAR "_SIZE=0 " CVAR "=/dev/null%r",
    CVAR "_SIZE=1000000000 " CVAR "=/dev/null%r"
};

int main(int argc, char **argv)
{
    const char *stats = getenv("MT_STATS");
    const int is_there = stats && !strcmp(stats, "yes");

    if (is_alone(argc, argv))
        return only_init();
    for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const char *wrong = is_there ? settings[i] : CVAR "=";
        int named, status = start_alone(argv[0], settings[i], wrong, strcspn(wrong, " "), &named);
        if (named != 1 || !status == is_there) {
            printf("%s: exit status %d, %d lines name it\n", settings[i], status, named);
            return 1;
        }
    }
    printf(" No Errors\n");
    return 0;
}

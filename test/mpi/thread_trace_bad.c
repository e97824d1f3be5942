/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Wrong settings of the trace: MPI_Init fails after one line that names the setting. A library without
 * --enable-thread-stats (MT_STATS=no) says in one line that it ignores the trace, and goes on. Starts
 * itself, as programs of one process. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CVAR "MPIR_CVAR_CH4_THREAD_TRACE"

static const char *const settings[] = {
    CVAR "=/nowhere/trace", CVAR "_SAMPLE=0 " CVAR "=/dev/null%r", CVAR "_SIZE=0 " CVAR "=/dev/null%r",
    CVAR "_SIZE=1000000000 " CVAR "=/dev/null%r"
};

static int only_init(void)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Finalize();
    return 0;
}

/* The program starts alone, not as one of this one's world. Returns its exit status, and how many of
 * its lines begin with the setting that is wrong, the first. */
static int start(const char *program, const char *setting, const char *wrong, size_t n, int *named)
{
    char command[1024], line[1024];
    FILE *out;

    snprintf(command, sizeof(command), "env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID "
             "-u PMIX_NAMESPACE %s '%s' init 2>&1", setting, program);
    out = popen(command, "r");
    if (!out) {
        perror(command);
        exit(1);
    }
    *named = 0;
    while (fgets(line, sizeof(line), out))
        *named += !strncmp(line, wrong, n);
    return pclose(out);
}

int main(int argc, char **argv)
{
    const char *stats = getenv("MT_STATS");
    const int is_there = stats && !strcmp(stats, "yes");

    if (argc == 2 && !strcmp(argv[1], "init"))
        return only_init();
    for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const char *wrong = is_there ? settings[i] : CVAR "=";
        int named, status = start(argv[0], settings[i], wrong, strcspn(wrong, " "), &named);
        if (named != 1 || !status == is_there) {
            printf("%s: exit status %d, %d lines name it\n", settings[i], status, named);
            return 1;
        }
    }
    printf(" No Errors\n");
    return 0;
}

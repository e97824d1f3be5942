/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What a process prints just before MPI_Abort, and what MPI_Abort prints, comes out of mpirun, and
 * mpirun ends. Starts itself: this process alone starts jobs by the mpirun of its own job. In the first
 * ones the last of 8 processes prints a line to both streams and aborts. In the others two processes
 * abort, and mpirun has a clock on which a second passes each time that it looks: that of 4.0.2 waits
 * forever if a second begins at the wrong moment. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun.h"

#define ENV  "env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID"

/* The clock, compiled into a library that is preloaded. */
static const char clock_source[] =
    "#include <sys/time.h>\n"
    "#include <time.h>\n"
    "int gettimeofday(struct timeval *restrict now, void *restrict zone)\n"
    "{\n"
    "    static time_t looks;\n"
    "    (void) zone;\n"
    "    now->tv_sec = time(0) + looks++;\n"
    "    now->tv_usec = 0;\n"
    "    return 0;\n"
    "}\n";

/* Compiles it with the mpicc beside mpirun; puts its path into library. */
static void make_clock(const char *program, char *library, size_t room)
{
    char command[2 * PATH_MAX + 64], *dir = strdup(mpirun());
    FILE *compiler;

    snprintf(library, room, "%s.so", program);
    *strrchr(dir, '/') = '\0';
    snprintf(command, sizeof(command), "%s/mpicc -shared -fPIC -x c -o %s -", dir, library);
    free(dir);
    compiler = popen(command, "w");
    if (!compiler || fputs(clock_source, compiler) < 0 || pclose(compiler) != 0) {
        printf("does not run: %s\n", command);
        exit(1);
    }
}

static void print_and_abort(void)
{
    printf("to stdout\n");
    fflush(stdout);
    fprintf(stderr, "to stderr\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* all: do all processes abort, or does the last one? */
static int in_job(int all)
{
    int rank, size;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (all || rank == size - 1)
        print_and_abort();
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

/* The line's bit, if it is one of those that must come out. */
static int bit_of(const char *line)
{
    static const char *const lines[] = { "to stdout", "to stderr", "Abort(3)" };

    for (int i = 0; i < 3; i++) {
        if (strstr(line, lines[i]))
            return 1 << i;
    }
    return 0;
}

/* Runs a job, with a library preloaded if it is not "". Whether it gave its status, and at least these
 * lines. */
static int complete(const char *words, const char *preload, int lines)
{
    char command[3 * PATH_MAX + 256], line[1024];
    int seen = 0, status;
    FILE *out;

    snprintf(command, sizeof(command), ENV " LD_PRELOAD='%s' timeout -k 5 20 %s -n %s 2>&1 </dev/null",
             preload, mpirun(), words);
    out = popen(command, "r");
    if (!out) {
        perror(command);
        exit(1);
    }
    while (fgets(line, sizeof(line), out))
        seen |= bit_of(line);
    status = pclose(out);
    if ((seen & lines) == lines && status == 3 << 8)
        return 1;
    printf("%s: lines %d of %d, status %d of %d\n", command, seen, lines, status, 3 << 8);
    return 0;
}

int main(int argc, char **argv)
{
    const char *before = getenv("LD_PRELOAD");
    char words[PATH_MAX + 16], library[PATH_MAX];
    int failed = 0;

    if (argc == 2)
        return in_job(strcmp(argv[1], "all") == 0);
    make_clock(argv[0], library, sizeof(library));
    for (int i = 0; i < 12; i++) {
        snprintf(words, sizeof(words), "8 %s last", argv[0]);
        failed += !complete(words, before ? before : "", 7);
    }
    for (int i = 0; i < 6; i++) {
        snprintf(words, sizeof(words), "2 %s all", argv[0]);
        failed += !complete(words, library, 0);
    }
    if (!failed)
        printf(" No Errors\n");
    return failed != 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPIR_CVAR_CH4_THREAD_TRACE in a program that spawns itself: parent and children have the same setting
 * and the same ranks, and each process writes a whole file of its own, with its process id if it was
 * spawned. -r is the number in the name, which the first process gives to the others. */
#include "mt.h"

#define CHILDREN 2

static char name[256];

static void choose_name(void)
{
    const char *folder = getenv("TMPDIR");
    int n = snprintf(name, sizeof(name), "%s/thread_trace_spawn.%llu", folder ? folder : "/tmp",
                     (unsigned long long) mt.seed);

    if (n >= (int) sizeof(name) || setenv("MPIR_CVAR_CH4_THREAD_TRACE", name, 1)) {
        perror("no name for the trace");
        exit(1);
    }
}

/* Whether the file has the beginning and the end of a trace of such a process; it may not have been
 * written yet. spawned: its process id, or 0. */
static int is_whole(const char *path, int rank, int size, int spawned)
{
    char line[1024], process[64], id[64];
    int is_first = 0, is_process = 0, is_last = 0;
    FILE *f = fopen(path, "r");

    if (!f)
        return 0;
    snprintf(process, sizeof(process), "process rank=%d size=%d host=", rank, size);
    snprintf(id, sizeof(id), " spawned=%d\n", spawned);
    for (int n = 0; fgets(line, sizeof(line), f); n++) {
        is_first |= n == 0 && !strcmp(line, "MPICH-TSM thread trace 1\n");
        is_process |= n == 1 && !strncmp(line, process, strlen(process)) &&
            !strstr(line, spawned ? id : " spawned=") == !spawned;
        is_last = !strncmp(line, "end ", 4);
    }
    fclose(f);
    return is_first && is_process && is_last;
}

static void await_file(int rank, int size, int spawned)
{
    char path[300];

    if (spawned)
        snprintf(path, sizeof(path), "%s.%d.%d", name, rank, spawned);
    else
        snprintf(path, sizeof(path), "%s.%d", name, rank);
    while (!is_whole(path, rank, size, spawned))
        usleep(10000);
    unlink(path);
}

static void start_children(char *program, int *pids)
{
    char seed[32], *args[] = { "-r", seed, NULL };
    MPI_Comm children;

    snprintf(seed, sizeof(seed), "%llu", (unsigned long long) mt.seed);
    MT_OK(MPI_Comm_spawn(program, args, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                         MPI_ERRCODES_IGNORE));
    for (int i = 0; i < CHILDREN; i++)
        MT_OK(MPI_Recv(&pids[i], 1, MPI_INT, i, 0, children, MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_disconnect(&children));
}

int main(int argc, char **argv)
{
    int pids[CHILDREN], pid = (int) getpid();
    MPI_Comm parent;

    mt_options(argc, argv, 1, 1);
    if (mt.seed == 1)
        mt.seed = (uint64_t) pid;
    choose_name();
    optind = 1;
    parent = mt_init_spawned(argc, argv, 1, 1);
    if (parent != MPI_COMM_NULL) {
        MT_OK(MPI_Send(&pid, 1, MPI_INT, 0, 0, parent));
        MT_OK(MPI_Comm_disconnect(&parent));
        return mt_finish();
    }
    if (mt.seed == 1)
        mt.seed = (uint64_t) pid;
    start_children(argv[0], pids);
    MT_OK(MPI_Finalize());
    await_file(0, 1, 0);
    for (int i = 0; i < CHILDREN; i++)
        await_file(i, CHILDREN, pids[i]);
    printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The server threads block the program's signals: else one of them, which may hold a VCI, takes a
 * signal that the program has blocked in its own threads. And a child of fork ends by exit, though it
 * has no server thread. */
#include "mt.h"

#include <dirent.h>
#include <sys/wait.h>

/* The first line of /proc/self/task/TASK/FILE that begins with `key`, without the key. */
static void read_line(const char *task, const char *file, const char *key, char *line, int size)
{
    char path[512];
    FILE *f;
    snprintf(path, sizeof(path), "/proc/self/task/%s/%s", task, file);
    f = fopen(path, "r");
    line[0] = 0;
    while (f && fgets(line, size, f) && strncmp(line, key, strlen(key)) != 0)
        line[0] = 0;
    if (f)
        fclose(f);
    memmove(line, line + strlen(key) * (line[0] != 0), strlen(line) + 1);
}

static int is_blocked(unsigned long long mask, int signal)
{
    return (int) (mask >> (signal - 1) & 1);
}

/* 1 if the task is a server thread. */
static int check_task(const char *task)
{
    char line[256];
    unsigned long long mask;
    read_line(task, "comm", "", line, sizeof(line));
    if (strcmp(line, "mpich-server\n") != 0)
        return 0;
    read_line(task, "status", "SigBlk:", line, sizeof(line));
    mask = strtoull(line, NULL, 16);
    MT_CHECK(is_blocked(mask, SIGALRM) && is_blocked(mask, SIGTERM), "mask of a server: %s", line);
    MT_CHECK(!is_blocked(mask, SIGSEGV), "a server blocks the signals of its own faults: %s", line);
    return 1;
}

static void check_servers(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    int servers = 0;
    MT_CHECK(tasks != NULL, "no /proc/self/task");
    while ((task = readdir(tasks)))
        servers += check_task(task->d_name);
    closedir(tasks);
    MT_CHECK(servers == 1, "%d server threads", servers);
}

static void make_child(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        exit(7);
    MT_CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
    MT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child ended with %x", status);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    check_servers();
    make_child();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    return mt_finish();
}

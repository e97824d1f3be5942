/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Wrong control variables: MPI_Init fails after one line that begins with the setting. Empty ones are
 * as those that are not set. With models that have a server thread, only where that is bound to.
 * Starts itself, as programs of one process. */
#define _GNU_SOURCE             /* CPU_COUNT */
#include "alone.h"

#include <dirent.h>
#include <sched.h>

#define CH4 "MPIR_CVAR_CH4_"

static const char *const wrong[] = {
    CH4 "MAX_COMBINE=0", CH4 "TAKEN_PAUSES=0", CH4 "SERVER_THREADS=0", CH4 "SHM_BATCH=-1",
    CH4 "SHM_PREFETCH=-1",
    CH4 "NETMOD_TURN=0", CH4 "NETMOD_TURN=4097", CH4 "EARLY_YIELD=-1", CH4 "OVERSUBSCRIBED=2",
    CH4 "WAIT_SPIN_USEC=-1", CH4 "WAIT_SPIN_USEC=4294967296", CH4 "MAX_COMBINE=2147483648",
    CH4 "OVERSUBSCRIBED=-2147483649",
    CH4 "EARLY_YIELD=99999999999999999999", CH4 "SHM_INJECT=maybe", CH4 "SLICE_EXTENSION=2",
    CH4 "WAIT_POLLS=0", CH4 "POLL_PAUSES=65537", CH4 "POLLER_YIELD=0", CH4 "NAP_TURNS=-1",
    CH4 "TEST_BACKOFF_NSEC=-1", CH4 "TEST_YIELD=0", CH4 "LOCK_SPIN_NSEC=-1", CH4 "ASYNC_PAUSES=65537",
    CH4 "SERVER_NAP_USEC=0", CH4 "MATCH_TABLE=maybe", CH4 "MATCH_PASSED=0",
    CH4 "NUM_VCIS=0", CH4 "NUM_VCIS=1000", CH4 "THREAD_CS=none", CH4 "THREAD_PROGRESS=none",
    CH4 "THREAD_LOCK=none", CH4 "HMCS_LEVELS=9",
    CH4 "THREAD_SUMMARY=3", "MPIR_CVAR_ENABLE_FT=1",
    "MPIR_CVAR_REQUEST_BATCH_SIZE=0", "MPIR_CVAR_REQUEST_POLL_FREQ=0"
};

static const char *const good[] = {
    CH4 "WAIT_SPIN_USEC=2147483647", CH4 "MAX_COMBINE=2147483647", CH4 "SHM_BATCH=+1",
    CH4 "TEST_BACKOFF_NSEC=0", CH4 "ASYNC_PAUSES=65536", CH4 "MATCH_TABLE=0",
    CH4 "NETMOD_TURN=4096", "MPIR_CVAR_REQUEST_BATCH_SIZE=1", "MPIR_CVAR_REQUEST_POLL_FREQ=2147483647",
    CH4 "MAX_COMBINE=", CH4 "SHM_INJECT=", CH4 "SHM_INJECT=off", CH4 "THREAD_CS="
};

#define AFFINITY "MPIR_CVAR_PROGRESS_THREAD_AFFINITY"

static const char *const wrong_places[] = {
    AFFINITY "=x", AFFINITY "=-1", AFFINITY "=1048575", AFFINITY "=0,"
};

/* To the processor that the setting names first, or, with auto, to one of any number. -1: no thread has
 * the name of a server yet, which it takes itself. */
static int is_server_bound(void)
{
    const char *list = getenv(AFFINITY);
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *e;
    int bound = -1;

    while (tasks && (e = readdir(tasks))) {
        char path[300], name[32] = "";
        cpu_set_t set;
        FILE *f;
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        f = fopen(path, "r");
        if (f && fgets(name, sizeof(name), f) && !strcmp(name, "mpich-server\n"))
            bound = !sched_getaffinity(atoi(e->d_name), sizeof(set), &set) && CPU_COUNT(&set) == 1 &&
                (!strcmp(list, "auto") || CPU_ISSET(atoi(list), &set));
        if (f)
            fclose(f);
    }
    closedir(tasks);
    return bound;
}

static int only_bound(void)
{
    int provided, is_bound;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    while ((is_bound = is_server_bound()) < 0)
        sched_yield();
    MPI_Finalize();
    return !is_bound;
}

/* The first processor that this process may use. */
static int first_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;

    sched_getaffinity(0, sizeof(set), &set);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    return cpu;
}

static int tell(const char *setting, int status, int named)
{
    printf("%s: exit status %d, %d lines name it\n", setting, status, named);
    return 1;
}

static int are_refused(const char *program, const char *const *settings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int named, status = start_alone(program, settings[i], settings[i], strlen(settings[i]), &named);
        if (named != 1 || !status)
            return !tell(settings[i], status, named);
    }
    return 1;
}

static int is_taken(const char *program, const char *setting)
{
    int named, status = start_alone(program, setting, "MPIR_CVAR_", strlen("MPIR_CVAR_"), &named);

    return (!named && !status) || !tell(setting, status, named);
}

static int try_places(const char *program)
{
    char list[64];

    snprintf(list, sizeof(list), AFFINITY "=%d,0", first_cpu());
    alone_as = "bound";
    return are_refused(program, wrong_places, sizeof(wrong_places) / sizeof(wrong_places[0])) &&
        is_taken(program, AFFINITY "=auto") && is_taken(program, list);
}

static int try_all(const char *program)
{
    if (!are_refused(program, wrong, sizeof(wrong) / sizeof(wrong[0])))
        return 0;
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        if (!is_taken(program, good[i]))
            return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    const char *served = getenv("MT_SERVED");

    if (is_alone(argc, argv))
        return strcmp(alone_as, "bound") ? only_init() : only_bound();
    if (!(served && !strcmp(served, "yes") ? try_places(argv[0]) : try_all(argv[0])))
        return 1;
    printf(" No Errors\n");
    return 0;
}

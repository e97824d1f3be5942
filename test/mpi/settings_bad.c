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
    CH4 "SHM_PREFETCH=-1", CH4 "SHM_NONTEMPORAL=-2", CH4 "SHM_NONTEMPORAL=2",
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
    "MPIR_CVAR_REQUEST_BATCH_SIZE=0", "MPIR_CVAR_REQUEST_POLL_FREQ=0",
    CH4 "NUM_AM_PACK_BUFFERS_PER_CHUNK=0", CH4 "AM_PACK_BUFFER_SIZE=1024",
    CH4 "SHM_POSIX_IQUEUE_CELL_SIZE=69648"
};

/* Where the library has MPICH's shared memory. */
static const char *const wrong_shm[] = {
    CH4 "SHM_POSIX_IQUEUE_CELL_SIZE=100", CH4 "SHM_POSIX_IQUEUE_NUM_CELLS=0"
};

static const char *const good[] = {
    CH4 "WAIT_SPIN_USEC=2147483647", CH4 "MAX_COMBINE=2147483647", CH4 "SHM_BATCH=+1",
    CH4 "TEST_BACKOFF_NSEC=0", CH4 "ASYNC_PAUSES=65536", CH4 "MATCH_TABLE=0",
    CH4 "NETMOD_TURN=4096", "MPIR_CVAR_REQUEST_BATCH_SIZE=1", "MPIR_CVAR_REQUEST_POLL_FREQ=2147483647",
    CH4 "SHM_POSIX_IQUEUE_CELL_SIZE=32768", CH4 "AM_PACK_BUFFER_SIZE=139264",
    CH4 "MAX_COMBINE=", CH4 "SHM_INJECT=", CH4 "SHM_INJECT=off", CH4 "THREAD_CS="
};

#define AFFINITY "MPIR_CVAR_PROGRESS_THREAD_AFFINITY"
#define TWO CH4 "NUM_VCIS=2 " CH4 "SERVER_THREADS=2 "

static const char *const wrong_places[] = {
    AFFINITY "=x", AFFINITY "=-1", AFFINITY "=1048575", AFFINITY "=0,",
    TWO AFFINITY "=0,x", TWO AFFINITY "=0,"
};

static int servers(void)
{
    const char *n = getenv(CH4 "SERVER_THREADS");

    return n ? atoi(n) : 1;
}

/* Set *all to the processors of the servers. Returns whether each is bound to one; -1 if not all have
 * the name of a server yet, which they take themselves. */
static int find_servers(cpu_set_t * all)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *e;
    int found = 0, bound = 0;

    CPU_ZERO(all);
    while (tasks && (e = readdir(tasks))) {
        char path[300], name[32] = "";
        cpu_set_t set;
        FILE *f;
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        f = fopen(path, "r");
        if (f && fgets(name, sizeof(name), f) && !strcmp(name, "mpich-server\n")) {
            found++;
            bound += !sched_getaffinity(atoi(e->d_name), sizeof(set), &set) && CPU_COUNT(&set) == 1;
            CPU_OR(all, all, &set);
        }
        if (f)
            fclose(f);
    }
    closedir(tasks);
    return found < servers() ? -1 : bound == servers();
}

/* To the processors that the setting names first, or, with auto, to those of any number. */
static int are_servers_bound(void)
{
    const char *list = getenv(AFFINITY);
    cpu_set_t all, named;
    int are_bound = find_servers(&all);

    CPU_ZERO(&named);
    if (are_bound <= 0 || !strcmp(list, "auto"))
        return are_bound;
    for (int i = 0; i < servers(); i++) {
        CPU_SET(atoi(list), &named);
        list += strcspn(list, ",") + 1;
    }
    return CPU_EQUAL(&all, &named);
}

static int only_bound(void)
{
    int provided, is_bound;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    while ((is_bound = are_servers_bound()) < 0)
        sched_yield();
    MPI_Finalize();
    return !is_bound;
}

/* The first and the last processor that this process may use. */
static void find_cpus(int cpu[2])
{
    cpu_set_t set;

    sched_getaffinity(0, sizeof(set), &set);
    for (cpu[0] = 0; !CPU_ISSET(cpu[0], &set);)
        cpu[0]++;
    for (cpu[1] = CPU_SETSIZE - 1; !CPU_ISSET(cpu[1], &set);)
        cpu[1]--;
}

static int tell(const char *setting, int status, int named)
{
    printf("%s: exit status %d, %d lines name it\n", setting, status, named);
    return 1;
}

/* It is the last of the settings that is refused. */
static int is_refused(const char *program, const char *settings)
{
    const char *space = strrchr(settings, ' ');
    const char *wrong_one = space ? space + 1 : settings;
    int named, status = start_alone(program, settings, wrong_one, strlen(wrong_one), &named);

    return (named == 1 && status) || !tell(settings, status, named);
}

static int are_refused(const char *program, const char *const *settings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_refused(program, settings[i]))
            return 0;
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
    char list[256], one_for_two[256], two[256];
    int cpu[2];

    find_cpus(cpu);
    snprintf(list, sizeof(list), AFFINITY "=%d,0", cpu[0]);
    snprintf(one_for_two, sizeof(one_for_two), TWO AFFINITY "=%d", cpu[0]);
    snprintf(two, sizeof(two), TWO AFFINITY "=%d,%d", cpu[1], cpu[0]);
    alone_as = "bound";
    return are_refused(program, wrong_places, sizeof(wrong_places) / sizeof(wrong_places[0])) &&
        is_taken(program, AFFINITY "=auto") && is_taken(program, list) &&
        is_refused(program, one_for_two) && is_taken(program, two) &&
        is_taken(program, TWO AFFINITY "=auto");
}

static int try_all(const char *program)
{
    const char *shm = getenv("MT_SHM");
    const int has_shm = !shm || strcmp(shm, "no") != 0;

    if (!are_refused(program, wrong, sizeof(wrong) / sizeof(wrong[0])))
        return 0;
    if (has_shm && !are_refused(program, wrong_shm, sizeof(wrong_shm) / sizeof(wrong_shm[0])))
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

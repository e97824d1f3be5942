/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The lock in force is the one that MPIR_CVAR_CH4_THREAD_LOCK names, in global and in the models that
 * have a choice; hmcs-usc has hmcs without a name and refuses another; csync refuses any. The same for
 * the model, the kind of progress and the queue of posted operations, whose names may be in any case of
 * letters. Starts itself, as programs of one process. */
#include "alone.h"

#define LOCK "MPIR_CVAR_CH4_THREAD_LOCK="
#define MODEL "MPIR_CVAR_CH4_THREAD_CS="
#define PROGRESS "MPIR_CVAR_CH4_THREAD_PROGRESS="
#define QUEUE "MPIR_CVAR_CH4_POST_QUEUE="

static const char *const locks[] = {
    "mutex", "ticket", "clh", "clh-lpw", "mcs", "hmcs", "hyblock", "adaptive", "futex"
};

typedef struct {
    const char *setting, *line;
    int fails;
} setting_t;

static const setting_t all[] = {
    { LOCK "hmcs MPIR_CVAR_CH4_HMCS_LEVELS=2", "thread lock: hmcs\n", 0 },
    { LOCK "mc", LOCK "mc: unknown; choose one of: mutex, ticket, clh,", 1 }
};

static const setting_t global[] = {
    { MODEL "Global", "thread-cs: global\n", 0 },
    { MODEL "lockq", MODEL "lockq: this library was configured with --enable-thread-cs=global;", 1 },
    { PROGRESS "usc", PROGRESS "usc: not possible with the model global; choose one of: bl", 1 },
    { PROGRESS "BLOCKING", "thread progress: blocking\n", 0 },
    { QUEUE "swp", QUEUE "swp: not possible with the model global, which has no queue", 1 },
    { LOCK, "thread lock: mutex\n", 0 },
    { "MPIR_CVAR_CH4_HMCS_LEVELS=2", "MPIR_CVAR_CH4_HMCS_LEVELS=2: the lock is mutex,", 1 }
};

static const setting_t runtime[] = {
    { MODEL "hmcs-usc", "thread lock: hmcs\n", 0 },
    { MODEL "hmcs-usc " LOCK, "thread lock: hmcs\n", 0 },
    { MODEL "hmcs-usc " LOCK "HMCS", "thread lock: hmcs\n", 0 },
    { MODEL "hmcs-usc " LOCK "mcs", LOCK "mcs: not possible with the model hmcs-usc, whose lock", 1 },
    { MODEL "hmcs-usc " LOCK "futex", LOCK "futex: not possible with the model hmcs-usc, whose", 1 },
    { MODEL "hmcs-usc " LOCK "mc", LOCK "mc: unknown; choose one of: mutex,", 1 },
    { MODEL "per-vci", "thread lock: futex\n", 0 },
    { MODEL "per-vci " LOCK, "thread lock: futex\n", 0 },
    { MODEL "per-vci " LOCK "MCS", "thread lock: mcs\n", 0 },
    { MODEL "csync " LOCK "mcs", LOCK "mcs: not possible with the model csync", 1 },
    { MODEL "csync " LOCK "futex", LOCK "futex: not possible with the model csync", 1 },
    { MODEL "global", MODEL "global: this library was configured with --enable-thread-cs=runtime;", 1 },
    { MODEL "Per-VCI", "thread-cs: per-vci\n", 0 },
    { PROGRESS "server", PROGRESS "server: not possible with the model lockq; choose one of: bl", 1 },
    { MODEL "offload " PROGRESS "usc", PROGRESS "usc: not possible with the model offload;", 1 },
    { MODEL "offload " PROGRESS "SERVER", "thread progress: server\n", 0 },
    { MODEL "hybcomb " PROGRESS "Blocking", "thread progress: blocking\n", 0 },
    { QUEUE "mailbox", QUEUE "mailbox: unknown; choose one of: swp, wait-free\n", 1 },
    { MODEL "mp-server " QUEUE "mailbox", QUEUE "mailbox: not possible with the model mp-", 1 },
    { MODEL "mp-server " QUEUE "swp", QUEUE "swp: not possible with the model mp-server,", 1 },
    { MODEL "per-vci " QUEUE "swp", QUEUE "swp: not possible with the model per-vci,", 1 },
    { MODEL "csync " QUEUE "swp", QUEUE "swp: not possible with the model csync, which has no q", 1 },
    { MODEL "hybcomb " QUEUE "wait-free", QUEUE "wait-free: not possible with the model hyb", 1 },
    { MODEL "hmcs-usc " QUEUE "none", QUEUE "none: not possible with the model hmcs-usc,", 1 },
    { MODEL "per-vci " QUEUE, "thread-cs: per-vci\n", 0 },
    { QUEUE "SWP", "thread-cs: lockq\n", 0 },
    { QUEUE "Wait-Free", "thread-cs: lockq\n", 0 },
    { MODEL "offload " QUEUE "WAIT-FREE", "thread-cs: offload\n", 0 },
    { "MPIR_CVAR_CH4_HMCS_LEVELS=2", "MPIR_CVAR_CH4_HMCS_LEVELS=2: the lock is futex,", 1 }
};

static int check(const char *program, const char *setting, const char *line, int fails)
{
    int named;
    int status = start_alone(program, setting, line, strlen(line), &named);

    if (named == 1 && !status == !fails)
        return 0;
    printf("'%s': exit status %d, %d lines begin with '%s'\n", setting, status, named, line);
    return 1;
}

static int check_each(const char *program, const setting_t * settings, size_t size)
{
    int errors = 0;

    for (size_t i = 0; i < size / sizeof(setting_t); i++)
        errors += check(program, settings[i].setting, settings[i].line, settings[i].fails);
    return errors;
}

static int is_global(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;

    MPI_Get_library_version(version, &len);
    return strstr(version, "--enable-thread-cs=global") != NULL;
}

int main(int argc, char **argv)
{
    char setting[64], line[64];
    int errors = 0;

    if (is_alone(argc, argv))
        return only_init();
    setenv("MPIR_CVAR_DEBUG_SUMMARY", "1", 1);
    unsetenv("MPIR_CVAR_CH4_THREAD_CS");
    for (unsigned i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
        snprintf(setting, sizeof(setting), LOCK "%s", locks[i]);
        snprintf(line, sizeof(line), "thread lock: %s\n", locks[i]);
        errors += check(argv[0], setting, line, 0);
    }
    errors += check_each(argv[0], all, sizeof(all));
    errors += is_global() ? check_each(argv[0], global, sizeof(global)) :
        check_each(argv[0], runtime, sizeof(runtime));
    if (!errors)
        printf(" No Errors\n");
    return errors != 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Wrong control variables: MPI_Init fails after one line that begins with the setting. Empty ones are
 * as those that are not set. Starts itself, as programs of one process. */
#include "alone.h"

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

static int tell(const char *setting, int status, int named)
{
    printf("%s: exit status %d, %d lines name it\n", setting, status, named);
    return 1;
}

int main(int argc, char **argv)
{
    int named, status;

    if (is_alone(argc, argv))
        return only_init();
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        status = start_alone(argv[0], wrong[i], wrong[i], strlen(wrong[i]), &named);
        if (named != 1 || !status)
            return tell(wrong[i], status, named);
    }
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        status = start_alone(argv[0], good[i], "MPIR_CVAR_", strlen("MPIR_CVAR_"), &named);
        if (named || status)
            return tell(good[i], status, named);
    }
    printf(" No Errors\n");
    return 0;
}

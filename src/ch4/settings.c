/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "threads/model.h"
#include "threads/settings.h"
#include "tsm/tsm_atomic.h"

/* Until when a variable may be written: while the program runs, since it is read at each use; before
 * MPI_Init; MPIR_CVAR_CH4_MAX_COMBINE, MPIR_CVAR_CH4_THREAD_SUMMARY: as said below. */
enum { ALWAYS, BEFORE_INIT, COMBINE, SUMMARY };

typedef struct {
    const char *name;
    const void *addr;
    int until;
    int least, most;            /* of an int; the others have 0 and 0, and are checked elsewhere */
} setting_t;

#define NUMBER(name_, until_, least_, most_) { #name_, &name_, until_, least_, most_ }
#define OTHER(name_) { #name_, &name_, BEFORE_INIT, 0, 0 }

static const setting_t settings[] = {
    NUMBER(MPIR_CVAR_CH4_MAX_COMBINE, COMBINE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_WAIT_SPIN_USEC, ALWAYS, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_HMCS_LEVELS, BEFORE_INIT, 0, 8),
    NUMBER(MPIR_CVAR_CH4_SERVER_THREADS, BEFORE_INIT, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_TAKEN_PAUSES, ALWAYS, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_EARLY_YIELD, ALWAYS, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_SHM_BATCH, ALWAYS, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_SHM_PREFETCH, ALWAYS, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_NETMOD_TURN, ALWAYS, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_SHM_INJECT, ALWAYS, 0, 1),
    NUMBER(MPIR_CVAR_CH4_SLICE_EXTENSION, BEFORE_INIT, 0, 1),
    NUMBER(MPIR_CVAR_CH4_OVERSUBSCRIBED, BEFORE_INIT, -1, 1),
    NUMBER(MPIR_CVAR_PROGRESS_TIMEOUT, BEFORE_INIT, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_THREAD_SUMMARY, SUMMARY, 0, 2),
    OTHER(MPIR_CVAR_CH4_THREAD_TRACE_SAMPLE),
    OTHER(MPIR_CVAR_CH4_THREAD_TRACE_SIZE),
    OTHER(MPIR_CVAR_CH4_THREAD_TRACE),
    OTHER(MPIR_CVAR_CH4_THREAD_CS),
    OTHER(MPIR_CVAR_CH4_THREAD_PROGRESS),
    OTHER(MPIR_CVAR_CH4_THREAD_LOCK),
    OTHER(MPIR_CVAR_CH4_POST_QUEUE)
};

#define NUM_SETTINGS ((int) (sizeof(settings) / sizeof(settings[0])))

static TSM_ATOMIC(int) is_started;

/* value: an int, if the variable is a number with limits */
static int is_right(const setting_t * s, const void *value)
{
    const int *number = value;

    return s->least == s->most || (*number >= s->least && *number <= s->most);
}

/* The combining lock and HYBCOMB get the bound when the VCIs are made. */
static int is_fixed(const setting_t * s)
{
    if (s->until == ALWAYS || !tsm_load(&is_started, TSM_RELAXED))
        return 0;
    if (s->until == COMBINE)
        return MPIDI_MODEL_ISSUE == MPIDI_ISSUE_CSYNC || MPIDI_MODEL_ISSUE == MPIDI_ISSUE_HYBCOMB;
#ifdef ENABLE_THREAD_STATS
    return s->until != SUMMARY; /* which is read in MPI_Finalize */
#else
    return 1;
#endif
}

void MPIDI_settings_print(const char *format, ...)
{
    static int has_waited;
    va_list args;

    if (MPIR_Process.rank > 0 && !has_waited)
        nanosleep(&(struct timespec) {1, 0}, NULL);
    has_waited = 1;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

static void print_wrong(const setting_t * s, int value)
{
    if (s->most == INT_MAX)
        MPIDI_settings_print("%s=%d: must be at least %d\n", s->name, value, s->least);
    else
        MPIDI_settings_print("%s=%d: must be from %d to %d\n", s->name, value, s->least, s->most);
}

int MPIDI_settings_start(void)
{
    for (int i = 0; i < NUM_SETTINGS; i++) {
        const setting_t *s = &settings[i];
        if (!is_right(s, s->addr)) {
            print_wrong(s, *(const int *) s->addr);
            return 0;
        }
    }
    tsm_store(&is_started, 1, TSM_RELAXED);
    return 1;
}

int MPIDI_settings_check_write(const void *addr, const void *value)
{
    for (int i = 0; i < NUM_SETTINGS; i++) {
        const setting_t *s = &settings[i];
        if (s->addr == addr && is_fixed(s))
            return MPI_T_ERR_CVAR_SET_NOT_NOW;
        if (s->addr == addr && !is_right(s, value))
            return MPI_T_ERR_INVALID;
    }
    return MPI_SUCCESS;
}

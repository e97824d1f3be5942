/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "threads/settings.h"

/* When a variable is read: at each use; or in MPI_Init, or for MPIR_CVAR_CH4_THREAD_SUMMARY in
 * MPI_Finalize. */
enum { AT_USE, ONCE };

typedef struct {
    const char *name;
    const int *addr;
    int read;
    int least, most;
} setting_t;

#define NUMBER(name_, read_, least_, most_) { #name_, &name_, read_, least_, most_ }

static const setting_t settings[] = {
    NUMBER(MPIR_CVAR_CH4_MAX_COMBINE, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_WAIT_SPIN_USEC, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_HMCS_LEVELS, ONCE, 0, 8),
    NUMBER(MPIR_CVAR_CH4_SERVER_THREADS, ONCE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_TAKEN_PAUSES, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_EARLY_YIELD, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_SHM_BATCH, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_SHM_PREFETCH, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_NETMOD_TURN, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_OVERSUBSCRIBED, ONCE, -1, 1),
    NUMBER(MPIR_CVAR_PROGRESS_TIMEOUT, ONCE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_THREAD_SUMMARY, ONCE, 0, 2)
};

#define NUM_SETTINGS ((int) (sizeof(settings) / sizeof(settings[0])))

static int is_right(const setting_t * s, const int *value)
{
    return *value >= s->least && *value <= s->most;
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
            print_wrong(s, *s->addr);
            return 0;
        }
    }
    return 1;
}

int MPIDI_settings_check_write(const void *addr, const void *value)
{
    for (int i = 0; i < NUM_SETTINGS; i++) {
        const setting_t *s = &settings[i];
        if (s->addr == addr && s->read == AT_USE && !is_right(s, value))
            return MPI_T_ERR_INVALID;
    }
    return MPI_SUCCESS;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "threads/settings.h"

/* The limits of back-off. The other variables are in model.c or beside the code that reads them.

=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_CH4_WAIT_POLLS
      category    : CH4_THREADS
      type        : int
      default     : 8
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        With more threads than processors, the polls in vain after which a waiting thread yields or
        sleeps, and an idle server thread sleeps. It is the most: a thread whose waits end in sleep
        makes fewer. At least 1.

    - name        : MPIR_CVAR_CH4_POLL_PAUSES
      category    : CH4_THREADS
      type        : int
      default     : 16
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most pauses of the processor that a waiting thread makes after a poll in vain; it begins
        with 2. The only thread of a process makes 1, while it has a processor of its own.
        MPIR_CVAR_CH4_TAKEN_PAUSES is about polls that find the lock taken. From 1 to 65536.

    - name        : MPIR_CVAR_CH4_POLLER_YIELD
      category    : CH4_THREADS
      type        : int
      default     : 8
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        With more threads than processors, the thread that polls for threads that sleep yields at the
        first power of 2 that is no less than this number of polls in vain, and at each later one. At
        least 1.

    - name        : MPIR_CVAR_CH4_NAP_TURNS
      category    : CH4_THREADS
      type        : int
      default     : 64
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        With more threads than processors, the turns in vain after which a wait that no other thread
        ends by a wake sleeps for 50 microseconds where it would yield. Progress usc and server only.
        At least 0.

    - name        : MPIR_CVAR_CH4_TEST_BACKOFF_NSEC
      category    : CH4_THREADS
      type        : int
      default     : 16000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most nanoseconds for which a nonblocking call such as MPI_Test leaves alone a lock that it
        has found taken; the first time 250, and never more than 250 for each processor. Progress
        backoff and usc only. 0: it always tries.

    - name        : MPIR_CVAR_CH4_TEST_YIELD
      category    : CH4_THREADS
      type        : int
      default     : 32
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        With more threads than processors, a thread yields once after this many nonblocking calls
        without result. At least 1.

    - name        : MPIR_CVAR_CH4_LOCK_SPIN_NSEC
      category    : CH4_THREADS
      type        : int
      default     : 8000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Nanoseconds for which a thread that must have the lock of a VCI tries it before it sleeps, if
        the lock is futex or mutex and there is a processor for each thread. 0: it sleeps at once.

    - name        : MPIR_CVAR_CH4_ASYNC_PAUSES
      category    : CH4_THREADS
      type        : int
      default     : 1024
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most pauses of the processor that the asynchronous progress thread
        (MPIR_CVAR_ASYNC_PROGRESS) makes after polls in vain, while there is a processor for each
        thread; it begins with 2. From 0 to 65536.

    - name        : MPIR_CVAR_CH4_SERVER_NAP_USEC
      category    : CH4_THREADS
      type        : int
      default     : 1000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most microseconds for which an idle server thread sleeps before it polls again. At least 1.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* When a variable is read: at each use; or in MPI_Init, or for MPIR_CVAR_CH4_THREAD_SUMMARY in
 * MPI_Finalize. */
enum { AT_USE, ONCE };

/* Some 2 ms: a thread that pauses sees nothing. */
#define MOST_PAUSES 65536

/* Some ms: a message from the network waits for as many polls. */
#define MOST_TURNS 4096

typedef struct {
    const char *name;
    const int *addr;
    int read;
    int least, most;
} setting_t;

#define NUMBER(name_, read_, least_, most_) { #name_, &name_, read_, least_, most_ }

/* The first four are MPICH's: with 0 a call on a list of requests never ends, or MPICH divides by it;
 * and a buffer has room for the longest active message of a network. */
static const setting_t settings[] = {
    NUMBER(MPIR_CVAR_REQUEST_BATCH_SIZE, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_REQUEST_POLL_FREQ, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_NUM_AM_PACK_BUFFERS_PER_CHUNK, ONCE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE, ONCE, 16 * 1024, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_MAX_COMBINE, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_WAIT_SPIN_USEC, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_HMCS_LEVELS, ONCE, 0, 8),
    NUMBER(MPIR_CVAR_CH4_SERVER_THREADS, ONCE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_TAKEN_PAUSES, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_EARLY_YIELD, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_WAIT_POLLS, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_POLL_PAUSES, AT_USE, 1, MOST_PAUSES),
    NUMBER(MPIR_CVAR_CH4_POLLER_YIELD, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_NAP_TURNS, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_TEST_BACKOFF_NSEC, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_TEST_YIELD, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_LOCK_SPIN_NSEC, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_ASYNC_PAUSES, AT_USE, 0, MOST_PAUSES),
    NUMBER(MPIR_CVAR_CH4_SERVER_NAP_USEC, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_MATCH_PASSED, ONCE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_SHM_BATCH, AT_USE, 1, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_SHM_PREFETCH, AT_USE, 0, INT_MAX),
    NUMBER(MPIR_CVAR_CH4_SHM_NONTEMPORAL, ONCE, -1, 1),
    NUMBER(MPIR_CVAR_CH4_NETMOD_TURN, AT_USE, 1, MOST_TURNS),
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

/* What a buffer is for may come from shared memory, a cell at a time. */
static int cells_fit_buffers(void)
{
    const int cell = MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE;
    const int buffer = MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE;

    if (cell > buffer)
        MPIDI_settings_print("MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE=%d: must be at most "
                             "MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE, %d\n", cell, buffer);
    return cell <= buffer;
}

/* The environment asks for ghosts, which this library does not have. */
static void report_no_ghosts(void)
{
#ifndef ENABLE_CASPER
    const char *ghosts = getenv("CSP_NG");

    if (ghosts && ghosts[0] && strcmp(ghosts, "0") && MPIR_Process.rank == 0)
        fprintf(stderr, "CSP_NG=%s: ignored, since this library was configured without "
                "--enable-casper\n", ghosts);
#endif
}

int MPIDI_settings_start(void)
{
    report_no_ghosts();
    for (int i = 0; i < NUM_SETTINGS; i++) {
        const setting_t *s = &settings[i];
        if (!is_right(s, s->addr)) {
            print_wrong(s, *s->addr);
            return 0;
        }
    }
    return cells_fit_buffers();
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

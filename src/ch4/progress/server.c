/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* A server polls its VCIs, which also issues what is posted there, and the progress hooks. With nothing
 * to do it spins, then sleeps behind its bell, but for a millisecond at most: a peer may want to read
 * or write our memory, and a message under way goes on, while the program computes. It stays awake
 * while another thread of the program sleeps in MPI. */

#include "mpidimpl.h"

#include <sched.h>

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/progress/server.h"
#include "threads/progress/watchdog.h"
#include "threads/served.h"
#include "threads/settings.h"
#include "tsm/tsm_load.h"
#include "tsm/tsm_patience.h"
#include "tsm/tsm_wait.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_CH4_SERVER_THREADS
      category    : CH4_THREADS
      type        : int
      default     : 1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Threads that drive the VCIs of a process in the thread-safety models offload and mp-server:
        VCI i belongs to thread i modulo this number. At least 1; at most one for each VCI is
        started. MPIR_CVAR_PROGRESS_THREAD_AFFINITY binds them.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* Polls in vain between two yields of a server while threads outnumber processors. */
#define POLLS_BEFORE_YIELD 8

/* Seconds for which a program that ends without MPI_Finalize waits for the servers. */
#define EXIT_SECONDS 1

typedef struct server {
    int index;
    pthread_t thread;
    unsigned idle;              /* polls in a row that found nothing */
    tsm_patience_t patience;
} server_t;

/* Each of its VCIs. */
#define FOREACH_VCI(vci_, me_) \
    for (int vci_ = (me_)->index; vci_ < MPIDI_global.n_vcis; vci_ += MPIDI_served.servers)

static server_t *servers;
static TSM_ATOMIC(int) stopping;
static pid_t pid;               /* of the process that started them: a child has no servers */

static int has_posted(const server_t * me)
{
    FOREACH_VCI(vci, me) {
        if (MPIDI_section_has_posted(&MPIDI_VCI(vci).threads))
            return 1;
    }
    return 0;
}

/* Poll everything once. The first server runs the progress hooks. */
static int poll_all(server_t * me)
{
    int mpi_errno = MPI_SUCCESS;
    int made_progress = 0;

    if (me->index == 0)
        mpi_errno = MPIR_Progress_hook_exec_all(&made_progress);
    FOREACH_VCI(vci, me) {
        int err;
        MPIDI_poll_give_way(vci);
        err = MPIDI_poll(vci, MPIDI_PROGRESS_ALL, 1);
        mpi_errno = mpi_errno ? mpi_errno : err;
    }
    return mpi_errno;
}

/* Returns whether it found anything to do. */
static int serve_once(server_t * me)
{
    unsigned done = MPIDI_thread_done();
    int posted = has_posted(me);
    int mpi_errno = poll_all(me);

    if (mpi_errno != MPI_SUCCESS)
        MPIDI_served_set_error(mpi_errno);
    return done != MPIDI_thread_done() || (posted && !has_posted(me));
}

static void nap(server_t * me)
{
    tsm_bell_t *bell = &MPIDI_served.server[me->index].bell;

    tsm_bell_arm(bell);
    if (!has_posted(me) && tsm_load(&MPIDI_served.sleepers, TSM_SEQ_CST) == 0 &&
        !tsm_load(&stopping, TSM_SEQ_CST)) {
        tsm_bell_sleep(bell, 1000 * (uint64_t) MPIR_CVAR_CH4_SERVER_NAP_USEC);
        MPIDI_STATS(MPIDI_STATS_COUNT(server_naps, 1);
                    MPIDI_STATS_COUNT(server_rung, tsm_bell_is_rung(bell)));
    }
    tsm_bell_disarm(bell);
}

static void rest(server_t * me)
{
    int is_wanted = tsm_load(&MPIDI_served.sleepers, TSM_RELAXED) != 0;

    if (me->idle++ == 0)
        tsm_patience_begin(&me->patience, 1000 * (uint64_t) MPIR_CVAR_CH4_WAIT_SPIN_USEC,
                           (uint32_t) MPIR_CVAR_CH4_WAIT_POLLS);
    if (tsm_patience_step(&me->patience, 1) == TSM_PATIENCE_SLEEP && !is_wanted)
        nap(me);
    else if (me->idle % POLLS_BEFORE_YIELD == 0 && tsm_load_crowded())
        MPIDI_section_offer();
    else
        tsm_cpu_pause();
}

static void *serve(void *arg)
{
    server_t *me = arg;

    pthread_setname_np(pthread_self(), "mpich-server");
    MPIDI_thread_local.is_server = 1;
    MPIDI_watchdog_driver();
    while (!tsm_load(&stopping, TSM_ACQUIRE)) {
        MPIDI_STATS(MPIDI_STATS_COUNT(server_turns, 1));
        if (serve_once(me)) {
            me->idle = 0;
        } else {
            MPIDI_STATS(MPIDI_STATS_COUNT(server_idle, 1));
            rest(me);
        }
    }
    return NULL;
}

typedef struct {
    cpu_set_t bits[TSM_LOAD_CPUS / CPU_SETSIZE];
} cpus_t;

/* The processors of this thread, or, if it is bound to so few that none is left beside its servers, all
 * that the kernel lets it have: it cuts a mask to those of the container. Returns 0 on failure. */
static int allowed_cpus(cpus_t * set)
{
    cpus_t mine;

    if (sched_getaffinity(0, sizeof(mine), mine.bits))
        return 0;
    *set = mine;
    if (CPU_COUNT_S(sizeof(mine), mine.bits) > MPIDI_served.servers)
        return 1;
    memset(set, 0xff, sizeof(*set));
    if (sched_setaffinity(0, sizeof(*set), set->bits) ||
        sched_getaffinity(0, sizeof(*set), set->bits))
        *set = mine;
    return sched_setaffinity(0, sizeof(mine), mine.bits) == 0;
}

/* The processor for an entry of auto, from the end of the allowed ones: a container or a launcher may
 * allow a few out of many. -1 if they are not known. */
static int allowed_cpu(int entry)
{
    cpus_t allowed;
    cpu_set_t *const set = allowed.bits;
    int cpu = TSM_LOAD_CPUS, count, later;

    if (!allowed_cpus(&allowed))
        return -1;
    count = CPU_COUNT_S(sizeof(allowed), set);
    later = count > 0 ? entry % count : 0;
    while (--cpu >= 0) {
        if (CPU_ISSET_S(cpu, sizeof(allowed), set) && later-- == 0)
            break;
    }
    return cpu;
}

/* Set *cpu to the processor of a server, -1 for none. Returns 0 if the CVAR is no list or too short. */
static int find_cpu(int index, int *cpu)
{
    const char *list = MPIR_CVAR_PROGRESS_THREAD_AFFINITY;
    int entry = MPIR_Process.local_rank * MPIDI_served.servers + index;
    long value;
    char *end;

    *cpu = -1;
    if (!list || !*list)
        return 1;
    if (!strcmp(list, "auto")) {
        *cpu = allowed_cpu(entry);
        return 1;
    }
    for (int i = 0;; i++) {     /* to the end: a bad list is bad for every process */
        value = strtol(list, &end, 10);
        if (end == list || value < 0 || value >= TSM_LOAD_CPUS || (*end && *end != ','))
            return 0;
        if (i == entry)
            *cpu = (int) value;
        if (!*end)
            break;
        list = end + 1;
    }
    return *cpu >= 0;
}

static int bind_server(const server_t * me)
{
    int cpu, err;

    if (!find_cpu(me->index, &cpu)) {
        MPIDI_settings_print("MPIR_CVAR_PROGRESS_THREAD_AFFINITY=%s: must be auto or a list of "
                             "processors such as 0,1, with one for each server of each process of "
                             "the node (%d in each)\n", MPIR_CVAR_PROGRESS_THREAD_AFFINITY,
                             MPIDI_served.servers);
        return 0;
    }
    if (cpu < 0)
        return 1;
    MPL_thread_set_affinity(me->thread, &cpu, 1, &err);
    if (err)
        MPIDI_settings_print("MPIR_CVAR_PROGRESS_THREAD_AFFINITY=%s: cannot bind a thread to "
                             "processor %d\n", MPIR_CVAR_PROGRESS_THREAD_AFFINITY, cpu);
    return !err;
}

/* The program's signals are for its own threads, but for those of our own faults. */
static int create_thread(server_t * me)
{
    sigset_t mask, old;
    int err;

    sigfillset(&mask);
    sigdelset(&mask, SIGSEGV);
    sigdelset(&mask, SIGBUS);
    sigdelset(&mask, SIGFPE);
    sigdelset(&mask, SIGILL);
    sigdelset(&mask, SIGTRAP);  /* of a debugger */
    pthread_sigmask(SIG_SETMASK, &mask, &old);
    err = pthread_create(&me->thread, NULL, serve, me);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err;
}

static int start(server_t * me)
{
    int err;

    tsm_bell_init(&MPIDI_served.server[me->index].bell);
    err = create_thread(me);
    if (err)
        fprintf(stderr, "MPI_Init: cannot start a thread that drives communication: %s\n",
                strerror(err));
    return !err;
}

static void ask_to_stop(void)
{
    tsm_store(&MPIDI_served.on, 0, TSM_RELAXED);
    tsm_store(&stopping, 1, TSM_SEQ_CST);
    MPIDI_served_ring_all();
}

/* Stop the first n servers. */
static void stop(int n)
{
    ask_to_stop();
    for (int i = 0; i < n; i++)
        pthread_join(servers[i].thread, NULL);
    MPL_free(servers);
    servers = NULL;
    tsm_store(&stopping, 0, TSM_RELAXED);
}

/* The program ends without MPI_Finalize, perhaps by an error: no server may use libraries that are
 * being unloaded. The thread that exits may hold a lock, so the wait for the servers is limited. */
static void stop_at_exit(void)
{
    struct timespec end;

    if (!tsm_load(&MPIDI_served.on, TSM_RELAXED) || MPIDI_thread_local.is_server ||
        getpid() != pid)
        return;
    ask_to_stop();
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += EXIT_SECONDS;
    for (int i = 0; i < MPIDI_served.servers; i++)
        pthread_timedjoin_np(servers[i].thread, NULL, &end);
}

int MPIDI_server_start(void)
{
    int mpi_errno = MPI_SUCCESS;
    int n = MPL_MIN(MPIR_CVAR_CH4_SERVER_THREADS, MPIDI_global.n_vcis);
    int started = 0, ok = 1;

    if (!MPIDI_server_is_used() || !MPIR_ThreadInfo.isThreaded || !MPIR_Process.comm_world ||
        tsm_load(&MPIDI_served.on, TSM_RELAXED))
        goto fn_exit;
    servers = MPL_calloc(n, sizeof(*servers), MPL_MEM_THREAD);
    MPIR_ERR_CHKANDJUMP(!servers, mpi_errno, MPI_ERR_NO_MEM, "**nomem");
    MPIDI_served.servers = n;
    tsm_store(&MPIDI_served.error, MPI_SUCCESS, TSM_RELAXED);   /* of servers before */
    while (ok && started < n) {
        servers[started].index = started;
        ok = start(&servers[started]);
        if (ok)
            ok = bind_server(&servers[started++]);
    }
    if (!ok)
        stop(started);
    MPIR_ERR_CHKANDJUMP(!ok, mpi_errno, MPI_ERR_OTHER, "**other");
    tsm_store(&MPIDI_served.on, 1, TSM_RELEASE);
    if (!pid)
        atexit(stop_at_exit);
    pid = getpid();

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIDI_server_is_used(void)
{
    return MPIDI_model.progress == MPIDI_PROGRESS_SERVER_KIND;
}

void MPIDI_server_stop(void)
{
    if (!tsm_load(&MPIDI_served.on, TSM_RELAXED))
        return;
    stop(MPIDI_served.servers);
}

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "threads/model.h"
#include "threads/post_queue.h"
#include "threads/settings.h"
#include "tsm/lock/tsm_lock_kind.h"
#include "tsm/tsm_load.h"
#include "tsm/tsm_slice.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

categories:
    - name        : CH4_THREADS
      description : thread-safety models of the CH4 device (control and performance variables, events)

cvars:
    - name        : MPIR_CVAR_CH4_THREAD_CS
      category    : CH4_THREADS
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Thread-safety model of MPI_THREAD_MULTIPLE, one of: @TSM_MODELS@. A library configured with
        --enable-thread-cs=runtime takes one of: @TSM_MODELS_RUNTIME@ (the first is the default); any
        other accepts only the model it was configured with.

    - name        : MPIR_CVAR_CH4_THREAD_PROGRESS
      category    : CH4_THREADS
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        How a waiting thread drives progress, one of: @TSM_PROGRESS@. Empty: as configured. The model
        global has blocking only; offload and mp-server have server only.

    - name        : MPIR_CVAR_CH4_THREAD_LOCK
      category    : CH4_THREADS
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The lock of each VCI in a library configured with --enable-thread-cs=runtime, and of the
        process with --enable-thread-cs=global; one of: @TSM_LOCKS@. Empty: hmcs with the model
        hmcs-usc, else as configured (--with-thread-lock). Any other library accepts only the lock it
        was configured with, the model hmcs-usc only hmcs, and the model csync, which has a lock of
        its own, none. A lock chosen here is called through a pointer, which takes a little longer
        than a configured one.

    - name        : MPIR_CVAR_CH4_HMCS_LEVELS
      category    : CH4_THREADS
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most levels of the lock hmcs, from 1 to 8, where the program chooses it: in a library
        configured with --enable-thread-cs=runtime or global and another lock. 0: as configured
        (--with-hmcs-levels).

    - name        : MPIR_CVAR_CH4_POST_QUEUE
      category    : CH4_THREADS
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The queue of posted operations of the models lockq and offload, one of: swp, a linked list with
        one atomic exchange for each post; wait-free, a queue on fetch-and-add in segments, for
        comparison. Empty: swp. All other models refuse it; mp-server always has mailboxes.

    - name        : MPIR_CVAR_CH4_MAX_COMBINE
      category    : CH4_THREADS
      type        : int
      default     : 1024
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most operations that a thread issues for other threads at a time: with lockq when it enters
        the VCI, and again when it leaves; with csync its own included, so that 1 means no combining;
        with hybcomb as a combiner; with offload and mp-server the server thread in one poll. Calls that
        must wait for the lock of the VCI issue all that is posted. At least 1.

    - name        : MPIR_CVAR_CH4_WAIT_SPIN_USEC
      category    : CH4_THREADS
      type        : int
      default     : 1000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Microseconds that a thread polls without result before it sleeps, while there is a processor
        for each thread that wants one: a waiting thread with progress usc or server, and an idle
        server thread. With more threads than processors it sleeps after a few polls. At least 0.

    - name        : MPIR_CVAR_CH4_TAKEN_PAUSES
      category    : CH4_THREADS
      type        : int
      default     : 1024
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most pauses of the processor that a waiting thread makes between two attempts at the lock
        of a VCI, if it finds the lock taken each time and there is a processor for each thread; never
        more than 32 for each processor. Meanwhile the thread looks at its own request. At least 1; if
        no more than MPIR_CVAR_CH4_POLL_PAUSES, it makes no long pauses.

    - name        : MPIR_CVAR_CH4_OVERSUBSCRIBED
      category    : CH4_THREADS
      type        : int
      default     : -1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Whether more threads want a processor than there are: -1: measured while the program runs;
        0: never; 1: always.

    - name        : MPIR_CVAR_CH4_EARLY_YIELD
      category    : CH4_THREADS
      type        : int
      default     : 4
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        With more threads than processors, a thread that has taken in this many active messages before
        their receives were posted yields once, so that the receiving threads can run. 0: never.

    - name        : MPIR_CVAR_CH4_SHM_BATCH
      category    : CH4_THREADS
      type        : int
      default     : 8
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most messages that one poll takes from shared memory. At least 1, as in MPICH. The poll of
        a nonblocking call ends with the first request that completes.

    - name        : MPIR_CVAR_CH4_SHM_PREFETCH
      category    : CH4_THREADS
      type        : int
      default     : 2
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        A send within a node prefetches the cache lines of the message that comes this many messages
        later, unless another sender interferes; and a message that finds its receive prefetches the
        next one that was posted for the same source and tag. 0: no prefetch.

    - name        : MPIR_CVAR_CH4_SHM_NONTEMPORAL
      category    : CH4_THREADS
      type        : int
      default     : -1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Whether a send within a node copies contiguous data of 4096 bytes and more into shared memory
        past the caches (non-temporal stores, on x86-64). -1: if that has lately been the faster way,
        for each receiver and size; 0: never; 1: always.

    - name        : MPIR_CVAR_CH4_NETMOD_TURN
      category    : CH4_THREADS
      type        : int
      default     : 64
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        While shared memory brings messages, a thread that waits alone polls the netmod only once in
        this many messages and polls in vain. A poll of one of several threads, with more threads than
        processors or several VCIs, or of MPI_Test counts as 8; and MPI_Test or the begin of a wait
        polls it after 10 microseconds. From 1, as in MPICH, to 4096. A job on one node that never
        connected to another one polls it 64 times more seldom, and after 1 millisecond.

    - name        : MPIR_CVAR_CH4_SHM_INJECT
      category    : CH4_THREADS
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Send a short message within a node without a request.

    - name        : MPIR_CVAR_CH4_SLICE_EXTENSION
      category    : CH4_THREADS
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        A thread that holds a lock asks the kernel for a few microseconds more if its time slice ends,
        where the kernel offers that (Linux 7.0 with glibc 2.41, or later).

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

typedef struct {
    const char *name;
    const char *alias;
    int issue;
    int progress;
    const char *lock;
    int locks;
    int in_runtime;
} row_t;

#define WHERE_own 0
#define WHERE_runtime 1
enum { LOCKS_ANY, LOCKS_ONE, LOCKS_BESIDE };
#define TSM_PROGRESS(id_, name_, scope_, help_)
#define TSM_MODEL(id_, name_, alias_, issue_, progress_, scope_, lock_, locks_, where_, help_) \
    { name_, alias_, MPIDI_ISSUE_##issue_, MPIDI_PROGRESS_##progress_##_KIND, lock_, LOCKS_##locks_, \
      WHERE_##where_ },
static const row_t rows[] = {
#include "threads/models.def"
};
#undef TSM_MODEL
#undef TSM_PROGRESS

#define TSM_MODEL(id_, name_, alias_, issue_, progress_, scope_, lock_, locks_, where_, help_)
#define TSM_PROGRESS(id_, name_, scope_, help_) name_,
static const char *const kinds[] = {
#include "threads/models.def"
};
#undef TSM_MODEL
#undef TSM_PROGRESS

#define NUM_ROWS ((int) (sizeof(rows) / sizeof(rows[0])))
#define NUM_KINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))
#define IS_VCI_LOCKED (MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI)

#ifdef TSM_LOCK_KIND
#define LOCK_NAME tsm_lock_name()
#else
#define LOCK_NAME "that of the thread package"
#endif

MPIDI_model_t MPIDI_model;

/* 1 if this library can use the row. */
static int has_row(int row)
{
    return MPIDI_MODEL_CONFIGURED == MPIDI_MODEL_RUNTIME ? rows[row].in_runtime :
        row == (int) MPIDI_MODEL_CONFIGURED;
}

static int find_row(const char *name)
{
    for (int i = 0; i < NUM_ROWS; i++) {
        if (!strcasecmp(name, rows[i].name) || (*rows[i].alias && !strcasecmp(name, rows[i].alias)))
            return i;
    }
    return -1;
}

static int default_row(void)
{
    int i = 0;

    while (!has_row(i))
        i++;
    return i;
}

/* The models of this library. */
static void print_rows(void)
{
    const char *between = "";

    for (int i = 0; i < NUM_ROWS; i++) {
        if (has_row(i)) {
            MPIDI_settings_print("%s%s", between, rows[i].name);
            between = ", ";
        }
    }
    MPIDI_settings_print("\n");
}

/* Set the row from the CVAR or the default. Prints an error and returns 0 if this is not possible. */
static int choose_row(const char *name)
{
    int row = name && *name ? find_row(name) : default_row();

    if (row < 0) {
        MPIDI_settings_print("MPIR_CVAR_CH4_THREAD_CS=%s: unknown thread-safety model; "
                             "choose one of: ", name);
        print_rows();
    } else if (!has_row(row)) {
        MPIDI_settings_print("MPIR_CVAR_CH4_THREAD_CS=%s: this library was configured with "
                             "--enable-thread-cs=%s; choose one of: ", name, MPICH_THREAD_CS_NAME);
        print_rows();
    } else {
        MPIDI_model.row = row;
        MPIDI_model.issue = rows[row].issue;
        MPIDI_model.progress = rows[row].progress;
    }
    return row >= 0 && has_row(row);
}

static int find_kind(const char *name)
{
    int i = 0;

    while (i < NUM_KINDS && strcasecmp(name, kinds[i]))
        i++;
    return i;
}

/* 1 if the model in force can have this kind of progress. */
static int fits(int kind)
{
    const int server = MPIDI_PROGRESS_SERVER_KIND;

    if (!IS_VCI_LOCKED)
        return kind == MPIDI_PROGRESS_BLOCKING_KIND;
    return (kind == server) == (rows[MPIDI_model.row].progress == server);
}

static void print_unfit(const char *name)
{
    const char *between = "";

    MPIDI_settings_print("MPIR_CVAR_CH4_THREAD_PROGRESS=%s: not possible with the model %s; "
                         "choose one of: ", name, rows[MPIDI_model.row].name);
    for (int i = 0; i < NUM_KINDS; i++) {
        if (fits(i)) {
            MPIDI_settings_print("%s%s", between, kinds[i]);
            between = ", ";
        }
    }
    MPIDI_settings_print("\n");
}

/* Set the kind of progress from the CVAR, or as configured if the model can have that. */
static int choose_progress(const char *name)
{
    int given = name && *name;
    int kind = find_kind(given ? name : MPICH_THREAD_PROGRESS_NAME);

    if (!given && kind == NUM_KINDS)    /* "default" */
        return 1;
    if (kind == NUM_KINDS) {
        MPIDI_settings_print("MPIR_CVAR_CH4_THREAD_PROGRESS=%s: unknown; choose one of:", name);
        for (int i = 0; i < NUM_KINDS; i++)
            MPIDI_settings_print("%s %s", i ? "," : "", kinds[i]);
        MPIDI_settings_print("\n");
        return 0;
    }
    if (fits(kind))
        MPIDI_model.progress = kind;
    else if (given)
        print_unfit(name);
    return fits(kind) || !given;
}

/* Set the queue of posted operations from the CVAR or the default. */
static int choose_post_queue(const char *name)
{
    int issue = MPIDI_model.issue;
    int has_choice = issue == MPIDI_ISSUE_LOCKQ || issue == MPIDI_ISSUE_OFFLOAD;

    MPIDI_model.post_queue = issue == MPIDI_ISSUE_MP_SERVER ? MPIDI_POST_QUEUE_MAILBOX :
        MPIDI_POST_QUEUE_SWP;
    if (!name || !*name)
        return 1;
    if (!has_choice) {
        MPIDI_settings_print("MPIR_CVAR_CH4_POST_QUEUE=%s: not possible with the model %s, which "
                             "has no queue to choose\n", name, rows[MPIDI_model.row].name);
        return 0;
    }
    if (!strcasecmp(name, "swp"))
        return 1;
    if (!strcasecmp(name, "wait-free")) {
        MPIDI_model.post_queue = MPIDI_POST_QUEUE_WAIT_FREE;
        return 1;
    }
    MPIDI_settings_print("MPIR_CVAR_CH4_POST_QUEUE=%s: unknown; "
                         "choose one of: swp, wait-free\n", name);
    return 0;
}

/* Where no lock is compiled in but one, the variable may name that. */
static int is_only_lock(const char *name)
{
    const int is_it = !strcasecmp(name, LOCK_NAME) && MPIDI_MODEL_LOCK != MPIDI_LOCK_COMBINING;

    if (!is_it)
        MPIDI_settings_print("MPIR_CVAR_CH4_THREAD_LOCK=%s: this library was configured with "
                             "--enable-thread-cs=%s and has no lock to choose\n",
                             name, MPICH_THREAD_CS_NAME);
    return is_it;
}

/* Set MPIDI_model.lock_kind to the lock of that name, unless it is the one of configure. */
static int choose_kind(const char *name)
{
    const tsm_lock_kind_t *kind = tsm_lock_kind(name);

    if (!kind)
        MPIDI_settings_print("MPIR_CVAR_CH4_THREAD_LOCK=%s: unknown; choose one of: %s\n",
                             name, tsm_lock_kind_names());
    else if (strcmp(kind->name, LOCK_NAME))
        MPIDI_model.lock_kind = kind;
    return kind != NULL;
}

/* Set the lock of the VCIs from the CVAR, or that of the row if it is not that of all others. In
 * global, whose mutexes have chosen for themselves (mpidu_chosen_lock.h), check the name. */
static int choose_lock(const char *name)
{
    int given = name && *name;
    const char *own = rows[MPIDI_model.row].lock;

    MPIDI_model.lock = MPIDI_MODEL_ISSUE == MPIDI_ISSUE_CSYNC ? MPIDI_LOCK_COMBINING :
        MPIDI_LOCK_OWN;
    MPIDI_model.lock_kind = NULL;
    if (MPIDI_MODEL_CONFIGURED == MPIDI_MODEL_GLOBAL)
        return !given || choose_kind(name);
    if (MPIDI_MODEL_CONFIGURED != MPIDI_MODEL_RUNTIME)
        return !given || is_only_lock(name);
    if (given && MPIDI_model.lock == MPIDI_LOCK_COMBINING) {
        MPIDI_settings_print("MPIR_CVAR_CH4_THREAD_LOCK=%s: not possible with the model %s, whose VCIs "
                             "have a lock of their own\n", name, rows[MPIDI_model.row].name);
        return 0;
    }
    if (!given && !strcmp(own, rows[default_row()].lock))
        return 1;
    if (!choose_kind(given ? name : own))
        return 0;
    if (given && rows[MPIDI_model.row].locks == LOCKS_ONE && strcasecmp(name, own)) {
        MPIDI_settings_print("MPIR_CVAR_CH4_THREAD_LOCK=%s: not possible with the model %s, whose lock "
                             "is always %s; per-vci may have any\n", name, rows[MPIDI_model.row].name,
                             own);
        return 0;
    }
    if (!MPIDI_model.lock_kind)
        return 1;
    if (MPIDI_model.issue == MPIDI_ISSUE_LOCKQ)
        MPIDI_model.issue = MPIDI_ISSUE_LOCKQ_CHOSEN;
    MPIDI_model.lock = MPIDI_LOCK_CHOSEN;
    return 1;
}

void MPIDI_model_names(const char **model, const char **progress, const char **lock)
{
    *model = rows[MPIDI_model.row].name;
    *progress = kinds[MPIDI_model.progress];
    *lock = MPIDI_model.lock_kind ? MPIDI_model.lock_kind->name : LOCK_NAME;
}

#ifdef ENABLE_THREAD_STATS
int MPIDI_model_may_choose_lock(void)
{
    return rows[MPIDI_model.row].locks == LOCKS_ANY;
}
#endif

/* Set the levels of hmcs from the CVAR, which no other lock has. */
static int choose_levels(int levels)
{
    const char *model, *progress, *lock;

    MPIDI_model_names(&model, &progress, &lock);
    if (levels == 0)
        return 1;
    if (MPIDI_model.lock_kind && !strcmp(lock, "hmcs")) {
        tsm_lock_hmcs_levels((uint32_t) levels);
        return 1;
    }
    MPIDI_settings_print("MPIR_CVAR_CH4_HMCS_LEVELS=%d: the lock is %s, %s\n", levels,
                         lock, strcmp(lock, "hmcs") ? "which has no levels" :
                         "with the levels of --with-hmcs-levels");
    return 0;
}

/* Each VCI needs an endpoint of the netmod. 0: there is no limit. */
static int has_endpoints(void)
{
#ifdef HAVE_CH4_NETMOD_OFI
    const char *name = "MPIR_CVAR_CH4_OFI_MAX_VNIS";
    const int most = MPIR_CVAR_CH4_OFI_MAX_VNIS;
#elif defined(HAVE_CH4_NETMOD_UCX)
    const char *name = "MPIR_CVAR_CH4_UCX_MAX_VNIS";
    const int most = MPIR_CVAR_CH4_UCX_MAX_VNIS;
#else
    const char *name = NULL;
    const int most = 0;
#endif

    if (most && most < MPIR_CVAR_CH4_NUM_VCIS)
        MPIDI_settings_print("%s=%d: must be 0 or at least MPIR_CVAR_CH4_NUM_VCIS=%d\n", name, most,
                             MPIR_CVAR_CH4_NUM_VCIS);
    return !most || most >= MPIR_CVAR_CH4_NUM_VCIS;
}

/* Control variables of MPICH that would fail an assertion: here, and in the first wait that finds its
 * request incomplete. */
static int check_mpich(void)
{
    if (MPIR_CVAR_CH4_NUM_VCIS < 1) {
        MPIDI_settings_print("MPIR_CVAR_CH4_NUM_VCIS=%d: must be at least 1\n",
                             MPIR_CVAR_CH4_NUM_VCIS);
        return 0;
    }
    if (MPIR_CVAR_CH4_NUM_VCIS > MPIDI_CH4_MAX_VCIS) {
        MPIDI_settings_print("MPIR_CVAR_CH4_NUM_VCIS=%d: this library was configured for at most %d "
                             "(--with-ch4-max-vcis; always 1 for --enable-thread-cs=global)\n",
                             MPIR_CVAR_CH4_NUM_VCIS, MPIDI_CH4_MAX_VCIS);
        return 0;
    }
    if (!has_endpoints())
        return 0;
    if (MPIR_CVAR_ENABLE_FT) {
        MPIDI_settings_print("MPIR_CVAR_ENABLE_FT=1: ch4 devices have no fault tolerance\n");
        return 0;
    }
    return 1;
}

/* Prints an error before it returns one, because MPI_Init only reports that it failed. */
int MPIDI_model_init(void)
{
    int mpi_errno = MPI_SUCCESS;
    const char *model, *progress, *lock;

    MPIR_ERR_CHKANDJUMP(!MPIDI_settings_start() || !check_mpich() ||
                        !choose_row(MPIR_CVAR_CH4_THREAD_CS) ||
                        !choose_progress(MPIR_CVAR_CH4_THREAD_PROGRESS) ||
                        !choose_post_queue(MPIR_CVAR_CH4_POST_QUEUE) ||
                        !choose_lock(MPIR_CVAR_CH4_THREAD_LOCK) ||
                        !choose_levels(MPIR_CVAR_CH4_HMCS_LEVELS), mpi_errno,
                        MPI_ERR_OTHER, "**other");
    MPIDI_model.polls_plainly = MPIDI_model.lock == MPIDI_LOCK_OWN &&
        (MPIDI_model.progress == MPIDI_PROGRESS_BACKOFF_KIND ||
         MPIDI_model.progress == MPIDI_PROGRESS_USC_KIND);
    tsm_load_override(MPIR_CVAR_CH4_OVERSUBSCRIBED);
    tsm_slice_start(IS_VCI_LOCKED && MPIR_CVAR_CH4_SLICE_EXTENSION);
    MPIDI_model_names(&model, &progress, &lock);
    if (MPIR_CVAR_DEBUG_SUMMARY && MPIR_Process.rank == 0)
        printf("==== Thread safety ====\nthread-cs: %s\nthread progress: %s\nthread lock: %s\n",
               model, progress, lock);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#include "mpidimpl.h"
#include "threads/issue/wrappers.h"
#include "sim.h"
#include "work.h"

/* ---- what MPICH has in other files ---- */

MPIDI_CH4_Global_t MPIDI_global;
MPIR_Object_alloc_t MPIR_Request_mem[MPIR_REQUEST_NUM_POOLS];
MPIR_Process_t MPIR_Process;
MPIR_Thread_info_t MPIR_ThreadInfo = {.isThreaded = 1 };
MPIDI_model_t MPIDI_model;
int MPIR_CVAR_CH4_MAX_COMBINE;
int MPIR_CVAR_CH4_TAKEN_PAUSES;
int MPIDI_watchdog_on;

void MPIDI_watchdog_mark(void)
{
}

void MPIDI_watchdog_clear(const char *call, int count, MPIR_Request ** reqs)
{
    (void) call, (void) count, (void) reqs;
}

void MPIDI_watchdog_lock_begin(int vci)
{
    (void) vci;
}

void MPIDI_watchdog_lock_end(void)
{
}

void MPIDI_watchdog_driver(void)
{
}

int MPID_Progress_test(MPID_Progress_state * state)
{
    (void) state;
    abort();
}

int MPID_Wait(MPIR_Request * req, MPI_Status * status)
{
    (void) req, (void) status;
    abort();
}

/* ---- models ---- */

typedef struct row {
    const char *name;
    int issue, progress;
} row_t;

static const row_t rows[] = {
#define TSM_PROGRESS(id_, name_, scope_, help_)
#define TSM_MODEL(id_, name_, alias_, issue_, progress_, scope_, lock_, locks_, where_, help_) \
    { name_, MPIDI_ISSUE_##issue_, MPIDI_PROGRESS_##progress_##_KIND },
#include "threads/models.def"
#undef TSM_MODEL
#undef TSM_PROGRESS
};

#define ROWS ((int) (sizeof(rows) / sizeof(rows[0])))

static int find(const char *model)
{
    int i = 0;

    while (i < ROWS && strcmp(rows[i].name, model) != 0)
        i++;
    return i;
}

int work_has_model(const char *model)
{
    return find(model) < ROWS;
}

int work_has_server(const char *model)
{
    return rows[find(model)].progress == MPIDI_PROGRESS_SERVER_KIND;
}

const char *work_lock(void)
{
    return tsm_lock_name();
}

/* ---- the model global: MPICH's lock of the process, around each call ---- */

static int is_global;
static MPIDU_Thread_mutex_t process_lock[MPIDI_CH4_MAX_VCIS] MPL_ATTR_ALIGNED(64);

static void lock_process(int vci, int priority)
{
    int err;

    MPIDU_lock_acquire(&process_lock[vci].mutex, &err, priority);
    process_lock[vci].owner = pthread_self();
    process_lock[vci].count = 1;
}

static void unlock_process(int vci)
{
    int err;

    process_lock[vci].count = 0;
    process_lock[vci].owner = 0;
    MPIDU_lock_release(&process_lock[vci].mutex, &err);
}

/* MPICH's wait under that lock: poll, then yield the lock. */
static void wait_global(int vci, MPIR_Request * req)
{
    while (!MPIR_Request_is_complete(req)) {
        MPIDI_NM_progress(vci, 0);
        if (MPIR_Request_is_complete(req))
            break;
        unlock_process(vci);
        MPIDU_lock_pause();
        lock_process(vci, MPL_THREAD_PRIO_LOW);
    }
}

/* ---- start ---- */

static const work_run_t *run;
static MPIR_Comm comms[MPIDI_CH4_MAX_VCIS] MPL_ATTR_ALIGNED(64);

static void start_model(const work_t * work)
{
    const int i = find(work->model);

    is_global = !strcmp(work->model, "global");
    MPIDI_model = (MPIDI_model_t) {.row = i,.issue = rows[i].issue,.progress = rows[i].progress,
        .lock = rows[i].issue == MPIDI_ISSUE_CSYNC ? MPIDI_LOCK_COMBINING : MPIDI_LOCK_OWN,
        .post_queue = rows[i].issue == MPIDI_ISSUE_MP_SERVER ? MPIDI_POST_QUEUE_MAILBOX :
            MPIDI_POST_QUEUE_SWP
    };
    MPIDI_model.polls_plainly = MPIDI_model.lock == MPIDI_LOCK_OWN &&
        (MPIDI_model.progress == MPIDI_PROGRESS_BACKOFF_KIND ||
         MPIDI_model.progress == MPIDI_PROGRESS_USC_KIND);
    MPIR_CVAR_CH4_MAX_COMBINE = work->max_combine;
    MPIR_CVAR_CH4_TAKEN_PAUSES = work->taken_pauses;
    /* with global nothing but the process's lock is taken */
    MPIR_ThreadInfo.isThreaded = !is_global;
}

static void name_vci(int vci)
{
    MPIDI_per_vci_t *v = &MPIDI_VCI(vci);

    sim_name(v, sizeof(*v), "VCI");
    sim_name(&v->lock, sizeof(v->lock), "lock of the VCI");
    sim_name(&v->threads, sizeof(v->threads), "MPIDI_vci_t");
    sim_name(&comms[vci], sizeof(comms[vci]), "communicator");
    sim_name(&process_lock[vci], sizeof(process_lock[vci]), "lock of the process");
}

static void start_vci(int vci)
{
    int err = tsm_lock_init(&MPIDI_VCI(vci).lock.mutex);

    err |= tsm_lock_init(&process_lock[vci].mutex);
    assert(!err);
    MPIDI_vci_init(vci);
    comms[vci] = (MPIR_Comm) {.ref_count = 1,.rank = vci,.vci = vci };
    name_vci(vci);
}

static void start(const work_t * work)
{
    MPIDI_global.n_vcis = work->pairs ? 2 : 1;
    MPIR_Process.comm_world = &comms[0];
    start_model(work);
    sim_name(&MPIDI_served, sizeof(MPIDI_served), "MPIDI_served");
    sim_name(&tsm_load_figures_, sizeof(tsm_load_figures_), "tsm_load_figures_");
    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++)
        start_vci(vci);
    net_init(work->pairs, &work->net, 2 * work->threads * (work->window + 2), 2 * work->threads);
    MPIDI_request_cache_open();
    tsm_load_touch();
    if (MPIDI_server_start() != MPI_SUCCESS)
        abort();
}

/* ---- a thread ---- */

typedef struct worker {
    int id, vci;                /* id: in its process */
    MPIR_Request **reqs;
} worker_t;

static void post(worker_t * w, int sends, int tag, MPIR_Request ** req)
{
    int err;

    if (is_global)
        lock_process(w->vci, MPL_THREAD_PRIO_HIGH);
    err = sends ? MPIDI_isend(NULL, 8, 1, 0, tag, &comms[w->vci], 0, NULL, req) :
        MPIDI_irecv(NULL, 8, 1, 0, tag, &comms[w->vci], 0, NULL, req);
    if (is_global)
        unlock_process(w->vci);
    if (err)
        abort();
}

/* MPI_Waitall */
static void wait_all(worker_t * w, int n)
{
    MPID_Progress_state state = {.flag = MPIDI_PROGRESS_ALL,.vci_count = 1,.vci = {w->vci} };

    if (is_global)
        lock_process(w->vci, MPL_THREAD_PRIO_HIGH);
    else
        MPIDI_wait_begin(&state, 0, n, w->reqs);
    for (int i = 0; i < n; i++) {
        if (is_global) {
            wait_global(w->vci, w->reqs[i]);
        } else {
            while (!MPIR_Request_is_complete(w->reqs[i])) {
                if (MPIDI_wait_turn(&state) != MPI_SUCCESS)
                    abort();
            }
        }
    }
    if (!is_global)
        MPIDI_wait_end(&state);
    for (int i = 0; i < n; i++)
        MPIR_Request_free(w->reqs[i]);
    if (is_global)
        unlock_process(w->vci);
}

static void one(worker_t * w, int sends, int tag)
{
    post(w, sends, tag, w->reqs);
    wait_all(w, 1);
}

/* One window; with pairs the receiver acknowledges it, with a tag of its own. */
static void window(worker_t * w)
{
    const work_t *work = run->work;
    const int sends = work->pairs && w->vci == 0;

    for (int i = 0; i < work->window; i++)
        post(w, sends, w->id, &w->reqs[i]);
    wait_all(w, work->window);
    if (work->pairs)
        one(w, !sends, w->id + work->threads);
}

static void work_thread(void *arg)
{
    const work_t *work = run->work;
    const int n = (int) (intptr_t) arg;
    worker_t w = {.id = work->pairs ? n / 2 : n,.vci = work->pairs ? n % 2 : 0 };

    w.reqs = malloc((size_t) work->window * sizeof(*w.reqs));
    for (int i = 0; i < work->warm_up; i++)
        window(&w);
    sim_meet(work->threads, run->begin);
    for (int i = 0; i < work->windows; i++)
        window(&w);
    run->end();
}

static int core_of(const work_t * work, int n)
{
    return work->pairs ? (n / 2 + n % 2 * work->first_core) % work->cores : n % work->cores;
}

void work_main(void *arg)
{
    run = arg;
    start(run->work);
    for (int n = 1; n < run->work->threads; n++)
        sim_spawn(core_of(run->work, n), work_thread, (void *) (intptr_t) n);
    work_thread((void *) 0);
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The file of the trace: lines of text, each a word that names its kind and numbers. A line `columns`
 * names the numbers of each kind. The first line has the version, which grows when a reader must
 * change; the last one shows that the file is whole. doc/stats.md describes it for users, and
 * bench/tsm-trace reads it. */

#include "mpidimpl.h"
#include "threads/stats/trace.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_CH4_THREAD_TRACE
      category    : CH4_THREADS
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        A file to which each process writes, at MPI_Finalize, which threads held the lock of each VCI
        and when. %r in the name stands for the rank in MPI_COMM_WORLD; without it, a dot and the rank
        follow the name. After the rank of a spawned process come a dot and its process id. Empty: no
        trace. Needs a library configured with --enable-thread-stats.

    - name        : MPIR_CVAR_CH4_THREAD_TRACE_SAMPLE
      category    : CH4_THREADS
      type        : int
      default     : 1
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The trace records one acquisition in this many, at random distances. 1: all. From 1 to
        1000000000.

    - name        : MPIR_CVAR_CH4_THREAD_TRACE_SIZE
      category    : CH4_THREADS
      type        : int
      default     : 65536
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The most records of each thread in the trace, of about 110 bytes each. The rest is dropped, and
        the file says how many. From 1 to 100000000.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#ifdef ENABLE_THREAD_STATS

#include <unistd.h>
#include "threads/model.h"
#include "threads/settings.h"
#include "threads/stats/hooks.h"
#include "threads/stats/places.h"
#include "tsm/tsm_load.h"

#define FORMAT 1
#define HOST_BYTES 256
#define MOST_SAMPLE 1000000000
#define MOST_SIZE 100000000

/* In the order of the numbers. */
static const char columns[] =
    "columns total vci main progress contended competitors same_thread same_core same_node "
    "fair_thread fair_core fair_node polls unsuccessful wasted combined\n"
    "columns thread thread holds samples skipped dropped_holds dropped_samples\n"
    "columns hold thread vci number progress begin end cpu core node contended competitors "
    "same_thread same_core same_node fair_thread fair_core fair_node polls unsuccessful wasted "
    "combined left_main left_progress\n"
    "columns sample thread time dangling posted_receives unexpected queue waiting sends receives rma\n";

static FILE *file;              /* NULL: there is no trace */
static char *name;

/* A spawned process has the settings of its parent, and a rank that the parent's world has as well. */
static void put_rank(FILE * out)
{
    fprintf(out, "%d", MPIR_Process.rank);
    if (MPIR_Process.has_parent)
        fprintf(out, ".%ld", (long) getpid());
}

/* With %r, or else .%r, the rank. The caller frees the result; NULL without memory. */
static char *expand(const char *pattern)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    int has_rank = 0;

    if (!out)
        return NULL;
    for (const char *p = pattern; *p; p++) {
        if (p[0] == '%' && p[1] == 'r') {
            put_rank(out);
            has_rank = 1;
            p++;
        } else {
            fputc(*p, out);
        }
    }
    if (!has_rank) {
        fputc('.', out);
        put_rank(out);
    }
    return fclose(out) ? NULL : text;
}

static int in_range(const char *cvar, int value, int most)
{
    if (value >= 1 && value <= most)
        return 1;
    MPIDI_settings_print("%s=%d: must be from 1 to %d\n", cvar, value, most);
    return 0;
}

static int open_file(void)
{
    name = expand(MPIR_CVAR_CH4_THREAD_TRACE);
    file = name ? fopen(name, "w") : NULL;
    if (file)
        return 1;
    fprintf(stderr, "MPIR_CVAR_CH4_THREAD_TRACE=%s: cannot write %s: %s\n", MPIR_CVAR_CH4_THREAD_TRACE,
            name ? name : "the file", strerror(errno));
    (free) (name);
    name = NULL;
    return 0;
}

int MPIDI_trace_open(void)
{
    int mpi_errno = MPI_SUCCESS;

    if (!MPIR_CVAR_CH4_THREAD_TRACE || !MPIR_CVAR_CH4_THREAD_TRACE[0])
        return MPI_SUCCESS;
    MPIR_ERR_CHKANDJUMP(!in_range("MPIR_CVAR_CH4_THREAD_TRACE_SAMPLE",
                                  MPIR_CVAR_CH4_THREAD_TRACE_SAMPLE, MOST_SAMPLE) ||
                        !in_range("MPIR_CVAR_CH4_THREAD_TRACE_SIZE",
                                  MPIR_CVAR_CH4_THREAD_TRACE_SIZE, MOST_SIZE) ||
                        !open_file(), mpi_errno, MPI_ERR_OTHER, "**other");
    MPIDI_trace_begin(MPIR_CVAR_CH4_THREAD_TRACE_SAMPLE, MPIR_CVAR_CH4_THREAD_TRACE_SIZE);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* ---- the lines ---- */

static void write_head(void)
{
    const MPIDI_trace_base_t *base = MPIDI_trace_base();
    const char *model, *progress, *lock;
    char host[HOST_BYTES] = "";

    MPIDI_model_names(&model, &progress, &lock);
    gethostname(host, sizeof(host) - 1);
    fprintf(file, "MPICH-TSM thread trace %d\n", FORMAT);
    fprintf(file, "process rank=%d size=%d host=%s", MPIR_Process.rank, MPIR_Process.size, host);
    if (MPIR_Process.has_parent)
        fprintf(file, " spawned=%ld", (long) getpid());
    fputc('\n', file);
    fprintf(file, "library model=%s progress=%s lock=%s vcis=%d\n", model, progress, lock,
            MPIDI_global.n_vcis);
    fprintf(file, "trace sample=%d records=%d begin=%" PRIu64 " end=%" PRIu64 " untraced_threads=%d "
            "misses=%" PRIu64 " fair_one=%u\n", base->sample, base->size, base->begin_ns,
            tsm_now_ns(), MPIDI_trace_without(),
            MPIDI_stats_sum(offsetof(MPIDI_thread_stats_t, misses)) - base->misses,
            MPIDI_STATS_FAIR_ONE);
    fputs(columns, file);
}

static void write_total(int vci)
{
    const uint64_t *base = MPIDI_trace_base()->vci[vci];
    uint64_t now[MPIDI_TRACE_COUNTS + 1];

    MPIDI_trace_read_counts(&MPIDI_VCI(vci).threads, now);
    for (int i = 0; i <= MPIDI_TRACE_COUNTS; i++)
        now[i] -= base[i];
    fprintf(file, "total %d %" PRIu64, vci, now[MPIDI_TRACE_COUNTS] - now[MPIDI_TRACE_PROGRESS]);
    for (int i = 0; i < MPIDI_TRACE_COUNTS; i++)
        fprintf(file, " %" PRIu64, now[i]);
    fputc('\n', file);
}

static void write_thread(const MPIDI_trace_buffer_t * b)
{
    int holds = 0;

    for (int i = 0; i < b->used; i++)
        holds += b->record[i].kind == MPIDI_TRACE_HOLD;
    fprintf(file, "thread %d %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", b->thread, holds,
            b->used - holds, b->skipped, b->dropped[MPIDI_TRACE_HOLD],
            b->dropped[MPIDI_TRACE_SAMPLE]);
}

/* Times are since the trace began. */
static uint64_t since(uint64_t ns)
{
    return ns - MPIDI_trace_base()->begin_ns;
}

static void write_hold(int thread, const MPIDI_trace_record_t * r)
{
    const uint32_t *counts = r->u.hold.counts;
    const int cpu = r->u.hold.cpu;

    fprintf(file, "hold %d %d %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %d %d %d", thread, r->u.hold.vci,
            r->u.hold.number - MPIDI_trace_base()->vci[r->u.hold.vci][MPIDI_TRACE_COUNTS],
            counts[MPIDI_TRACE_PROGRESS], since(r->begin), since(r->end), cpu,
            MPIDI_places_core(cpu), MPIDI_places_node(cpu));
    for (int i = MPIDI_TRACE_PROGRESS + 1; i < MPIDI_TRACE_COUNTS; i++)
        fprintf(file, " %u", counts[i]);
    fprintf(file, " %u %u\n", r->u.hold.left[MPIDI_STATS_MAIN], r->u.hold.left[MPIDI_STATS_PROGRESS]);
}

static void write_sample(int thread, const MPIDI_trace_record_t * r)
{
    fprintf(file, "sample %d %" PRIu64, thread, since(r->begin));
    for (int i = 0; i < MPIDI_TRACE_VALUES; i++)
        fprintf(file, " %" PRIu64, r->u.values[i]);
    fputc('\n', file);
}

/* A hold without an end is that of a thread which the program's end has caught in MPI. */
static int write_records(const MPIDI_trace_buffer_t * b)
{
    int lines = 0;

    for (int i = 0; i < b->used; i++) {
        const MPIDI_trace_record_t *r = &b->record[i];
        if (r->kind == MPIDI_TRACE_SAMPLE)
            write_sample(b->thread, r);
        else if (r->end)
            write_hold(b->thread, r);
        lines += r->kind == MPIDI_TRACE_SAMPLE || r->end;
    }
    return lines;
}

static void write_all(void)
{
    int lines = 0;

    write_head();
    for (int i = 0; i < MPIDI_global.n_vcis; i++)
        write_total(i);
    for (MPIDI_thread_t * t = MPIDI_thread_first(); t; t = t->next)
        if (t->stats.trace)
            write_thread(t->stats.trace);
    for (MPIDI_thread_t * t = MPIDI_thread_first(); t; t = t->next)
        if (t->stats.trace)
            lines += write_records(t->stats.trace);
    fprintf(file, "end %d\n", lines);
}

void MPIDI_trace_write(void)
{
    int failed;

    if (!file)
        return;
    write_all();
    failed = ferror(file);
    failed |= fclose(file) != 0;
    if (failed)
        fprintf(stderr, "MPIR_CVAR_CH4_THREAD_TRACE=%s: cannot write all of %s: %s\n",
                MPIR_CVAR_CH4_THREAD_TRACE, name, strerror(errno));
    file = NULL;
    (free) (name);
    name = NULL;
}

#endif

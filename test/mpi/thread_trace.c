/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPIR_CVAR_CH4_THREAD_TRACE: each process writes a file at MPI_Finalize, whose records account for
 * each acquisition of the lock of a VCI: recorded, passed over by the sampling, or dropped because a
 * buffer was full. In a trace that has all of them the holds of a VCI do not overlap, and add up to
 * the counters. Samples have the operations that the program has issued. The file has the settings with
 * which the trace began, though a tool has written others since. MT_TRACE: all, part (the
 * sampling passes over some), full (buffers are too small). MT_NAME=yes: the file's name has the rank
 * in it.
 * -t threads, -n messages. */
#include "mt.h"
#include "pvars.h"

#define WORDS 32                /* numbers in a line */
#define VCIS 64

/* The numbers of a line, in the order of its columns. */
enum { TOTAL_VCI, TOTAL_MAIN, TOTAL_PROGRESS, TOTAL_CONTENDED, TOTAL_POLLS = 11, TOTAL_VAIN,
    TOTALS = 15
};
enum { THREAD_NUMBER, THREAD_HOLDS, THREAD_SAMPLES, THREAD_SKIPPED, THREAD_DROPPED,
    THREAD_DROPPED_SAMPLES, THREADS
};
enum { HOLD_THREAD, HOLD_VCI, HOLD_NUMBER, HOLD_PROGRESS, HOLD_BEGIN, HOLD_END, HOLD_CONTENDED = 9,
    HOLDS = 23
};
enum { SAMPLE_SENDS = 7, SAMPLE_RECEIVES, SAMPLES = 10 };

typedef struct {
    long total[TOTALS];
    long sum[TOTALS];           /* of the holds, in the same places */
    long holds;
    struct {
        long begin, end;
    } *hold;                    /* by number - 1 */
} vci_t;

static vci_t vcis[VCIS];
static long lines, end_lines = -1, samples, size;
static long head_sample, head_size;    /* as the file has them */
static long least_sends = -1, most_sends, least_receives = -1, most_receives;
static long recorded, skipped, dropped, dropped_samples;
static double counted;          /* acquisitions, by MPI_T, in a part of the run */
static char name[256];

/* MPI_Finalize has been called. */
#define CHECK(cond_, ...) \
    do { \
        if (!(cond_)) { \
            printf("rank %d, line %d: ", mt.rank, __LINE__); \
            printf(__VA_ARGS__); \
            printf("\n"); \
            fflush(stdout); \
            exit(1); \
        } \
    } while (0)

static int is(const char *variable, const char *value)
{
    const char *text = getenv(variable);

    return text && !strcmp(text, value);
}

static void choose_name(void)
{
    const char *folder = getenv("TMPDIR");
    int n = snprintf(name, sizeof(name), "%s/thread_trace.%ld%s", folder ? folder : "/tmp",
                     (long) getpid(), is("MT_NAME", "yes") ? ".%r.txt" : "");

    if (n >= (int) sizeof(name) || setenv("MPIR_CVAR_CH4_THREAD_TRACE", name, 1)) {
        perror("no name for the trace");
        exit(1);
    }
}

static void *exchange(void *arg)
{
    mt_thread_t *t = arg;

    for (long i = 0; i < mt.iters; i++) {
        MPI_Request r[2];
        MPI_Irecv(NULL, 0, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(NULL, 0, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &r[1]);
        MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    }
    return NULL;
}

/* Reading `dangling` puts a sample into the trace. */
static void run(void)
{
    pv_set_t *set;

    pv_find();
    set = pv_start();
    pv(set, "dangling");
    mt_run(mt.threads, exchange);
    pv(set, "dangling");
    counted = pv(set, "lock_acquired_main") + pv(set, "lock_acquired_progress");
    pv_free(set);
    MT_OK(MPI_T_finalize());
}

/* ---- the file ---- */

static void numbers(const char *text, long *value, int n)
{
    for (int i = 0; i < n; i++) {
        char *end;
        value[i] = strtol(text, &end, 10);
        CHECK(end != text, "%d numbers instead of %d: %s", i, n, text);
        text = end;
    }
    CHECK(strspn(text, " \n") == strlen(text), "more than %d numbers: %s", n, text);
}

static vci_t *vci_of(long vci)
{
    CHECK(vci >= 0 && vci < VCIS, "VCI %ld", vci);
    return &vcis[vci];
}

static void take_total(const char *text)
{
    long value[TOTALS];
    vci_t *v;

    numbers(text, value, TOTALS);
    v = vci_of(value[TOTAL_VCI]);
    memcpy(v->total, value, sizeof(value));
    v->hold = mt_alloc((size_t) (value[TOTAL_MAIN] + value[TOTAL_PROGRESS] + 1) * sizeof(*v->hold));
}

static void take_thread(const char *text)
{
    long value[THREADS];

    numbers(text, value, THREADS);
    CHECK(value[THREAD_HOLDS] + value[THREAD_SAMPLES] <= size, "more than %ld records: %s", size, text);
    recorded += value[THREAD_HOLDS];
    skipped += value[THREAD_SKIPPED];
    dropped += value[THREAD_DROPPED];
    dropped_samples += value[THREAD_DROPPED_SAMPLES];
}

static void take_hold(const char *text)
{
    long value[HOLDS], i;
    vci_t *v;

    numbers(text, value, HOLDS);
    v = vci_of(value[HOLD_VCI]);
    i = value[HOLD_NUMBER] - 1;
    CHECK(v->hold && i >= 0 && i < v->total[TOTAL_MAIN] + v->total[TOTAL_PROGRESS],
          "a hold that is not counted: %s", text);
    CHECK(v->hold[i].end == 0, "two holds of one number: %s", text);
    CHECK(value[HOLD_BEGIN] <= value[HOLD_END] && value[HOLD_END] > 0, "wrong times: %s", text);
    v->hold[i].begin = value[HOLD_BEGIN];
    v->hold[i].end = value[HOLD_END];
    v->holds++;
    v->sum[TOTAL_MAIN] += !value[HOLD_PROGRESS];
    v->sum[TOTAL_PROGRESS] += value[HOLD_PROGRESS];
    for (int k = TOTAL_CONTENDED; k < TOTALS; k++)
        v->sum[k] += value[HOLD_CONTENDED + k - TOTAL_CONTENDED];
}

static void range(long value, long *least, long *most)
{
    *least = *least < 0 || value < *least ? value : *least;
    *most = value > *most ? value : *most;
}

static void take_sample(const char *text)
{
    long value[SAMPLES];

    numbers(text, value, SAMPLES);
    range(value[SAMPLE_SENDS], &least_sends, &most_sends);
    range(value[SAMPLE_RECEIVES], &least_receives, &most_receives);
    samples++;
}

static void take(const char *line)
{
    static const struct {
        const char *word;
        void (*take) (const char *text);
        int is_record;
    } kinds[] = {
        { "total ", take_total, 0 }, { "thread ", take_thread, 0 }, { "hold ", take_hold, 1 },
        { "sample ", take_sample, 1 }
    };

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!strncmp(line, kinds[i].word, strlen(kinds[i].word))) {
            kinds[i].take(line + strlen(kinds[i].word));
            lines += kinds[i].is_record;
        }
    }
    if (!strncmp(line, "trace ", 6))
        CHECK(sscanf(line, "trace sample=%ld records=%ld", &head_sample, &head_size) == 2, "%s", line);
    if (!strncmp(line, "end ", 4))
        numbers(line + 4, &end_lines, 1);
}

static void read_file(void)
{
    char path[300], line[1024];
    FILE *f;

    if (is("MT_NAME", "yes"))
        snprintf(path, sizeof(path), "%.*s.%d.txt", (int) (strstr(name, ".%r") - name), name, mt.rank);
    else
        snprintf(path, sizeof(path), "%s.%d", name, mt.rank);
    f = fopen(path, "r");
    CHECK(f, "there is no file %s", path);
    CHECK(fgets(line, sizeof(line), f) && !strcmp(line, "MPICH-TSM thread trace 1\n"),
          "another format");
    while (fgets(line, sizeof(line), f))
        take(line);
    fclose(f);
    unlink(path);
}

/* ---- what must hold ---- */

static long acquired(void)
{
    long n = 0;

    for (int i = 0; i < VCIS; i++)
        n += vcis[i].total[TOTAL_MAIN] + vcis[i].total[TOTAL_PROGRESS];
    return n;
}

/* Without effect. */
static void write_setting(const char *cvar)
{
    int provided, index, count, other = 3;
    MPI_T_cvar_handle handle;

    MT_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    MT_OK(MPI_T_cvar_get_index(cvar, &index));
    MT_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    MT_OK(MPI_T_cvar_write(handle, &other));
    MT_OK(MPI_T_cvar_handle_free(&handle));
    MT_OK(MPI_T_finalize());
}

static void check_head(void)
{
    const char *text = getenv("MPIR_CVAR_CH4_THREAD_TRACE_SAMPLE");
    const long sample = text ? atol(text) : 1;

    CHECK(head_sample == sample && head_size == size, "sample=%ld records=%ld, not %ld and %ld",
          head_sample, head_size, sample, size);
}

static void check_account(void)
{
    CHECK(lines == end_lines, "%ld records, the end names %ld", lines, end_lines);
    CHECK(recorded + skipped + dropped == acquired(),
          "%ld acquisitions recorded, %ld skipped, %ld dropped of %ld", recorded, skipped, dropped,
          acquired());
    CHECK(acquired() >= counted, "%ld acquisitions, %g counted in a part", acquired(), counted);
}

/* MPI_Init polls without the lock as long as there is one thread. */
static void check_vci(int i)
{
    vci_t *v = &vcis[i];

    for (int k = TOTAL_MAIN; k < TOTALS; k++) {
        const int may_miss = k == TOTAL_POLLS || k == TOTAL_VAIN;
        CHECK(v->sum[k] == v->total[k] || (may_miss && v->sum[k] > 0 && v->sum[k] < v->total[k]),
              "VCI %d: the holds have %ld, the counters %ld in column %d", i, v->sum[k], v->total[k],
              k);
    }
    for (long n = 1; n < v->holds; n++)
        CHECK(v->hold[n - 1].end <= v->hold[n].begin, "VCI %d: acquisition %ld begins at %ld, the one "
              "before it ends at %ld", i, n + 1, v->hold[n].begin, v->hold[n - 1].end);
}

static void check_all(void)
{
    const long messages = mt.threads * mt.iters;

    CHECK(skipped == 0 && dropped == 0 && dropped_samples == 0, "%ld skipped, %ld dropped", skipped,
          dropped);
    for (int i = 0; i < VCIS; i++)
        check_vci(i);
    CHECK(most_sends - least_sends >= messages && most_receives - least_receives >= messages,
          "%ld samples: %ld to %ld sends, %ld to %ld receives, but %ld messages", samples, least_sends,
          most_sends, least_receives, most_receives, messages);
}

int main(int argc, char **argv)
{
    const char *text = getenv("MPIR_CVAR_CH4_THREAD_TRACE_SIZE");

    choose_name();
    mt_init(argc, argv, 4, 100);
    size = text ? atol(text) : 65536;
    run();
    write_setting("MPIR_CVAR_CH4_THREAD_TRACE_SAMPLE");
    write_setting("MPIR_CVAR_CH4_THREAD_TRACE_SIZE");
    MT_OK(MPI_Finalize());
    read_file();
    check_head();
    check_account();
    if (is("MT_TRACE", "all"))
        check_all();
    CHECK(!is("MT_TRACE", "part") || (skipped > 0 && recorded > 0), "%ld acquisitions, %ld skipped",
          recorded, skipped);
    CHECK(!is("MT_TRACE", "full") || (dropped > 0 && dropped_samples > 0), "%ld and %ld dropped",
          dropped, dropped_samples);
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

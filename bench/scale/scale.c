/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One simulation: options, and one JSON line. The driver `scale` runs many. */
#include "sim.h"
#include "work.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static work_t work = {.model = "lockq",.window = 64,.warm_up = 1,.max_combine = 1024,
    .taken_pauses = 1024,.first_core = 1
};
static int ops_wanted = 20000, top, ended, seed = 1, per_core = 1, threads_given, latency = 2000;
static uint64_t began, last_end;

/* An option: a number, or nanoseconds that are kept as picoseconds. */
typedef struct option_row {
    const char *name;
    int *number;
    uint64_t *ns;
    long least, most;
    long usual;                 /* of nanoseconds */
    const char *help;
} option_row_t;

static const option_row_t rows[] = {
    {"cores", &sim_machine.cores, NULL, 1, SIM_CORES, 0, "simulated cores (2)"},
    {"per-core", &per_core, NULL, 1, 8, 0, "threads for each core, the library's included (1)"},
    {"threads", &threads_given, NULL, 1, 256, 0,
     "threads of a process, the library's not included, in place of --per-core"},
    {"pairs", &work.pairs, NULL, 0, 1, 0, "1: a process sends to another one, as bench/msgrate (0)"},
    {"peer-core", &work.first_core, NULL, 0, SIM_CORES, 0,
     "with --pairs: a receiver's core is so many after its sender's (1)"},
    {"window", &work.window, NULL, 1, 4096, 0, "operations of a window (64)"},
    {"ops", &ops_wanted, NULL, 1, 100000000, 0, "operations in all, at least (20000)"},
    {"max-combine", &work.max_combine, NULL, 1, 1 << 20, 0, "MPIR_CVAR_CH4_MAX_COMBINE (1024)"},
    {"taken-pauses", &work.taken_pauses, NULL, 1, 1 << 20, 0,
     "MPIR_CVAR_CH4_TAKEN_PAUSES (1024)"},
    {"seed", &seed, NULL, 0, 1 << 30, 0, "decides between cores with equal clocks (1)"},
    {"top", &top, NULL, 0, 1000000, 0, "also print so many lines with the most transfers (0)"},
    {"cluster", &sim_machine.cluster, NULL, 1, SIM_CORES, 0, "cores that share a cache (8)"},
    {"latency", &latency, NULL, 0, 10000000, 0, "ns from issue to completion (2000)"},
    {"issue", NULL, &work.net.issue, 0, 1000000, 30, "ns to issue an operation"},
    {"take", NULL, &work.net.take, 0, 1000000, 20, "ns of a poll for each completion"},
    {"poll", NULL, &work.net.poll, 1, 1000000, 20, "ns of a poll that finds nothing"},
    {"hit", NULL, &sim_machine.hit, 1, 1000, 1, "ns of an access without transfer"},
    {"rmw", NULL, &sim_machine.rmw, 0, 1000, 5, "ns more of a read-modify-write"},
    {"near", NULL, &sim_machine.near, 1, 100000, 45, "ns of a transfer within a cluster"},
    {"far", NULL, &sim_machine.far, 1, 100000, 135, "ns of a transfer between clusters"},
    {"pause", NULL, &sim_machine.pause, 1, 10000, 15, "ns of a pause in a loop that waits"},
    {"call", NULL, &sim_machine.call, 0, 100000, 200, "ns of a system call"},
    {"wake", NULL, &sim_machine.wake, 0, 10000000, 3000, "ns until a woken thread runs"},
    {"change", NULL, &sim_machine.change, 0, 1000000, 1000, "ns to change the thread of a core"},
    {"slice", NULL, &sim_machine.slice, 1000, 1000000000, 3000000, "ns of a time slice"},
};

#define ROWS ((int) (sizeof(rows) / sizeof(rows[0])))

static void usage(void)
{
    printf("usage: scale_LOCK [--model NAME] [--OPTION NUMBER ...]\n"
           "Simulates a thread-safety model with lock %s on a machine with many cores and prints one\n"
           "JSON line.\n  --model NAME         a name of src/ch4/models.def (lockq)\n", work_lock());
    for (int i = 0; i < ROWS; i++) {
        printf("  --%-18s %s", rows[i].name, rows[i].help);
        printf(rows[i].ns ? " (%ld)\n" : "\n", rows[i].usual);
    }
    fflush(stdout);
    _exit(0);                   /* the program's own end would be simulated */
}

__attribute__((noreturn)) static void bad(const char *what, const char *value, const char *why)
{
    fprintf(stderr, "bench/scale: %s%s%s: %s\n", what, value ? " " : "", value ? value : "", why);
    _exit(2);
}

static void set(const option_row_t *row, const char *text)
{
    char *end, why[80], name[32];
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < row->least || value > row->most) {
        snprintf(why, sizeof(why), "must be a number from %ld to %ld", row->least, row->most);
        snprintf(name, sizeof(name), "--%s", row->name);
        bad(name, text, why);
    }
    if (row->number)
        *row->number = (int) value;
    else
        *row->ns = (uint64_t) value * SIM_NS;
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int r = 0;
        if (!strcmp(argv[i], "--help"))
            usage();
        if (i + 1 == argc || strncmp(argv[i], "--", 2) != 0)
            bad(argv[i], NULL, "unknown option, or one without a value; see --help");
        if (!strcmp(argv[i], "--model")) {
            work.model = argv[++i];
            if (!work_has_model(work.model))
                bad("--model", work.model, "no name of src/ch4/models.def");
            continue;
        }
        while (r < ROWS && strcmp(argv[i] + 2, rows[r].name) != 0)
            r++;
        if (r == ROWS)
            bad(argv[i], NULL, "unknown option; see --help");
        set(&rows[r], argv[++i]);
    }
}

/* Threads of the program and the cores that they use: threads of the library have the last core for
 * themselves if there is more than one. */
static void place(void)
{
    int servers = work_has_server(work.model) ? 1 + work.pairs : 0;
    int in_one = threads_given ? threads_given : sim_machine.cores * per_core - servers;

    work.cores = sim_machine.cores;
    if (in_one < 1)
        in_one = 1;
    if (servers && !work.pairs && work.cores > 1)
        work.cores--;
    work.threads = in_one * (threads_given ? 1 + work.pairs : 1);
    if (work.pairs)
        work.threads -= work.threads % 2;
    if (work.threads == 0)
        bad("--pairs", NULL, "needs two threads");
    work.windows = (ops_wanted + work.threads * work.window - 1) / (work.threads * work.window);
    work.net.latency = (uint64_t) latency * SIM_NS;
    sim_machine.seed = (uint64_t) seed;
}

static void begin(void)
{
    sim_counts_reset();
    began = sim_now();
}

static void print_result(void)
{
    /* a message is one operation, as in bench/msgrate, though both processes post it */
    double messages = (double) work.threads / (1 + work.pairs) * work.windows * work.window;
    double seconds = (double) (last_end - began) * 1e-12;

    printf("{\"bench\": \"scale\", \"model\": \"%s\", \"lock\": \"%s\", \"cores\": %d, "
           "\"threads\": %d, \"pairs\": %d, \"window\": %d, "
           "\"taken_pauses\": %d, \"ops\": %.0f, "
           "\"transfers\": %.3f, \"near\": %.3f, \"far\": %.3f, \"sleeps\": %.4f, "
           "\"yields\": %.4f, \"value\": %.4f, \"unit\": \"million operations/s\"}\n",
           work.model, work_lock(), sim_machine.cores, work.threads, work.pairs, work.window,
           work.taken_pauses, messages, (double) (sim_counts.near + sim_counts.far) / messages,
           (double) sim_counts.near / messages, (double) sim_counts.far / messages,
           (double) sim_counts.sleeps / messages, (double) sim_counts.yields / messages,
           messages / seconds * 1e-6);
    sim_print_lines(stdout, top, messages);
    fflush(stdout);
}

static void end(void)
{
    if (sim_now() > last_end)
        last_end = sim_now();
    if (++ended < work.threads)
        return;
    print_result();
    _exit(0);
}

int main(int argc, char **argv)
{
    /* static: where it is on a stack differs from run to run, and the program reads it */
    static work_run_t run = {.work = &work,.begin = begin,.end = end };

    sim_machine.cores = 2;
    sim_machine.cluster = 8;
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].ns)
            *rows[i].ns = (uint64_t) rows[i].usual * SIM_NS;
    }
    parse(argc, argv);
    place();
    sim_run(work.threads + 2, work_main, &run);
    return 3;
}

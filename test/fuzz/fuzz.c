/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The program: options, the plan of a seed, what surrounds the lanes. For each seed process 0
 * prints "run SEED ..." at its start and "ok SEED" at its end, which test/fuzz/run counts. */
#include "fuzz.h"
#include <stdarg.h>
#include <unistd.h>

fz_t fz;

static struct {
    uint64_t seed;
    long runs;
    int threads, scenes;        /* 0: as the seed says */
    unsigned kinds;             /* of scenes, one bit each; 0: all */
    const char *only, *without;
} option = {.seed = 1,.runs = 1 };

static const struct {
    const char *name;
    int *flag;
} known[] = {
    {"freed-self", &fz.without.freed_self},
    {"persistent-coll-any", &fz.without.persistent_coll_any},
    {"partitioned-all", &fz.without.partitioned_all},
    {"null-status", &fz.without.null_status},
    {"merges", &fz.without.merges},
    {"reduce-scatter-gaps", &fz.without.reduce_scatter_gaps},
    {"reduce-scatter-in-place", &fz.without.reduce_scatter_in_place},
    {"inter-ibcast", &fz.without.inter_ibcast},
    {"neighbour-w", &fz.without.neighbour_w},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

void fz_fail(const fz_lane_t * l, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(stderr, "FAILED rank %d of %d, lane %d, scene %d (%s): %s\n", fz.rank, fz.size,
            l ? l->id : -1, l ? l->scene : -1, l ? l->what : "none", text);
    fprintf(stderr, "repeat with -n 1 -s %llu%s%s%s%s", (unsigned long long) fz.plan.seed,
            option.only ? " -o " : "", option.only ? option.only : "",
            option.without ? " -x " : "", option.without ? option.without : "");
    if (option.threads)
        fprintf(stderr, " -t %d", option.threads);
    if (option.scenes)
        fprintf(stderr, " -k %d", option.scenes);
    fprintf(stderr, "\n");
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

/* The statuses say more about MPI_ERR_IN_STATUS: see complete.c. */
static void on_error(MPI_Comm * comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, class;

    (void) comm;
    MPI_Error_class(*code, &class);
    if (class == MPI_ERR_IN_STATUS)
        return;
    MPI_Error_string(*code, text, &n);
    fz_fail(NULL, "MPI reports: %s", text);
}

static void usage(void)
{
    fprintf(stderr, "usage: fuzz [-s SEED] [-n RUNS] [-t THREADS] [-k SCENES] [-o KIND,..] "
            "[-x KNOWN,..|all]\nkinds of scenes:");
    for (int i = 0; i < FZ_KINDS; i++)
        fprintf(stderr, " %s", fz_kind_name[i]);
    fprintf(stderr, "\nfaults of MPICH 4.0.2 to keep away from:");
    for (size_t i = 0; i < KNOWN; i++)
        fprintf(stderr, " %s", known[i].name);
    fprintf(stderr, "\n");
    exit(2);
}

static long number(const char *text, long lo, long hi)
{
    char *end;
    long v = strtol(text, &end, 10);

    if (end == text || *end || v < lo || v > hi)
        usage();
    return v;
}

static void set_kind(const char *name)
{
    int k = 0;

    while (k < FZ_KINDS && strcmp(name, fz_kind_name[k]))
        k++;
    if (k == FZ_KINDS)
        usage();
    option.kinds |= 1u << k;
}

static void set_without(const char *name)
{
    size_t k = 0;

    while (k < KNOWN && strcmp(name, known[k].name) && strcmp(name, "all"))
        k++;
    if (k == KNOWN)
        usage();
    for (size_t i = 0; i < KNOWN; i++) {
        if (i == k || !strcmp(name, "all"))
            *known[i].flag = 1;
    }
}

static const char *each_word(const char *list, void (*fn) (const char *))
{
    char copy[200], *save = NULL;

    snprintf(copy, sizeof(copy), "%s", list);
    for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save))
        fn(w);
    return list;
}

static void options(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "s:n:t:k:o:x:")) != -1) {
        switch (c) {
            case 's': option.seed = (uint64_t) number(optarg, 0, INT32_MAX); break;
            case 'n': option.runs = number(optarg, 1, INT32_MAX); break;
            case 't': option.threads = (int) number(optarg, 1, FZ_MAX_THREADS); break;
            case 'k': option.scenes = (int) number(optarg, 1, 1000); break;
            case 'o': option.only = each_word(optarg, set_kind); break;
            case 'x': option.without = each_word(optarg, set_without); break;
            default: usage();
        }
    }
    if (optind != argc)
        usage();
}

/* All processes make the same plan. The number of threads is drawn so that few are as likely as
 * many; a lane gets fewer scenes the more lanes there are. */
static void make_plan(uint64_t seed)
{
    static const int up_to[] = { 1, 2, 4, 8, FZ_MAX_THREADS };
    static const size_t bytes[] = { 64, 4096, 20000, 200000, 300000, 1 << 20, (1 << 22) + 2 };
    static const size_t shared[] = { 0, 0, 1 << 20, 1 << 24 };
    static const int part[] = { 2048, 2048, 40000 };
    static const int blocks[] = { 12, 12, 700, 20000 };
    static const int weight[] = { 0, 1, 1, 2, 6 };
    fz_plan_t *p = &fz.plan;
    fz_lane_t l = {.rng = fz_mix(seed, 1, 2) };
    int sum = 0;

    p->seed = seed;
    p->threads = 1 + fz_draw(&l, up_to[fz_draw(&l, 5)]);
    if (option.threads)
        p->threads = option.threads;
    p->scenes = option.scenes ? option.scenes : 3 + (16 + fz_draw(&l, 36)) / p->threads;
    p->max_bytes = bytes[fz_draw(&l, 7)];
    p->shared_bytes = shared[fz_draw(&l, 4)];
    p->part = part[fz_draw(&l, 3)];
    if (p->threads > 4) {       /* so that time and memory do for all */
        p->max_bytes = p->max_bytes > 1 << 20 ? 1 << 20 : p->max_bytes;
        p->part = part[0];
    }
    p->respawn = fz_draw(&l, 3) ? 0 : 2 + fz_draw(&l, 6);
    p->bsend_lane = fz_draw(&l, 2) ? -1 : fz_draw(&l, p->threads);
    p->shared_win = fz_draw(&l, 2);
    p->pace = fz_draw(&l, 4);
    p->blocks = blocks[fz_draw(&l, 4)];
    for (int k = 0; k < FZ_KINDS; k++) {
        p->weight[k] = weight[fz_draw(&l, 5)];
        if (option.kinds)
            p->weight[k] = option.kinds >> k & 1;
        sum += p->weight[k];
    }
    if (sum == 0)
        p->weight[0] = 1;
}

static void tell_plan(void)
{
    const fz_plan_t *p = &fz.plan;

    if (fz.rank)
        return;
    printf("run %llu threads %d scenes %d bytes %zu", (unsigned long long) p->seed, p->threads,
           p->scenes, p->max_bytes);
    for (int k = 0; k < FZ_KINDS; k++) {
        if (p->weight[k])
            printf(" %s*%d", fz_kind_name[k], p->weight[k]);
    }
    printf("\n");
    fflush(stdout);
}

/* All messages of the seed have been received: whatever is still there came twice. */
static void check_nothing_left(MPI_Comm comm, const char *which)
{
    int flag;
    MPI_Status st;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &st);
    FZ_CHECK(NULL, !flag, "at the end a message is left in %s: source %d, tag %d (scene %d, "
             "lane %d)",
             which, flag ? st.MPI_SOURCE : 0, flag ? st.MPI_TAG : 0,
             flag ? st.MPI_TAG / FZ_MAX_THREADS / FZ_TAG_USES : 0,
             flag ? st.MPI_TAG % FZ_MAX_THREADS : 0);
}

static void run_seed(uint64_t seed)
{
    make_plan(seed);
    tell_plan();
    fz.plan.shared = fz.world;
    MPI_Comm_dup(MPI_COMM_WORLD, &fz.plan.shared.comm);
    fz_shared_mem_begin();
    fz_shared_win_begin();
    fz_run_lanes();
    fz_shared_win_end();
    MPI_Barrier(MPI_COMM_WORLD);
    check_nothing_left(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    check_nothing_left(MPI_COMM_SELF, "MPI_COMM_SELF");
    check_nothing_left(fz.plan.shared.comm, "the shared communicator");
    for (int i = 0; i < fz.plan.threads; i++) {
        fz_lane_t *l = &fz.lane[i];
        check_nothing_left(l->own.comm, "a lane's communicator");
        while (l->later) {
            fz_buf_t *b = l->later;
            l->later = b->next;
            fz_buf_free(b);
        }
    }
    fz_shared_mem_end();
    MPI_Comm_free(&fz.plan.shared.comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (fz.rank == 0) {
        printf("ok %llu\n", (unsigned long long) seed);
        fflush(stdout);
    }
}

/* The lanes' communicators live as long as the program: they spread over the VCIs once. */
static void make_comms(void)
{
    fz.world = (fz_comm_t) {.comm = MPI_COMM_WORLD,.me = fz.rank,.n = fz.size };
    fz.self = (fz_comm_t) {.comm = MPI_COMM_SELF,.n = 1 };
    for (int i = 0; i < FZ_MAX_THREADS; i++) {
        fz_lane_t *l = &fz.lane[i];
        l->id = i;
        l->own = fz.world;
        l->own.own = 1;
        MPI_Comm_dup(MPI_COMM_WORLD, &l->own.comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &l->ctl);
    }
}

int main(int argc, char **argv)
{
    int provided, flag, *tag_ub;
    MPI_Errhandler handler;

    options(argc, argv);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &fz.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &fz.size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    FZ_CHECK(NULL, provided == MPI_THREAD_MULTIPLE, "no MPI_THREAD_MULTIPLE");
    FZ_CHECK(NULL, fz.size <= FZ_MAX_PROCS, "more than %d processes", FZ_MAX_PROCS);
    FZ_CHECK(NULL, flag && *tag_ub >> FZ_TAG_BITS, "MPI_TAG_UB is too small");
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    make_comms();
    for (long i = 0; i < option.runs; i++)
        run_seed(option.seed + (uint64_t) i);
    for (int i = 0; i < FZ_MAX_THREADS; i++) {
        MPI_Comm_free(&fz.lane[i].own.comm);
        MPI_Comm_free(&fz.lane[i].ctl);
    }
    MPI_Finalize();
    if (fz.rank == 0)
        printf(" No Errors\n");
    return 0;
}

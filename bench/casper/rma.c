/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Odd processes get data from process i - 1, with a flush after each get: first while that process
 * waits in MPI, then while it computes. Where a get is a message, which without ghosts or other help
 * the target must take in itself, it ends when the computation does. Within a node MPI_Win_allocate
 * copies directly, so what ghosts do shows between nodes. */
#include "exchange.h"

static const exchange_about_t about = {
    .what = "Time of a get and its flush while the target waits, and while it computes.",
    .usage = "rma [-c us]",.own_letters = "c:",.sizes = EXCHANGE_SIZES,
    .own_help = "  -c  us that the target computes in an iteration (1000)\n"
        "  -m mpi: a window of MPI_Win_allocate, which ghosts serve; malloc: of MPI_Win_create\n",
    .memory = MEMORY_MPI,
    .columns = "Columns: times in us\n"
        "  waiting    of a get and its flush while the target waits in MPI\n"
        "  computing  likewise, while the target computes\n"
        "  wait       of the flush alone, while the target computes\n"
        "  alone      computation of the target, without gets\n"
        "  beside     the same computation, beside the gets\n"
        "  slowdown   % by which it takes longer\n"
        "Odd processes get all the time: -p idle is the same as -p own. No message is sent: no -o.\n"
};

enum { WAITING, COMPUTING, FLUSH, ALONE, BESIDE, FIELDS };

static double compute_us = 1000.0;
static MPI_Win win;
static char *memory, *got;      /* of the window; for the gets */
static int bytes;

static int own_option(int c)
{
    if (c != 'c')
        return 0;
    compute_us = (double) bench_int("-c", optarg, 1, 1000000);
    return 1;
}

static int is_target(const exchange_t * e)
{
    return e->rank % 2 == 0;
}

/* MPI_Win_allocate gives no memory for a size of 0. */
static void open_window(exchange_t * e)
{
    const MPI_Aint size = is_target(e) ? bytes + 1 : 0;
    if (e->memory == MEMORY_MPI) {
        MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    } else {
        memory = bench_alloc((size_t) bytes + 1);
        MPI_Win_create(memory, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    got = bench_alloc((size_t) bytes + 1);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
}

static void close_window(exchange_t * e)
{
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (e->memory == MEMORY_MALLOC)
        free(memory);
    free(got);
}

static char byte_at(const exchange_t * e, int phase, int i)
{
    return exchange_byte((uint64_t) (e->rank / 2 * 65537 + phase), i);
}

/* The origin puts what it will get. */
static void put_data(exchange_t * e, int phase)
{
    for (int i = 0; i < bytes; i++)
        got[i] = byte_at(e, phase, i);
    MPI_Put(got, bytes, MPI_CHAR, e->rank - 1, 0, bytes, MPI_CHAR, win);
    MPI_Win_flush(e->rank - 1, win);
    memset(got, 0, (size_t) bytes);
}

static void check_data(const exchange_t * e, int phase)
{
    for (int i = 0; i < bytes; i++) {
        if (got[i] != byte_at(e, phase, i))
            bench_wrong("rma: byte %d of process %d is wrong", i, e->rank - 1);
    }
}

/* Gets for so long, but at least one; adds up their number and the seconds of their flushes, and
 * returns the seconds of all. */
static double get_for(const exchange_t * e, double seconds, long *n, double *flushes)
{
    double start = bench_now(), took;
    do {
        MPI_Get(got, bytes, MPI_CHAR, e->rank - 1, 0, bytes, MPI_CHAR, win);
        double posted = bench_now();
        MPI_Win_flush(e->rank - 1, win);
        double end = bench_now();
        ++*n;
        *flushes += end - posted;
        took = end - start;
    } while (took < seconds);
    return took;
}

/* What a phase takes: of origins, a get and its flush, and the flush; of targets, the computation. */
enum { GET, WAIT, WORK, PARTS };

/* n iterations. Mean us of a get, or for a target of its computation in an iteration; over all. */
static void run(exchange_t * e, long n, long units, int with_gets, double of_phase[PARTS])
{
    double mine[PARTS] = { 0.0, 0.0, 0.0 };
    long gets = 0;
    for (long k = 0; k < n; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = bench_now();
        if (!is_target(e))
            mine[GET] += with_gets ? get_for(e, 1e-6 * compute_us, &gets, &mine[WAIT]) : 0.0;
        else if (units > 0) {
            exchange_compute(units);
            mine[WORK] += bench_now() - start;
        }
    }
    mine[GET] *= gets > 0 ? 1e6 / (double) gets : 0.0;
    mine[WAIT] *= gets > 0 ? 1e6 / (double) gets : 0.0;
    mine[WORK] *= 1e6 / (double) n;
    MPI_Allreduce(mine, of_phase, PARTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < PARTS; i++)
        of_phase[i] /= e->size / 2;
}

/* One round; the gets of each phase bring the data of that phase. */
static void measure_round(exchange_t * e, long n, long units, double of_round[FIELDS])
{
    static int phase;
    double waiting[PARTS], alone[PARTS], beside[PARTS];
    phase = (phase + 1) % 65537;
    if (!is_target(e))
        put_data(e, phase);
    run(e, n, 0, 1, waiting);
    run(e, n, units, 0, alone);
    if (!is_target(e)) {
        check_data(e, phase);
        memset(got, 0, (size_t) bytes);
    }
    run(e, n, units, 1, beside);
    if (!is_target(e))
        check_data(e, phase);
    of_round[WAITING] = waiting[GET];
    of_round[COMPUTING] = beside[GET];
    of_round[FLUSH] = beside[WAIT];
    of_round[ALONE] = alone[WORK];
    of_round[BESIDE] = beside[WORK];
}

static void report(const exchange_t * e, const exchange_options_t * o, const double *value)
{
    const double slowdown = 100.0 * (value[BESIDE] / value[ALONE] - 1.0);
    if (e->rank)
        return;
    if (o->json)
        printf("{\"bench\": \"rma\", \"bytes\": %d, \"users\": %d, \"place\": \"%s\", "
               "\"memory\": \"%s\", \"compute\": %.6g, \"value\": %.6g, \"unit\": "
               "\"us of a get and flush\", \"waiting_us\": %.6g, \"wait_us\": %.6g, "
               "\"alone_us\": %.6g, \"beside_us\": %.6g, \"slowdown\": %.6g}\n",
               bytes, e->size, exchange_places[o->place], exchange_memories[o->memory], compute_us,
               value[COMPUTING], value[WAITING], value[FLUSH], value[ALONE], value[BESIDE], slowdown);
    else
        printf("%8d %9.2f %9.2f %9.2f %9.2f %9.2f %9.1f\n", bytes, value[WAITING], value[COMPUTING],
               value[FLUSH], value[ALONE], value[BESIDE], slowdown);
    fflush(stdout);
}

static void measure(exchange_t * e, const exchange_options_t * o)
{
    double of_round[EXCHANGE_ROUNDS][FIELDS], of_field[EXCHANGE_ROUNDS], value[FIELDS];
    const long units = (long) (compute_us * exchange_units_per_us()) + 1;
    const long n = exchange_iterations(compute_us, o->duration);
    open_window(e);
    for (int r = 0; r < EXCHANGE_ROUNDS; r++)
        measure_round(e, n, units, of_round[r]);
    close_window(e);
    for (int i = 0; i < FIELDS; i++) {
        for (int r = 0; r < EXCHANGE_ROUNDS; r++)
            of_field[r] = of_round[r][i];
        value[i] = exchange_median(of_field);
    }
    report(e, o, value);
}

int main(int argc, char **argv)
{
    exchange_t e;
    exchange_options_t opt;
    exchange_start(&argc, &argv, 2, &e);
    exchange_parse(argc, argv, &about, own_option, &opt);
    if (opt.threshold)
        bench_usage_error("option -o: rma sends no messages");
    if (e.size % 2)
        bench_usage_error("run with an even number of processes (and ghosts), not %d", e.size);
    exchange_place(&e, opt.place == PLACE_IDLE ? PLACE_OWN : opt.place);
    e.memory = opt.memory;
    if (e.rank == 0 && !opt.json)
        printf("# %d processes\n"
               "#  bytes   waiting computing      wait     alone    beside slowdown%%\n", e.size);
    for (int i = 0; i < opt.n; i++) {
        bytes = opt.sizes[i];
        measure(&e, &opt);
    }
    exchange_end(&e);
    return 0;
}

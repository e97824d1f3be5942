/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Process i exchanges a window of messages with process i ^ 1: what posting costs, what waiting
 * costs, and the rate (CasperII, figures 3 and 4). */
#include "exchange.h"

static const exchange_about_t about = {
    .what = "Time of MPI_Isend and MPI_Irecv, of MPI_Waitall, and message rate.",
    .usage = "post [-w window] [-c us]",.own_letters = "w:c:",.sizes = EXCHANGE_SIZES,
    .own_help = "  -w  messages that a process sends, and receives, before it waits (1)\n"
        "  -c  us to compute for the columns compute to slowdown (100)\n"
};

static int window = 1;
static double compute_us = 100.0;

static int own_option(int c)
{
    switch (c) {
        case 'w': window = (int) bench_int("-w", optarg, 1, 1024); return 1;
        case 'c': compute_us = (double) bench_int("-c", optarg, 1, 1000000); return 1;
        default: return 0;
    }
}

int main(int argc, char **argv)
{
    exchange_t e;
    exchange_options_t opt;
    char more[32];
    exchange_start(&argc, &argv, 2, &e);
    exchange_parse(argc, argv, &about, own_option, &opt);
    if (e.size % 2)
        bench_usage_error("run with an even number of processes (and ghosts), not %d", e.size);
    snprintf(more, sizeof(more), "\"window\": %d, ", window);
    exchange_place(&e, opt.place);
    exchange_header(&e, &opt);
    for (int i = 0; i < opt.n; i++) {
        exchange_add(&e, 0, e.rank ^ 1, 0, opt.sizes[i], window);
        exchange_add(&e, 1, e.rank ^ 1, 0, opt.sizes[i], window);
        exchange_result_t r = exchange_measure(&e, opt.duration, compute_us);
        exchange_report(&e, &opt, "post", opt.sizes[i], more, &r, r.post, "us to post one operation");
        exchange_clear(&e);
    }
    exchange_end(&e);
    return 0;
}

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

static double compute_us = 100.0;

static int own_option(int c)
{
    if (c != 'c')
        return exchange_window_option(c);
    compute_us = (double) bench_int("-c", optarg, 1, 1000000);
    return 1;
}

static double post_time(const exchange_result_t * r)
{
    return r->post;
}

int main(int argc, char **argv)
{
    exchange_t e;
    exchange_options_t opt;
    exchange_start(&argc, &argv, 2, &e);
    exchange_parse(argc, argv, &about, own_option, &opt);
    const exchange_program_t program = {
        .add = exchange_add_pairs,.compute_us = compute_us,.value = post_time,.bench = "post",
        .unit = "us to post one operation",.more = exchange_window_field()
    };
    exchange_run_sizes(&e, &opt, &program);
    return 0;
}

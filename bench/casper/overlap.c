/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Process i sends one message to process i ^ 1 and receives one, and computes meanwhile for as long as
 * the exchange alone takes (CasperII, figures 5 and 6). */
#include "exchange.h"

static const exchange_about_t about = {
    .what = "How much of an exchange a computation of the same length hides.",
    .usage = "overlap [-w window]",.own_letters = "w:",.sizes = EXCHANGE_SIZES,
    .own_help = "  -w  messages that a process sends, and receives, before it waits (1)\n"
};

static double overlapped(const exchange_result_t * r)
{
    return r->overlap;
}

int main(int argc, char **argv)
{
    exchange_t e;
    exchange_options_t opt;
    exchange_start(&argc, &argv, 2, &e);
    exchange_parse(argc, argv, &about, exchange_window_option, &opt);
    const exchange_program_t program = {
        .add = exchange_add_pairs,.value = overlapped,.bench = "overlap",
        .unit = "% overlapped",.more = exchange_window_field()
    };
    exchange_run_sizes(&e, &opt, &program);
    return 0;
}

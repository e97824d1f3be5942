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

static int window = 1;

static int own_option(int c)
{
    if (c != 'w')
        return 0;
    window = (int) bench_int("-w", optarg, 1, 1024);
    return 1;
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
        exchange_result_t r = exchange_measure(&e, opt.duration, 0.0);
        exchange_report(&e, &opt, "overlap", opt.sizes[i], more, &r, r.overlap, "% overlapped");
        exchange_clear(&e);
    }
    exchange_end(&e);
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* All other processes send to process 0, all with the same tag: the receiver must tell the senders
 * apart, also those that share a ghost. A message of no bytes goes back to each, so no sender is more
 * than one iteration ahead. */
#include "exchange.h"

static const exchange_about_t about = {
    .what = "Message rate of many senders to one receiver, with equal tags.",
    .usage = "many2one [-w window]",.own_letters = "w:",.sizes = "64,8192,65536",
    .own_help = "  -w  messages of each sender before it waits (8)\n"
};

static int window = 8;

static int own_option(int c)
{
    if (c != 'w')
        return 0;
    window = (int) bench_int("-w", optarg, 1, 1024);
    return 1;
}

static void add_messages(exchange_t * e, int bytes)
{
    if (e->rank > 0) {
        exchange_add(e, 0, 0, 0, 0, 1);
        exchange_add(e, 1, 0, 0, bytes, window);
        return;
    }
    for (int i = 1; i < e->size; i++)
        exchange_add(e, 0, i, 0, bytes, window);
    for (int i = 1; i < e->size; i++)
        exchange_add(e, 1, i, 0, 0, 1);
}

int main(int argc, char **argv)
{
    exchange_t e;
    exchange_options_t opt;
    char more[32];
    exchange_start(&argc, &argv, 2, &e);
    exchange_parse(argc, argv, &about, own_option, &opt);
    snprintf(more, sizeof(more), "\"window\": %d, ", window);
    exchange_place(&e, opt.place);
    exchange_header(&e, &opt);
    for (int i = 0; i < opt.n; i++) {
        add_messages(&e, opt.sizes[i]);
        exchange_result_t r = exchange_measure(&e, opt.duration, 0.0);
        exchange_report(&e, &opt, "many2one", opt.sizes[i], more, &r, r.rate, "M/s");
        exchange_clear(&e);
    }
    exchange_end(&e);
    return 0;
}

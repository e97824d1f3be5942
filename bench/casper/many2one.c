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

static void add_messages(exchange_t * e, int bytes)
{
    if (e->rank > 0) {
        exchange_add(e, 0, 0, 0, 0, 1);
        exchange_add(e, 1, 0, 0, bytes, exchange_window);
        return;
    }
    for (int i = 1; i < e->size; i++)
        exchange_add(e, 0, i, 0, bytes, exchange_window);
    for (int i = 1; i < e->size; i++)
        exchange_add(e, 1, i, 0, 0, 1);
}

static double rate(const exchange_result_t * r)
{
    return r->rate;
}

int main(int argc, char **argv)
{
    exchange_t e;
    exchange_options_t opt;
    exchange_window = 8;
    exchange_start(&argc, &argv, 2, &e);
    exchange_parse(argc, argv, &about, exchange_window_option, &opt);
    const exchange_program_t program = {
        .add = add_messages,.value = rate,.bench = "many2one",
        .unit = "M/s",.more = exchange_window_field()
    };
    exchange_run_sizes(&e, &opt, &program);
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The processes form a two-dimensional torus. Each exchanges a face with each of its neighbours,
 * computes, and waits (CasperII, figure 7). The tag is the direction in which a face travels: where a
 * dimension has two processes, both neighbours are the same one. */
#include "exchange.h"

static const exchange_about_t about = {
    .what = "Exchange of the faces of a two-dimensional torus with a computation.",
    .usage = "halo2d [-c us]",.own_letters = "c:",.sizes = "524288",
    .own_help = "  -c  us to compute between posting and waiting (300)\n"
};

static double compute_us = 300.0;

static int own_option(int c)
{
    if (c != 'c')
        return 0;
    compute_us = (double) bench_int("-c", optarg, 1, 1000000);
    return 1;
}

static int from[4], to[4];      /* neighbours; MPI_PROC_NULL in a dimension of one process */

static void find_neighbours(MPI_Comm torus)
{
    for (int i = 0; i < 4; i++)
        MPI_Cart_shift(torus, i / 2, i % 2 ? 1 : -1, &from[i], &to[i]);
}

static void add_faces(exchange_t * e, int bytes)
{
    for (int is_send = 0; is_send < 2; is_send++) {
        for (int i = 0; i < 4; i++) {
            int peer = is_send ? to[i] : from[i];
            if (peer != MPI_PROC_NULL)
                exchange_add(e, is_send, peer, i, bytes, 1);
        }
    }
}

static double together(const exchange_result_t * r)
{
    return r->together;
}

int main(int argc, char **argv)
{
    exchange_t e;
    exchange_options_t opt;
    char more[64];
    int dims[2] = { 0, 0 };
    MPI_Comm torus;
    exchange_start(&argc, &argv, 2, &e);
    exchange_parse(argc, argv, &about, own_option, &opt);
    MPI_Dims_create(e.size, 2, dims);
    const int is_periodic[2] = { dims[0] > 1, dims[1] > 1 };
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, is_periodic, 0, &torus);
    snprintf(more, sizeof(more), "\"compute\": %.6g, ", compute_us);
    find_neighbours(torus);
    MPI_Comm_free(&torus);
    const exchange_program_t program = {
        .add = add_faces,.compute_us = compute_us,.value = together,.bench = "halo2d",
        .unit = "us for an iteration",.more = more
    };
    exchange_run_sizes(&e, &opt, &program);
    return 0;
}

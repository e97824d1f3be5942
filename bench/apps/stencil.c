/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Heat equation on a cube, 3D 7-point stencil (TOPC, section 7.2.2). The cube is divided among
 * the processes along all dimensions, and a process's part among its threads along y and z, never
 * along x, the dimension of adjacent memory. In each iteration every thread sends and receives
 * the part of the process's faces that its own block touches, waits with MPI_Waitall and computes
 * its block; the threads meet only at the end of the iteration.
 *
 * The check: the serial answer (the whole cube as one block of one thread), bit by bit, since
 * each cell takes the same operations in the same order. */
#include "apps.h"

enum { X, Y, Z, AXES };
#define FACES (2 * AXES)        /* face f is at the lower (f even) or upper end of axis f / 2 */

typedef struct {
    int lo[AXES], hi[AXES];     /* cells lo .. hi - 1 of the process's part */
} box_t;

/* A process's part of the cube, with a layer of cells of the neighbours around it. */
typedef struct {
    int from[AXES], len[AXES];
    long stride[AXES];
    int neighbour[FACES];
    int blocks[2];              /* threads along y and z */
    double *cell[2];            /* the current iteration reads one and writes the other */
} grid_t;

/* What a thread exchanges through one face. */
typedef struct {
    int peer;
    int send_tag, receive_tag;
    box_t inner, outer;         /* own cells at the face, the neighbour's beyond it */
    int cells;
    double *out, *in;
} face_t;

static long edge = 48, iterations = 1000;
static MPI_Comm comm;

static double *cell_at(const grid_t * g, double *cell, int x, int y, int z)
{
    return cell + (x + 1) * g->stride[X] + (y + 1) * g->stride[Y] + (z + 1) * g->stride[Z];
}

/* Allocates the part from, len; the cells have their first values, those outside of the cube 0. */
static void fill_grid(grid_t * g)
{
    g->stride[X] = 1;
    g->stride[Y] = g->len[X] + 2;
    g->stride[Z] = g->stride[Y] * (g->len[Y] + 2);
    for (int i = 0; i < 2; i++)
        g->cell[i] = bench_alloc((size_t) (g->stride[Z] * (g->len[Z] + 2)) * sizeof(double));
    for (int z = 0; z < g->len[Z]; z++) {
        for (int y = 0; y < g->len[Y]; y++) {
            for (int x = 0; x < g->len[X]; x++) {
                long index = ((g->from[Z] + z) * edge + g->from[Y] + y) * edge + g->from[X] + x;

                *cell_at(g, g->cell[0], x, y, z) =
                    app_random_real((uint64_t) app_seed, (uint64_t) index);
            }
        }
    }
}

static void free_grid(grid_t * g)
{
    free(g->cell[0]);
    free(g->cell[1]);
}

/* This process's part of the cube, for so many threads. */
static grid_t own_grid(int threads)
{
    grid_t g = { 0 };
    int dims[AXES], periods[AXES], coords[AXES];

    MPI_Cart_get(comm, AXES, dims, periods, coords);
    for (int a = 0; a < AXES; a++) {
        int hi;

        app_part(edge, dims[a], coords[a], &g.from[a], &hi);
        g.len[a] = hi - g.from[a];
        MPI_Cart_shift(comm, a, 1, &g.neighbour[2 * a], &g.neighbour[2 * a + 1]);
    }
    MPI_Dims_create(threads, 2, g.blocks);
    fill_grid(&g);
    return g;
}

/* The whole cube, for one thread. */
static grid_t whole_grid(void)
{
    grid_t g = {.len = {(int) edge, (int) edge, (int) edge},.blocks = {1, 1} };

    for (int f = 0; f < FACES; f++)
        g.neighbour[f] = MPI_PROC_NULL;
    fill_grid(&g);
    return g;
}

static box_t block_of(const grid_t * g, int thread)
{
    box_t b = {.hi = {g->len[X]} };

    app_part(g->len[Y], g->blocks[0], thread % g->blocks[0], &b.lo[Y], &b.hi[Y]);
    app_part(g->len[Z], g->blocks[1], thread / g->blocks[0], &b.lo[Z], &b.hi[Z]);
    return b;
}

static int cells_of(const box_t * b)
{
    int n = 1;

    for (int a = 0; a < AXES; a++)
        n *= b->hi[a] - b->lo[a];
    return n;
}

/* The faces of the process's part that the block touches and that have a neighbour: returns their
 * number. The neighbour across a face is divided alike in its plane, so the number of the block
 * within the face names the same cells on both sides. */
static int make_faces(const grid_t * g, const box_t * b, int thread, face_t face[FACES])
{
    const int within[AXES] = { thread, thread / g->blocks[0], thread % g->blocks[0] };
    int n = 0;

    for (int f = 0; f < FACES; f++) {
        const int a = f / 2, upper = f % 2;
        face_t *e = &face[n];

        if (g->neighbour[f] == MPI_PROC_NULL || cells_of(b) == 0 ||
            (upper ? b->hi[a] != g->len[a] : b->lo[a] != 0))
            continue;
        e->peer = g->neighbour[f];
        e->send_tag = f * BENCH_MAX_THREADS + within[a];
        e->receive_tag = (f ^ 1) * BENCH_MAX_THREADS + within[a];
        e->inner = e->outer = *b;
        e->inner.lo[a] = upper ? g->len[a] - 1 : 0;
        e->outer.lo[a] = upper ? g->len[a] : -1;
        e->inner.hi[a] = e->inner.lo[a] + 1;
        e->outer.hi[a] = e->outer.lo[a] + 1;
        e->cells = cells_of(&e->inner);
        e->out = bench_alloc((size_t) e->cells * sizeof(double));
        e->in = bench_alloc((size_t) e->cells * sizeof(double));
        n++;
    }
    return n;
}

static void pack(const grid_t * g, double *cell, const face_t * e)
{
    double *out = e->out;

    for (int z = e->inner.lo[Z]; z < e->inner.hi[Z]; z++)
        for (int y = e->inner.lo[Y]; y < e->inner.hi[Y]; y++)
            for (int x = e->inner.lo[X]; x < e->inner.hi[X]; x++)
                *out++ = *cell_at(g, cell, x, y, z);
}

static void unpack(const grid_t * g, double *cell, const face_t * e)
{
    const double *in = e->in;

    for (int z = e->outer.lo[Z]; z < e->outer.hi[Z]; z++)
        for (int y = e->outer.lo[Y]; y < e->outer.hi[Y]; y++)
            for (int x = e->outer.lo[X]; x < e->outer.hi[X]; x++)
                *cell_at(g, cell, x, y, z) = *in++;
}

static void exchange(const grid_t * g, double *cell, face_t * face, int faces)
{
    MPI_Request request[2 * FACES];

    for (int i = 0; i < faces; i++)
        MPI_Irecv(face[i].in, face[i].cells, MPI_DOUBLE, face[i].peer, face[i].receive_tag, comm,
                  &request[i]);
    for (int i = 0; i < faces; i++) {
        pack(g, cell, &face[i]);
        MPI_Isend(face[i].out, face[i].cells, MPI_DOUBLE, face[i].peer, face[i].send_tag, comm,
                  &request[faces + i]);
    }
    MPI_Waitall(2 * faces, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < faces; i++)
        unpack(g, cell, &face[i]);
}

static void compute(const grid_t * g, const box_t * b, double *from, double *to)
{
    const long sy = g->stride[Y], sz = g->stride[Z];

    for (int z = b->lo[Z]; z < b->hi[Z]; z++) {
        for (int y = b->lo[Y]; y < b->hi[Y]; y++) {
            const double *c = cell_at(g, from, 0, y, z);
            double *next = cell_at(g, to, 0, y, z);

            for (int x = 0; x < g->len[X]; x++) {
                double around = c[x - 1] + c[x + 1] + c[x - sy] + c[x + sy] + c[x - sz] + c[x + sz];

                next[x] = c[x] + 0.1 * (around - 6.0 * c[x]);
            }
        }
    }
}

/* All iterations, by one thread of the team. */
static void iterate(const grid_t * g, int thread)
{
    const box_t b = block_of(g, thread);
    face_t face[FACES];
    const int faces = make_faces(g, &b, thread, face);

    for (long i = 0; i < iterations; i++) {
        exchange(g, g->cell[i % 2], face, faces);
        compute(g, &b, g->cell[i % 2], g->cell[(i + 1) % 2]);
#pragma omp barrier
    }
    for (int i = 0; i < faces; i++) {
        free(face[i].out);
        free(face[i].in);
    }
}

/* Returns the seconds that it took. */
static double solve(const grid_t * g)
{
    const int threads = g->blocks[0] * g->blocks[1];
    const double start = bench_now();

#pragma omp parallel num_threads(threads)
    {
        app_check_team(threads);
        iterate(g, omp_get_thread_num());
    }
    return bench_now() - start;
}

/* The check: how many own cells differ from the serial answer. */
static long differences(const grid_t * g, const grid_t * serial)
{
    long n = 0;

    for (int z = 0; z < g->len[Z]; z++) {
        for (int y = 0; y < g->len[Y]; y++) {
            const double *c = cell_at(g, g->cell[iterations % 2], 0, y, z);
            const double *s = cell_at(serial, serial->cell[iterations % 2], g->from[X],
                                      g->from[Y] + y, g->from[Z] + z);

            for (int x = 0; x < g->len[X]; x++)
                n += !(c[x] == s[x]);
        }
    }
    return n;
}

static void setup(void)
{
    int dims[AXES] = { 0 }, periods[AXES] = { 0 };

    /* the longest dimension first: with two processes, all threads exchange along x */
    MPI_Dims_create(app_size, AXES, dims);
    if (dims[X] > edge)
        bench_usage_error("option -s: %d processes need at least %d", app_size, dims[X]);
    MPI_Cart_create(MPI_COMM_WORLD, AXES, dims, periods, 0, &comm);
}

static long run(int threads, double *rate)
{
    grid_t own = own_grid(threads), serial = whole_grid();
    double seconds, longest;
    long wrong;

    MPI_Barrier(comm);
    seconds = solve(&own);
    MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, comm);
    *rate = (double) (edge * edge * edge * iterations) / longest;
    solve(&serial);
    wrong = differences(&own, &serial);
    free_grid(&own);
    free_grid(&serial);
    return wrong;
}

int main(int argc, char **argv)
{
    static const app_option_t options[] = {
        {'s', "edge", "cells along an edge of the cube", &edge, 1, 1024},
        {'n', "iterations", "iterations", &iterations, 1, 1000000},
        {0}
    };
    static const app_t app = {
        .name = "stencil",.unit = "M cells/s",.options = options,.setup = setup,.run = run,
        .about = "3D 7-point stencil, all threads communicate; prints million cell updates/s.",
        .threads = "threads of a process"
    };

    return app_main(&app, argc, argv);
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Particle transport in the manner of SNAP (TOPC, section 7.3; ICS'19, section 4, "SNAP:
 * Particle Transport"): discrete ordinates, solved by sweeps after Koch, Baker and Alcouffe
 * (KBA). The processes divide y and z; the energy groups are divided among the threads. For each
 * of the eight octants of directions, each chunk of x and each of its groups, a thread receives
 * the fluxes that enter through the faces in y and z, solves the cells for all angles of the
 * octant, and sends on what leaves. The tag names group and face. So the wave of computation goes
 * through the processes, with many small messages of all threads under way.
 *
 * Thread i has the same groups in all processes and goes through the steps in the same order. A
 * step waits only for itself upstream and, until its sends end, downstream, so the sweep cannot
 * deadlock.
 *
 * The check: the whole domain, swept by one thread of one process without messages, bit by bit,
 * since each cell takes the same operations in the same order. */
#include "apps.h"

enum { IN_Y, IN_Z, FACES };
#define OCTANTS 8               /* bits 0, 1, 2 of an octant: downward in x, y, z */

/* The part of the domain that is swept: of this process, or all of it. */
typedef struct {
    MPI_Comm comm;              /* a grid of processes in y and z */
    int from_y, from_z, ny, nz;
    int neighbour[FACES][2];    /* at the lower and the upper end */
    double *flux, *source;      /* [group][z][y][x] */
    double *x_face;             /* [group][z][y][angle]: goes on from chunk to chunk */
} domain_t;

/* What a thread needs for its sweep. Fluxes through a face: [row][cell of the row][angle]. */
typedef struct {
    const domain_t *d;
    double *in[FACES], *out[FACES];
    MPI_Request sent[FACES];
    double *slopes;             /* of each angle: in x, y, z */
} sweeper_t;

static long nx = 32, ny = 8, nz = 8, chunk = 4, angles = 4, groups = 32, iterations = 40;
static MPI_Comm grid;

/* The row of cells at group g, z, y of a field. */
static double *row_of(const domain_t * d, double *field, long g, int z, int y)
{
    return field + ((g * d->nz + z) * d->ny + y) * nx;
}

static void allocate_fields(domain_t * d)
{
    const size_t rows = (size_t) (groups * d->nz * d->ny);

    d->flux = bench_alloc(rows * (size_t) nx * sizeof(double));
    d->source = bench_alloc(rows * (size_t) nx * sizeof(double));
    d->x_face = bench_alloc(rows * (size_t) angles * sizeof(double));
}

static void free_fields(domain_t * d)
{
    free(d->flux);
    free(d->source);
    free(d->x_face);
}

static domain_t own_domain(void)
{
    domain_t d = {.comm = grid };
    int dims[FACES], periods[FACES], coords[FACES], hi;

    MPI_Cart_get(grid, FACES, dims, periods, coords);
    app_part(ny, dims[IN_Y], coords[IN_Y], &d.from_y, &hi);
    d.ny = hi - d.from_y;
    app_part(nz, dims[IN_Z], coords[IN_Z], &d.from_z, &hi);
    d.nz = hi - d.from_z;
    for (int f = 0; f < FACES; f++)
        MPI_Cart_shift(grid, f, 1, &d.neighbour[f][0], &d.neighbour[f][1]);
    allocate_fields(&d);
    return d;
}

static domain_t whole_domain(void)
{
    domain_t d = {.comm = MPI_COMM_SELF,.ny = (int) ny,.nz = (int) nz };

    for (int f = 0; f < FACES; f++)
        d.neighbour[f][0] = d.neighbour[f][1] = MPI_PROC_NULL;
    allocate_fields(&d);
    return d;
}

/* Cross section of a group, and the part of it that scatters within the group and to the next
 * one. */
static double total(long g)
{
    return 1.0 + app_random_real((uint64_t) app_seed, (uint64_t) g);
}

#define SCATTER_WITHIN 0.4
#define SCATTER_DOWN 0.2

/* Direction cosine of an angle along an axis, twice, over the width of a cell. */
static double slope(long angle, int axis)
{
    const uint64_t index = (uint64_t) (angle * 3 + axis);

    return 2.0 * (0.1 + 0.8 * app_random_real((uint64_t) app_seed + 1, index));
}

static double fixed_source(long g, int x, int y, int z)
{
    return app_random_real((uint64_t) app_seed + 2, (uint64_t) (((g * nz + z) * ny + y) * nx + x));
}

/* One cell, all angles of an octant: diamond differences, without fix-up. q is the source; fx, fy
 * and fz enter with the fluxes that come in and leave with those that go out. Returns the scalar
 * flux. */
static double solve_cell(double q, double sigma, const double *slopes, double *fx, double *fy,
                         double *fz)
{
    double sum = 0.0;

    for (long a = 0; a < angles; a++) {
        const double *s = slopes + 3 * a;
        double in = s[0] * fx[a] + s[1] * fy[a] + s[2] * fz[a];
        double psi = (q + in) / (sigma + s[0] + s[1] + s[2]);

        fx[a] = 2.0 * psi - fx[a];
        fy[a] = 2.0 * psi - fy[a];
        fz[a] = 2.0 * psi - fz[a];
        sum += psi;
    }
    return sum / (double) (OCTANTS * angles);
}

/* The sources of a group: fixed, and scattered in the last iteration. */
static void set_sources(const domain_t * d, long g)
{
    for (int z = 0; z < d->nz; z++) {
        for (int y = 0; y < d->ny; y++) {
            const double *within = row_of(d, d->flux, g, z, y);
            const double *down = row_of(d, d->flux, g > 0 ? g - 1 : 0, z, y);
            double *q = row_of(d, d->source, g, z, y);

            for (int x = 0; x < nx; x++) {
                q[x] = fixed_source(g, x, d->from_y + y, d->from_z + z);
                q[x] += SCATTER_WITHIN * total(g) * within[x];
                q[x] += g > 0 ? SCATTER_DOWN * total(g - 1) * down[x] : 0.0;
            }
        }
    }
}

/* Number i of n in the direction of travel. */
static int along(int i, int n, int downward)
{
    return downward ? n - 1 - i : i;
}

/* Octant o, group g, width cells along x from x0: the fluxes that enter are in s->in, those that
 * leave go to s->out. */
static void solve_chunk(sweeper_t * s, int o, int x0, int width, long g)
{
    const domain_t *d = s->d;
    double *y_face = s->out[IN_Y], *z_face = s->out[IN_Z];
    const double sigma = total(g);

    memcpy(y_face, s->in[IN_Y], (size_t) (d->nz * width * angles) * sizeof(double));
    memcpy(z_face, s->in[IN_Z], (size_t) (d->ny * width * angles) * sizeof(double));
    for (int k = 0; k < d->nz; k++) {
        for (int j = 0; j < d->ny; j++) {
            const int z = along(k, d->nz, o & 4), y = along(j, d->ny, o & 2);
            double *fx = d->x_face + ((g * d->nz + z) * d->ny + y) * angles;
            double *flux = row_of(d, d->flux, g, z, y) + x0;
            const double *q = row_of(d, d->source, g, z, y) + x0;

            for (int i = 0; i < width; i++) {
                const int x = along(i, width, o & 1);

                flux[x] += solve_cell(q[x], sigma, s->slopes, fx,
                                      y_face + (z * width + x) * angles,
                                      z_face + (y * width + x) * angles);
            }
        }
    }
}

/* One step of the sweep: receives, solves, sends. Nothing enters from outside of the domain. */
static void step(sweeper_t * s, int o, int x0, int width, long g)
{
    const domain_t *d = s->d;
    const int down[FACES] = { (o & 2) != 0, (o & 4) != 0 };
    const int count[FACES] = { (int) (d->nz * width * angles), (int) (d->ny * width * angles) };
    MPI_Request arrived[FACES];

    for (int f = 0; f < FACES; f++) {
        int upstream = d->neighbour[f][down[f]];

        if (upstream == MPI_PROC_NULL)
            memset(s->in[f], 0, (size_t) count[f] * sizeof(double));
        MPI_Irecv(s->in[f], count[f], MPI_DOUBLE, upstream, (int) g * FACES + f, d->comm,
                  &arrived[f]);
    }
    MPI_Waitall(FACES, arrived, MPI_STATUSES_IGNORE);
    MPI_Waitall(FACES, s->sent, MPI_STATUSES_IGNORE);   /* out is free again */
    solve_chunk(s, o, x0, width, g);
    for (int f = 0; f < FACES; f++)
        MPI_Isend(s->out[f], count[f], MPI_DOUBLE, d->neighbour[f][!down[f]], (int) g * FACES + f,
                  d->comm, &s->sent[f]);
}

/* One octant, the groups of one thread. */
static void sweep_octant(sweeper_t * s, int o, int thread, int threads)
{
    const domain_t *d = s->d;
    const int chunks = (int) ((nx + chunk - 1) / chunk);
    const size_t face = (size_t) (d->nz * d->ny * angles);

    for (long g = thread; g < groups; g += threads)
        memset(d->x_face + (size_t) g * face, 0, face * sizeof(double));
    for (int i = 0; i < chunks; i++) {
        const int x0 = along(i, chunks, o & 1) * (int) chunk;
        const int width = (int) (x0 + chunk < nx ? chunk : nx - x0);

        for (long g = thread; g < groups; g += threads)
            step(s, o, x0, width, g);
    }
}

static sweeper_t make_sweeper(const domain_t * d)
{
    sweeper_t s = {.d = d };
    const size_t row[FACES] = { (size_t) d->nz, (size_t) d->ny };

    for (int f = 0; f < FACES; f++) {
        s.in[f] = bench_alloc(row[f] * (size_t) (chunk * angles) * sizeof(double));
        s.out[f] = bench_alloc(row[f] * (size_t) (chunk * angles) * sizeof(double));
        s.sent[f] = MPI_REQUEST_NULL;
    }
    s.slopes = bench_alloc((size_t) (3 * angles) * sizeof(double));
    for (long a = 0; a < 3 * angles; a++)
        s.slopes[a] = slope(a / 3, (int) (a % 3));
    return s;
}

static void free_sweeper(sweeper_t * s)
{
    MPI_Waitall(FACES, s->sent, MPI_STATUSES_IGNORE);
    for (int f = 0; f < FACES; f++) {
        free(s->in[f]);
        free(s->out[f]);
    }
    free(s->slopes);
}

/* All iterations, by one thread of a team. */
static void iterate(const domain_t * d, int thread, int threads)
{
    sweeper_t s = make_sweeper(d);

    for (long n = 0; n < iterations; n++) {
        for (long g = thread; g < groups; g += threads)
            set_sources(d, g);
#pragma omp barrier
        for (long g = thread; g < groups; g += threads)
            memset(row_of(d, d->flux, g, 0, 0), 0, (size_t) (d->nz * d->ny * nx) * sizeof(double));
        for (int o = 0; o < OCTANTS; o++)
            sweep_octant(&s, o, thread, threads);
#pragma omp barrier
    }
    free_sweeper(&s);
}

/* Returns the seconds that it took. */
static double solve(const domain_t * d, int threads)
{
    const double start = bench_now();

#pragma omp parallel num_threads(threads)
    {
        app_check_team(threads);
        iterate(d, omp_get_thread_num(), threads);
    }
    return bench_now() - start;
}

/* The check: how many own cells and groups differ from the answer of one thread. */
static long differences(const domain_t * d, const domain_t * whole)
{
    long n = 0;

    for (long g = 0; g < groups; g++) {
        for (int z = 0; z < d->nz; z++) {
            for (int y = 0; y < d->ny; y++) {
                const double *a = row_of(d, d->flux, g, z, y);
                const double *b = row_of(whole, whole->flux, g, d->from_z + z, d->from_y + y);

                for (long x = 0; x < nx; x++)
                    n += !(a[x] == b[x]);
            }
        }
    }
    return n;
}

static void setup(void)
{
    int dims[FACES] = { 0 }, periods[FACES] = { 0 };

    MPI_Dims_create(app_size, FACES, dims);
    if (dims[IN_Y] > ny || dims[IN_Z] > nz)
        bench_usage_error("option -y, -z: %d processes need at least %d, %d", app_size, dims[IN_Y],
                          dims[IN_Z]);
    chunk = chunk < nx ? chunk : nx;
    MPI_Cart_create(MPI_COMM_WORLD, FACES, dims, periods, 0, &grid);
}

static long run(int threads, double *rate)
{
    domain_t own = own_domain(), whole = whole_domain();
    double seconds, longest;
    long wrong;

    MPI_Barrier(grid);
    seconds = solve(&own, threads);
    MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, grid);
    *rate = (double) (nx * ny * nz * angles * OCTANTS) * (double) (groups * iterations) / longest;
    solve(&whole, 1);
    wrong = differences(&own, &whole);
    free_fields(&own);
    free_fields(&whole);
    return wrong;
}

int main(int argc, char **argv)
{
    static const app_option_t options[] = {
        {'x', "nx", "cells along x", &nx, 1, 1024},
        {'y', "ny", "cells along y", &ny, 1, 1024},
        {'z', "nz", "cells along z", &nz, 1, 1024},
        {'c', "chunk", "cells along x for each message", &chunk, 1, 1024},
        {'a', "angles", "angles of an octant", &angles, 1, 256},
        {'g', "groups", "energy groups", &groups, 1, 4096},
        {'n', "iterations", "iterations", &iterations, 1, 100000},
        {0}
    };
    static const app_t app = {
        .name = "sweep",.unit = "M updates/s",.options = options,.setup = setup,.run = run,
        .about = "Wavefront sweeps in the manner of SNAP; prints million updates/s, each of a cell\n"
            "for one angle and one group.",
        .threads = "threads of a process; those beyond the groups have nothing to do"
    };

    return app_main(&app, argc, argv);
}

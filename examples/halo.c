/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The heat equation u_t = u_xx + u_yy on the periodic unit square, explicit steps, N x N points.
 * Processes form a 2-D Cartesian grid; the rows of a process are shared out to T threads, and
 * every thread exchanges the halos of its own rows itself (MPI_THREAD_MULTIPLE):
 *   west and east   each thread its rows, tag: thread
 *   north and south the first and the last thread, tags of their own
 * u0 = 1 + sin(2 pi x) sin(2 pi y) is a sum of eigenvectors of the discrete operator: the
 * constant stays, the wave shrinks by the same known factor each step.  So the exact discrete
 * solution is known, and so are the sum (N^2) and the sum of squares. */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PI 3.14159265358979323846
#define LAMBDA 0.2              /* dt / h^2; stable up to 0.25 */
#define MAX_THREADS 256

enum { NORTH, SOUTH, WEST, EAST };

static int n = 192, steps = 400, nthreads = 4;
static int rows, cols, row0, col0, neighbour[4];
static MPI_Comm grid;
static double *field[2];        /* (rows + 2) x (cols + 2), with halos */
static pthread_barrier_t step_done;

static double *at(double *f, int r, int c)
{
    return f + (size_t) r * (size_t) (cols + 2) + c;
}

static int split(int total, int parts, int index)
{
    return (int) ((long) total * index / parts);
}

static double wave(int r, int c)
{
    return sin(2 * PI * (row0 + r - 1) / n) * sin(2 * PI * (col0 + c - 1) / n);
}

static void initialize(void)
{
    for (int r = 1; r <= rows; r++)
        for (int c = 1; c <= cols; c++)
            *at(field[0], r, c) = 1.0 + wave(r, c);
}

/* Exchanges the halos of rows first..last.  The tag names what is sent: a column piece by its
 * thread and direction, a row by its direction. */
static void exchange(double *f, int id, int first, int last, MPI_Datatype column)
{
    MPI_Request r[8];
    int k = 0, tag = 4 * (id + 1);
    MPI_Irecv(at(f, first, 0), 1, column, neighbour[WEST], tag + EAST, grid, &r[k++]);
    MPI_Irecv(at(f, first, cols + 1), 1, column, neighbour[EAST], tag + WEST, grid, &r[k++]);
    MPI_Isend(at(f, first, 1), 1, column, neighbour[WEST], tag + WEST, grid, &r[k++]);
    MPI_Isend(at(f, first, cols), 1, column, neighbour[EAST], tag + EAST, grid, &r[k++]);
    if (first == 1) {
        MPI_Irecv(at(f, 0, 1), cols, MPI_DOUBLE, neighbour[NORTH], SOUTH, grid, &r[k++]);
        MPI_Isend(at(f, 1, 1), cols, MPI_DOUBLE, neighbour[NORTH], NORTH, grid, &r[k++]);
    }
    if (last == rows) {
        MPI_Irecv(at(f, rows + 1, 1), cols, MPI_DOUBLE, neighbour[SOUTH], NORTH, grid, &r[k++]);
        MPI_Isend(at(f, rows, 1), cols, MPI_DOUBLE, neighbour[SOUTH], SOUTH, grid, &r[k++]);
    }
    MPI_Waitall(k, r, MPI_STATUSES_IGNORE);
}

static void update(double *to, double *from, int first, int last)
{
    for (int r = first; r <= last; r++) {
        const double *up = at(from, r - 1, 0), *me = at(from, r, 0), *down = at(from, r + 1, 0);
        double *out = at(to, r, 0);
        for (int c = 1; c <= cols; c++)
            out[c] = me[c] + LAMBDA * (up[c] + down[c] + me[c - 1] + me[c + 1] - 4 * me[c]);
    }
}

static void *worker(void *arg)
{
    int id = *(int *) arg;
    int first = 1 + split(rows, nthreads, id), last = split(rows, nthreads, id + 1);
    MPI_Datatype column;
    MPI_Type_vector(last - first + 1, 1, cols + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int s = 0; s < steps; s++) {
        exchange(field[s % 2], id, first, last, column);
        update(field[(s + 1) % 2], field[s % 2], first, last);
        /* the neighbouring threads read our rows in the next step */
        pthread_barrier_wait(&step_done);
    }
    MPI_Type_free(&column);
    return NULL;
}

static void run_threads(void)
{
    pthread_t tid[MAX_THREADS];
    int id[MAX_THREADS];
    pthread_barrier_init(&step_done, NULL, (unsigned) nthreads);
    for (int i = 0; i < nthreads; i++) {
        id[i] = i;
        if (pthread_create(&tid[i], NULL, worker, &id[i])) {
            fprintf(stderr, "halo: cannot create thread %d\n", i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < nthreads; i++)
        pthread_join(tid[i], NULL);
    pthread_barrier_destroy(&step_done);
}

/* Returns whether the field is the exact discrete solution after all steps. */
static int verify(int rank, int nprocs)
{
    double theta = sin(PI / n), factor = pow(1 - 8 * LAMBDA * theta * theta, steps);
    double error = 0, sum[2] = { 0, 0 }, total[2], worst;
    for (int r = 1; r <= rows; r++) {
        for (int c = 1; c <= cols; c++) {
            double u = *at(field[steps % 2], r, c), exact = 1.0 + factor * wave(r, c);
            double e = fabs(u - exact) / fmax(fabs(exact), factor);
            error = e > error || isnan(e) ? e : error;
            sum[0] += u;
            sum[1] += u * u;
        }
    }
    error = isnan(error) ? HUGE_VAL : error;
    MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, grid);
    MPI_Allreduce(sum, total, 2, MPI_DOUBLE, MPI_SUM, grid);
    double points = (double) n * n, squares = points * (1 + factor * factor / 4);
    int ok = worst < 1e-10 && fabs(total[0] - points) < 1e-10 * points &&
        fabs(total[1] - squares) < 1e-10 * squares;
    if (rank == 0)
        printf("halo: %d x %d points, %d processes x %d threads, %d steps, heat %.12g of %.12g, "
               "max error %.3g: %s\n", n, n, nprocs, nthreads, steps, total[0], points, worst,
               ok ? "OK" : "FAILED");
    return ok;
}

static void fail(int rank, const char *what)
{
    if (rank == 0)
        fprintf(stderr, "halo: %s\n", what);
    MPI_Finalize();
    exit(2);
}

static int number(int rank, int option, const char *text)
{
    char *end, what[128];
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < 1 || v > 1000000) {
        snprintf(what, sizeof(what), "-%c '%.40s' is not a number from 1 to 1000000", option, text);
        fail(rank, what);
    }
    return (int) v;
}

static void parse(int argc, char **argv, int rank)
{
    int c;
    opterr = 0;
    while ((c = getopt(argc, argv, "t:n:s:")) != -1) {
        switch (c) {
            case 't': nthreads = number(rank, c, optarg); break;
            case 'n': n = number(rank, c, optarg); break;
            case 's': steps = number(rank, c, optarg); break;
            default: fail(rank, "usage: halo [-t threads] [-n points a side] [-s steps]");
        }
    }
    if (optind != argc)
        fail(rank, "usage: halo [-t threads] [-n points a side] [-s steps]");
    if (nthreads > MAX_THREADS || n > 30000)
        fail(rank, "at most 256 threads and 30000 points a side");
}

static void decompose(int rank, int nprocs)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 1 }, me[2];
    MPI_Dims_create(nprocs, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, me);
    MPI_Cart_shift(grid, 0, 1, &neighbour[NORTH], &neighbour[SOUTH]);
    MPI_Cart_shift(grid, 1, 1, &neighbour[WEST], &neighbour[EAST]);
    row0 = split(n, dims[0], me[0]);
    col0 = split(n, dims[1], me[1]);
    rows = split(n, dims[0], me[0] + 1) - row0;
    cols = split(n, dims[1], me[1] + 1) - col0;
    if (n / dims[0] < nthreads || n / dims[1] < 1)
        fail(rank, "too few points: every thread needs a row");
}

int main(int argc, char **argv)
{
    int provided, rank, nprocs, ok;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (provided < MPI_THREAD_MULTIPLE)
        fail(rank, "this MPI library does not provide MPI_THREAD_MULTIPLE");
    parse(argc, argv, rank);
    decompose(rank, nprocs);
    for (int i = 0; i < 2; i++) {
        field[i] = calloc((size_t) (rows + 2) * (size_t) (cols + 2), sizeof(double));
        if (!field[i]) {
            fprintf(stderr, "halo: out of memory\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    initialize();
    run_threads();
    ok = verify(rank, nprocs);
    free(field[0]);
    free(field[1]);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return ok ? 0 : 1;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* After a flush the data is at the target, whatever other threads issue meanwhile.  Half of the
 * threads of process 0 put, flush and send a message; then process 1 checks its memory.  The other
 * half puts without end into the same windows or into other ones, with and without gaps.  Every
 * thread must advance: the test never ends if flushes starve, or if the others do. */
#include "mt.h"

#define WINDOWS 2
#define SLOTS 64                /* of a thread in each window */
#define STOP -1
#define LEAST 500               /* operations of each thread that does not flush */

static MPI_Win win[WINDOWS];
static int64_t *mem[WINDOWS];
static MPI_Datatype gaps;
static atomic_int flushers_left, busy_left;

static MPI_Aint slot(int thread)
{
    return (MPI_Aint) thread * SLOTS;
}

static void flusher(mt_thread_t * t)
{
    MPI_Win w = win[t->id % WINDOWS];
    int64_t out[SLOTS], in[SLOTS], n;

    for (n = 0; n < mt.iters || atomic_load(&busy_left) > 0; n++) {
        int with_gaps = mt_rand(&t->rng) % 2 != 0;
        for (int i = 0; i < SLOTS; i++)
            out[i] = n * SLOTS + i;
        if (with_gaps)
            MT_OK(MPI_Put(out, 1, gaps, 1, slot(t->id), 1, gaps, w));
        else
            MT_OK(MPI_Put(out, SLOTS, MPI_INT64_T, 1, slot(t->id), SLOTS, MPI_INT64_T, w));
        switch (n % 3) {
            case 0:
                MT_OK(MPI_Win_flush(1, w));
                break;
            case 1:
                MT_OK(MPI_Win_flush_all(w));
                break;
            default:
                MT_OK(MPI_Get(in, 1, gaps, 1, slot(t->id), 1, gaps, w));
                MT_OK(MPI_Win_flush_all(w));
                MT_OK(MPI_Get(in, 1, gaps, 1, slot(t->id), 1, gaps, w));
                MT_OK(MPI_Win_flush_local_all(w));
                for (int i = 0; i < SLOTS; i += 2)
                    MT_CHECK(in[i] == out[i], "flush %ld: got %ld instead of %ld", (long) n,
                             (long) in[i], (long) out[i]);
        }
        MT_OK(MPI_Sendrecv(&n, 1, MPI_INT64_T, 1, t->id, NULL, 0, MPI_BYTE, 1, t->id,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    n = STOP;
    MT_OK(MPI_Send(&n, 1, MPI_INT64_T, 1, t->id, MPI_COMM_WORLD));
    atomic_fetch_sub(&flushers_left, 1);
}

/* Some operations have a request that is waited for, as no library can hold any number of puts. */
static void putter(mt_thread_t * t)
{
    int64_t out[SLOTS] = { 0 };
    MPI_Request r;

    for (long n = 0; atomic_load(&flushers_left) > 0; n++) {
        MPI_Win w = win[mt_rand(&t->rng) % WINDOWS];
        for (int k = 0; k < 7; k++)
            MT_OK(MPI_Put(out, 1, MPI_INT64_T, 1, slot(t->id), 1, MPI_INT64_T, w));
        MT_OK(MPI_Put(out, 1, gaps, 1, slot(t->id), 1, gaps, w));
        MT_OK(MPI_Rput(out, SLOTS, MPI_INT64_T, 1, slot(t->id), SLOTS, MPI_INT64_T, w, &r));
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (n == LEAST)
            atomic_fetch_sub(&busy_left, 1);
    }
    for (int i = 0; i < WINDOWS; i++)
        MT_OK(MPI_Win_flush_all(win[i]));
}

static void target(mt_thread_t * t)
{
    int64_t *p = mem[t->id % WINDOWS] + slot(t->id), n;

    while (1) {
        MT_OK(MPI_Recv(&n, 1, MPI_INT64_T, 0, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (n == STOP)
            return;
        MT_OK(MPI_Win_sync(win[t->id % WINDOWS]));
        for (int i = 0; i < SLOTS; i += 2)
            MT_CHECK(__atomic_load_n(&p[i], __ATOMIC_RELAXED) == n * SLOTS + i,
                     "thread %d, flush %ld: element %d is %ld", t->id, (long) n, i, (long) p[i]);
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, t->id, MPI_COMM_WORLD));
    }
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    if (mt.rank == 0 && t->id < mt.threads / 2)
        flusher(t);
    else if (mt.rank == 0)
        putter(t);
    else
        target(t);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 100);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_CHECK(mt.threads >= 2, "at least 2 threads");
    atomic_store(&flushers_left, mt.threads / 2);
    atomic_store(&busy_left, mt.threads - mt.threads / 2);
    MT_OK(MPI_Type_vector(SLOTS / 2, 1, 2, MPI_INT64_T, &gaps));
    MT_OK(MPI_Type_commit(&gaps));
    for (int i = 0; i < WINDOWS; i++) {
        mem[i] = mt_alloc((size_t) mt.threads * SLOTS * sizeof(int64_t));
        MT_OK(MPI_Win_create(mem[i], (MPI_Aint) mt.threads * SLOTS * 8, 8, MPI_INFO_NULL,
                             MPI_COMM_WORLD, &win[i]));
        MT_OK(MPI_Win_lock_all(0, win[i]));
    }
    mt_run(mt.rank == 0 ? mt.threads : mt.threads / 2, worker);
    for (int i = 0; i < WINDOWS; i++) {
        MT_OK(MPI_Win_unlock_all(win[i]));
        MT_OK(MPI_Win_free(&win[i]));
        free(mem[i]);
    }
    MT_OK(MPI_Type_free(&gaps));
    return mt_finish();
}

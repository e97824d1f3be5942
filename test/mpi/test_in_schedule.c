/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Test does not block, whatever other threads do inside MPI. One thread of process 0 completes a
 * nonblocking reduction with a user's operation, which lasts until each of the other threads has
 * returned from a number of test calls. The test never ends if MPI_Test waits for a mutex that is
 * held while a collective's schedule goes on. */
#include "mt.h"

#define TESTS 20
#define NEVER 1

static MPI_Comm comm;
static atomic_int rounds_done;
static atomic_long tests[MT_MAX_THREADS];
static __thread int my_id;      /* any thread that makes progress may run the operation */

static void wait_for_tests(void)
{
    long before[MT_MAX_THREADS];

    for (int i = 1; i < mt.threads; i++)
        before[i] = atomic_load(&tests[i]);
    for (int i = 1; i < mt.threads; i++) {
        while (i != my_id && atomic_load(&tests[i]) - before[i] < TESTS)
            usleep(50);
    }
}

static void slow_sum(void *in, void *inout, int *len, MPI_Datatype * type)
{
    (void) type;
    for (int i = 0; i < *len; i++)
        ((int *) inout)[i] += ((int *) in)[i];
    if (mt.rank == 0)
        wait_for_tests();
}

/* The root runs its operations while the schedule progresses. */
static void reduce(void)
{
    MPI_Op op;

    MT_OK(MPI_Op_create(slow_sum, 1, &op));
    for (long i = 0; i < mt.iters; i++) {
        int in[2] = { mt.rank, 1 }, out[2] = { -1, -1 };
        MPI_Request r;
        if (mt.rank != 0)
            usleep(200);
        if (i % 2)
            MT_OK(MPI_Ireduce(in, out, 2, MPI_INT, op, 0, comm, &r));
        else
            MT_OK(MPI_Iallreduce(in, out, 2, MPI_INT, op, comm, &r));
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (mt.rank == 0 || i % 2 == 0)
            MT_CHECK(out[0] == mt.size * (mt.size - 1) / 2 && out[1] == mt.size,
                     "round %ld: %d %d", i, out[0], out[1]);
    }
    MT_OK(MPI_Op_free(&op));
    atomic_store(&rounds_done, 1);
}

/* Counts the calls that have returned.  Those begun before the operation count as well: what matters
 * is that they return. */
static void test(int id)
{
    int flag = 0, in;
    MPI_Request never;

    MT_OK(MPI_Irecv(&in, 1, MPI_INT, mt.peer, NEVER + id, MPI_COMM_WORLD, &never));
    while (!atomic_load(&rounds_done)) {
        MT_OK(MPI_Test(&never, &flag, MPI_STATUS_IGNORE));
        MT_CHECK(!flag, "a receive without a message is complete");
        atomic_fetch_add(&tests[id], 1);
    }
    MT_OK(MPI_Cancel(&never));
    MT_OK(MPI_Wait(&never, MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    my_id = t->id;
    if (t->id == 0)
        reduce();
    else if (mt.rank == 0)
        test(t->id);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 1000);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_CHECK(mt.threads >= 2, "at least 2 threads are needed");
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    mt_run(mt.threads, worker);
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

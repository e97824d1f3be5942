/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The start of a nonblocking collective does not wait for a thread that runs the operation function of
 * another one: this function ends only when the start has returned. The messages of both come later. */
#include "mt.h"
#include <sched.h>

static MPI_Comm comms[2];       /* of the reduction, and of the other collective */
static atomic_int in_operation, has_started;

static void await(atomic_int * flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

static void operation(void *in, void *inout, int *n, MPI_Datatype * type)
{
    (void) type;
    for (int i = 0; i < *n; i++)
        ((int *) inout)[i] += ((int *) in)[i];
    atomic_store(&in_operation, 1);
    await(&has_started);
}

static void *start_beside(void *arg)
{
    int value = 0;
    MPI_Request r;

    (void) arg;
    await(&in_operation);
    MT_OK(MPI_Ibcast(&value, 1, MPI_INT, 1, comms[1], &r));
    atomic_store(&has_started, 1);
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MT_CHECK(value == 1, "the broadcast brought %d", value);
    return NULL;
}

static void once(MPI_Op op)
{
    int sum = 0, one = 1;
    pthread_t other;
    MPI_Request r;

    atomic_store(&in_operation, 0);
    atomic_store(&has_started, 0);
    if (mt.rank == 1)           /* the reduction of process 0 has begun */
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Ireduce(&one, &sum, 1, MPI_INT, op, 0, comms[0], &r));
    if (mt.rank == 0) {
        MT_CHECK(!pthread_create(&other, NULL, start_beside, NULL), "cannot create a thread");
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    }
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MT_CHECK(mt.rank || sum == 2, "the sum is %d", sum);
    if (mt.rank == 0) {
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD));
        pthread_join(other, NULL);
    } else {
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Ibcast(&one, 1, MPI_INT, 1, comms[1], &r));
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    MPI_Op op;

    mt_init(argc, argv, 1, 20);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    MT_OK(MPI_Op_create(operation, 1, &op));
    for (long i = 0; i < mt.iters; i++)
        once(op);
    MT_OK(MPI_Op_free(&op));
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Comm_free(&comms[i]));
    return mt_finish();
}

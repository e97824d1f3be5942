/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A send that the network refuses for good, at once or after it had no room at first: the error goes to
 * the handler of its communicator, not to that of MPI_COMM_WORLD, and the next message with the same
 * tag is as ever, a synchronous one as well. Nothing keeps the communicator: MPI_Comm_disconnect
 * returns. So it does after a buffered message, which had no room at first or not. MPI_Sendrecv whose
 * send was refused leaves no receive behind. A synchronous send also fails if the receive of its
 * acknowledgement is refused. */
#define _GNU_SOURCE
#include "fabric_faults.h"

#define NUMBERS 2000            /* of a long message; more than is injected */
#define TAG 3

typedef int (*isend_t) (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static MPI_Comm comm;
static atomic_int errors, strays;       /* calls of the handlers of comm and of MPI_COMM_WORLD */

static void handler(MPI_Comm * of, int *rc, ...)
{
    (void) rc;
    atomic_fetch_add(*of == comm ? &errors : &strays, 1);
}

static void refused(fault_t * fault, isend_t isend, const int *buf, int count, MPI_Datatype type,
                    int deferred)
{
    MPI_Request r;
    int rc;

    atomic_store(&errors, 0);
    fault_arm(fault, deferred);
    rc = isend(buf, count, type, 1, TAG, comm, &r);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
    MT_CHECK(rc != MPI_SUCCESS, "no error");
    MT_CHECK(!atomic_load(&fault->failing), "nothing was refused");
    MT_CHECK(atomic_load(&strays) == 0, "the handler of MPI_COMM_WORLD was called");
    MT_CHECK(atomic_load(&errors) == 1, "the handler of the communicator was called %d times",
             atomic_load(&errors));
}

static void sound(isend_t isend, int *buf, int count, MPI_Datatype type, int value)
{
    MPI_Request r;

    if (mt.rank == 0) {
        buf[0] = value;
        MT_OK(isend(buf, count, type, 1, TAG, comm, &r));
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        return;
    }
    MT_OK(MPI_Recv(buf, count, type, 0, TAG, comm, MPI_STATUS_IGNORE));
    MT_CHECK(buf[0] == value, "message %d in place of %d", buf[0], value);
}

/* The refused message is between two that are sound. */
static void all_around(isend_t isend, int count, MPI_Datatype type, int deferred)
{
    int buf[2 * NUMBERS] = { -1 };

    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    sound(isend, buf, count, type, 1);
    if (mt.rank == 0)
        refused(&send_fault, isend, buf, count, type, deferred);
    sound(isend, buf, count, type, 2);
    sound(MPI_Issend, buf, count, type, 3);
    MT_OK(MPI_Comm_disconnect(&comm));
}

/* Not with MPI_Comm_disconnect, which might wait: where the send was posted, a request stays. */
static void unacknowledged(void)
{
    int buf[NUMBERS] = { 0 };

    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (mt.rank == 0)
        refused(&recv_fault, MPI_Issend, buf, NUMBERS, MPI_INT, 0);
    MT_OK(MPI_Comm_free(&comm));
}

/* What the first call has not received the next one does. */
static void both_ways(void)
{
    int out = 1, in = -1, next;

    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (mt.rank == 1) {
        usleep(10000);          /* else it may be there before the call: then this shows nothing */
        for (int i = 7; i < 9; i++)
            MT_OK(MPI_Send(&i, 1, MPI_INT, 0, TAG, comm));
    } else {
        fault_arm(&send_fault, 0);
        MT_CHECK(MPI_Sendrecv(&out, 1, MPI_INT, 1, TAG, &in, 1, MPI_INT, 1, TAG, comm,
                              MPI_STATUS_IGNORE) != MPI_SUCCESS, "MPI_Sendrecv: no error");
        for (int i = in < 0 ? 7 : 8; i < 9; i++) {
            MT_OK(MPI_Recv(&next, 1, MPI_INT, 1, TAG, comm, MPI_STATUS_IGNORE));
            MT_CHECK(next == i, "message %d in place of %d", next, i);
        }
    }
    MT_OK(MPI_Comm_disconnect(&comm));
}

static void buffered(int deferred)
{
    const int size = NUMBERS * (int) sizeof(int) + (int) MPI_BSEND_OVERHEAD;
    int buf[NUMBERS] = { 0 };
    void *buffer = mt_alloc((size_t) size);

    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Buffer_attach(buffer, size));
    if (mt.rank == 0) {
        atomic_store(&send_fault.deferred, deferred);
        atomic_store(&send_fault.failing, -deferred);
        MT_OK(MPI_Bsend(buf, NUMBERS, MPI_INT, 1, TAG, comm));
    } else {
        MT_OK(MPI_Recv(buf, NUMBERS, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Comm_disconnect(&comm));
    MT_OK(MPI_Buffer_detach(&buffer, &(int) { 0 }));
    free(buffer);
}

int main(int argc, char **argv)
{
    const isend_t sends[] = { MPI_Isend, MPI_Issend };
    MPI_Errhandler e;
    MPI_Datatype pieces;

    mt_init(argc, argv, 1, 4);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_CHECK(real_tagged.recv, "the network was not opened by way of this program");
    MT_OK(MPI_Comm_create_errhandler(handler, &e));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, e));  /* and those made of it */
    MT_OK(MPI_Type_vector(NUMBERS / 2, 1, 2, MPI_INT, &pieces));
    MT_OK(MPI_Type_commit(&pieces));
    for (int i = 0; i < (int) mt.iters; i++) {
        for (int k = 0; k < 4; k++) {
            all_around(sends[k % 2], NUMBERS, MPI_INT, k / 2);
            all_around(sends[k % 2], 1, MPI_INT, k / 2);
            all_around(sends[k % 2], 1, pieces, k / 2);
        }
        unacknowledged();
        buffered(i % 2);
        both_ways();
    }
    MT_OK(MPI_Type_free(&pieces));
    MT_OK(MPI_Errhandler_free(&e));
    return mt_finish();
}

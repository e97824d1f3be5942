/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages that the network refuses for good, at once or after it had no room at first: a nonblocking
 * collective ends and reports it, be it a receive or a send; MPI_Buffer_detach reports it for a message
 * whose place in the buffer a later MPI_Bsend has freed. What comes next is as ever. Each collective
 * has a communicator of its own, on which the message of the other process may be left over;
 * MPI_Comm_disconnect waits for nothing. */
#define _GNU_SOURCE
#include "fabric_faults.h"

#define NUMBERS 2000            /* of a message; more than is injected */
#define TAG 3

static MPI_Comm comm;

static void fails(int rc, MPI_Request * r, const char *what)
{
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(r, MPI_STATUS_IGNORE);
    MT_CHECK(rc != MPI_SUCCESS, "%s: no error", what);
}

/* The root sends, and the other process, 0, cannot receive. */
static void broken_recv(int deferred)
{
    int buf[NUMBERS] = { 0 };
    MPI_Request r;

    if (mt.rank == 1) {
        MT_OK(MPI_Ibcast(buf, NUMBERS, MPI_INT, 1, comm, &r));
        /* the message is short enough to go without a receive */
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else {
        fault_arm(&recv_fault, deferred);
        fails(MPI_Ibcast(buf, NUMBERS, MPI_INT, 1, comm, &r), &r, "a receive");
    }
}

/* The root cannot send; the other process does not wait for it. */
static void broken_send(int deferred)
{
    int buf[NUMBERS] = { 0 };
    MPI_Request r;

    if (mt.rank == 0) {
        fault_arm(&send_fault, deferred);
        fails(MPI_Ibcast(buf, NUMBERS, MPI_INT, 0, comm, &r), &r, "a send");
    }
}

static void sound(void)
{
    int buf[NUMBERS];
    MPI_Request r;

    for (int i = 0; i < NUMBERS; i++)
        buf[i] = mt.rank ? -1 : i;
    MT_OK(MPI_Ibcast(buf, NUMBERS, MPI_INT, 0, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (int i = 0; i < NUMBERS; i++)
        MT_CHECK(buf[i] == i, "number %d is %d", i, buf[i]);
}

static void beside(void (*broken) (int), int deferred)
{
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    broken(deferred);
    MT_OK(MPI_Comm_disconnect(&comm));
    sound();
}

static void detach(int is_error)
{
    void *buffer;
    int size, rc = MPI_Buffer_detach(&buffer, &size);

    MT_CHECK((rc != MPI_SUCCESS) == is_error, "MPI_Buffer_detach gave %d", rc);
    free(buffer);
}

static void attach(void)
{
    const int size = 2 * (NUMBERS * (int) sizeof(int) + (int) MPI_BSEND_OVERHEAD);

    MT_OK(MPI_Buffer_attach(mt_alloc((size_t) size), size));
}

/* One message is lost, the next one arrives. */
static void buffered(void)
{
    static int buf[NUMBERS];
    int flag;

    if (mt.rank == 1) {
        MT_OK(MPI_Recv(buf, NUMBERS, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_CHECK(buf[0] == 2, "message %d is not lost", buf[0]);
        return;
    }
    attach();
    buf[0] = 1;
    fault_arm(&send_fault, 1);
    MT_OK(MPI_Bsend(buf, NUMBERS, MPI_INT, 1, TAG, MPI_COMM_WORLD));
    while (atomic_load(&send_fault.failing))
        MT_OK(MPI_Iprobe(1, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    buf[0] = 2;
    MT_OK(MPI_Bsend(buf, NUMBERS, MPI_INT, 1, TAG, MPI_COMM_WORLD));
    detach(1);
    attach();
    detach(0);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 10);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_CHECK(real_tagged.recv, "the network was not opened by way of this program");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int i = 0; i < (int) mt.iters; i++) {
        for (int deferred = 0; deferred < 2; deferred++) {
            beside(&broken_recv, deferred);
            beside(&broken_send, deferred);
        }
        buffered();
    }
    return mt_finish();
}

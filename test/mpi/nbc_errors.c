/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A nonblocking collective whose messages fail reports it. Process 0 gathers with less room than the
 * others send, which is an error in each of its receives; it broadcasts more than the others have room
 * for, and each gets an error, also one that has the broken data from another one. Of which class the
 * errors are does not matter. All calls end, and later ones succeed. With -s 1 the messages are there
 * before they are received. */
#include "mt.h"

#define SENT 500                /* numbers */
#define ROOM 20
#define MOST 16

static MPI_Comm comm;

static void let_send(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    usleep(20000);
}

/* The communicator's error handler is called, not that of MPI_COMM_WORLD, which ends the program. */
static void gather(void)
{
    int out[SENT] = { 0 }, in[SENT], counts[MOST], places[MOST], rc;
    MPI_Request r;

    for (int i = 0; i < mt.size; i++) {
        counts[i] = i ? ROOM : 0;
        places[i] = i * ROOM;
    }
    if (mt.rank == 0 && mt.bytes)
        let_send();
    rc = MPI_Igatherv(out, mt.rank ? SENT : 0, MPI_INT, in, counts, places, MPI_INT, 0, comm, &r);
    if (mt.rank && mt.bytes)
        let_send();
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
    MT_CHECK(mt.rank || rc != MPI_SUCCESS, "the process that gathers was not told");
    MT_CHECK(mt.rank == 0 || rc == MPI_SUCCESS, "a process that sends got %d", rc);
}

static void broadcast(void)
{
    int buf[SENT] = { 0 }, rc;
    MPI_Request r;

    if (mt.rank != 0 && mt.bytes)
        let_send();
    rc = MPI_Ibcast(buf, mt.rank ? ROOM : SENT, MPI_INT, 0, comm, &r);
    MT_CHECK(rc == MPI_SUCCESS || mt.rank, "the root's call gave %d", rc);
    if (mt.rank == 0 && mt.bytes)
        let_send();
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
    MT_CHECK(mt.rank == 0 || rc != MPI_SUCCESS, "process %d was not told", mt.rank);
}

static void sound(void)
{
    int buf[SENT];
    MPI_Request r;

    for (int i = 0; i < SENT; i++)
        buf[i] = mt.rank ? -1 : i;
    MT_OK(MPI_Ibcast(buf, SENT, MPI_INT, 0, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (int i = 0; i < SENT; i++)
        MT_CHECK(buf[i] == i, "number %d is %d", i, buf[i]);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    MT_CHECK(mt.size <= MOST, "at most %d processes", MOST);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < (int) mt.iters; i++) {
        gather();
        broadcast();
        sound();
    }
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

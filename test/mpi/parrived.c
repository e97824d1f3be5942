/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Parrived of an inactive request gives flag = true (MPI 4.0, section 4.2.2): before the first
 * MPI_Start and after each completed round.  In an active round a partition that the peer has not
 * marked ready has not arrived, and each arrives in the end.  Threads ask at the same time. */
#include "mt.h"

#define PARTITIONS 4
#define ITEMS 1000
#define TAG 5

static MPI_Request request;
static int data[PARTITIONS * ITEMS];
static long round_now;

static void must_have_arrived(const char *when)
{
    for (int p = 0; p < PARTITIONS; p++) {
        int flag = 0;
        MT_OK(MPI_Parrived(request, p, &flag));
        MT_CHECK(flag, "%s MPI_Parrived gives false for partition %d", when, p);
    }
}

/* Thread i looks for partition i. */
static void *receiver(void *arg)
{
    mt_thread_t *t = arg;
    int flag = 0;

    while (!flag)
        MT_OK(MPI_Parrived(request, t->id, &flag));
    for (int k = 0; k < ITEMS; k++)
        MT_CHECK(data[t->id * ITEMS + k] == round_now + t->id, "partition %d has arrived, but its "
                 "item %d is %d", t->id, k, data[t->id * ITEMS + k]);
    return NULL;
}

static void *sender(void *arg)
{
    mt_thread_t *t = arg;
    for (int k = 0; k < ITEMS; k++)
        data[t->id * ITEMS + k] = (int) round_now + t->id;
    MT_OK(MPI_Pready(t->id, request));
    return NULL;
}

static void receive(void)
{
    MT_OK(MPI_Precv_init(data, PARTITIONS, ITEMS, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD,
                         MPI_INFO_NULL, &request));
    must_have_arrived("before the first MPI_Start");
    for (round_now = 0; round_now < mt.iters; round_now++) {
        int flag = 1;
        MT_OK(MPI_Start(&request));
        MT_OK(MPI_Parrived(request, 1, &flag));
        MT_CHECK(!flag, "partition 1 has arrived before it was sent");
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD));
        mt_run(PARTITIONS, receiver);
        MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        must_have_arrived("after a completed round");
    }
}

static void send(void)
{
    MT_OK(MPI_Psend_init(data, PARTITIONS, ITEMS, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD,
                         MPI_INFO_NULL, &request));
    for (round_now = 0; round_now < mt.iters; round_now++) {
        MT_OK(MPI_Start(&request));
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mt_run(PARTITIONS, sender);
        MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, PARTITIONS, 20);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    if (mt.rank == 0)
        receive();
    else
        send();
    MT_OK(MPI_Request_free(&request));
    return mt_finish();
}

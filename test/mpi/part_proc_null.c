/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Partitioned communication with MPI_PROC_NULL. A send is complete when its partitions are ready,
 * which threads say one by one, by range or by list while another thread waits; a receive is complete
 * at once, with the status of no process. Both start again, and communicate with nobody while the same
 * communicator carries a partitioned message of the same tag. */
#include "mt.h"

#define PARTITIONS 4
#define TAG 3

static MPI_Request send_req, recv_req, real;
static int out[PARTITIONS], in[PARTITIONS], data[PARTITIONS];

static void *ready(void *arg)
{
    mt_thread_t *t = arg;

    MT_OK(MPI_Pready(t->id, send_req));
    return NULL;
}

static void *all_ready(void *arg)
{
    (void) arg;
    mt_run(PARTITIONS, ready);
    return NULL;
}

static void send_to_nobody(long round)
{
    int list[] = { 3, 0 }, flag = 1;
    MPI_Status status;
    pthread_t thread;

    MT_OK(MPI_Start(&send_req));
    MT_OK(MPI_Test(&send_req, &flag, &status));
    MT_CHECK(!flag, "round %ld: the send is complete before its partitions are ready", round);
    if (round % 2) {
        MT_CHECK(!pthread_create(&thread, NULL, all_ready, NULL), "cannot create a thread");
        MT_OK(MPI_Wait(&send_req, &status));
        pthread_join(thread, NULL);
    } else {
        MT_OK(MPI_Pready_range(1, 2, send_req));
        MT_OK(MPI_Pready_list(2, list, send_req));
        MT_OK(MPI_Test(&send_req, &flag, &status));
        MT_CHECK(flag, "round %ld: the partitions are ready, the send is not complete", round);
    }
}

static void must_have_arrived(const char *when)
{
    for (int p = 0; p < PARTITIONS; p++) {
        int flag = 0;
        MT_OK(MPI_Parrived(recv_req, p, &flag));
        MT_CHECK(flag, "%s MPI_Parrived gives false for partition %d", when, p);
    }
}

static void receive_from_nobody(long round)
{
    int flag = 0, count = -1;
    MPI_Status status;

    MT_OK(MPI_Start(&recv_req));
    must_have_arrived("after MPI_Start");
    memset(&status, 0x55, sizeof(status));
    if (round % 2) {
        MT_OK(MPI_Wait(&recv_req, &status));
    } else {
        MT_OK(MPI_Test(&recv_req, &flag, &status));
        MT_CHECK(flag, "round %ld: MPI_Test gives false", round);
    }
    MT_OK(MPI_Get_count(&status, MPI_INT, &count));
    MT_CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0,
             "round %ld: source %d, tag %d, count %d", round, status.MPI_SOURCE, status.MPI_TAG,
             count);
    must_have_arrived("after the wait");
    for (int p = 0; p < PARTITIONS; p++)
        MT_CHECK(in[p] == -1, "nobody sent %d", in[p]);
}

static void real_message(long round)
{
    MT_OK(MPI_Start(&real));
    if (mt.rank == 1) {
        for (int p = 0; p < PARTITIONS; p++)
            data[p] = (int) round + p;
        MT_OK(MPI_Pready_range(0, PARTITIONS - 1, real));
    }
    MT_OK(MPI_Wait(&real, MPI_STATUS_IGNORE));
    for (int p = 0; p < PARTITIONS; p++)
        MT_CHECK(data[p] == (int) round + p, "item %d is %d", p, data[p]);
}

int main(int argc, char **argv)
{
    int flag = 0;
    MPI_Request both[2];

    mt_init(argc, argv, PARTITIONS, 50);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int p = 0; p < PARTITIONS; p++)
        in[p] = -1;
    MT_OK(MPI_Psend_init(out, PARTITIONS, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
                         MPI_INFO_NULL, &send_req));
    MT_OK(MPI_Precv_init(in, PARTITIONS, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &recv_req));
    if (mt.rank == 0)
        MT_OK(MPI_Precv_init(data, PARTITIONS, 1, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &real));
    else
        MT_OK(MPI_Psend_init(data, PARTITIONS, 1, MPI_INT, mt.peer, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &real));
    must_have_arrived("before the first MPI_Start");
    for (long round = 0; round < mt.iters; round++) {
        send_to_nobody(round);
        receive_from_nobody(round);
        real_message(round);
    }

    both[0] = send_req;
    both[1] = recv_req;
    MT_OK(MPI_Startall(2, both));
    MT_OK(MPI_Pready_range(0, PARTITIONS - 1, both[0]));
    MT_OK(MPI_Testall(2, both, &flag, MPI_STATUSES_IGNORE));
    MT_CHECK(flag, "MPI_Testall gives false");
    MT_OK(MPI_Request_free(&both[0]));
    MT_OK(MPI_Request_free(&both[1]));
    MT_OK(MPI_Request_free(&real));

    /* never started */
    MT_OK(MPI_Psend_init(out, 1, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_SELF, MPI_INFO_NULL,
                         &send_req));
    MT_OK(MPI_Request_free(&send_req));
    return mt_finish();
}

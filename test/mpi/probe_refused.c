/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Probes when the network has no room for their question: there is no message yet, and no error. And
 * when progress has an error of something else before the network answers, a read of an active message
 * that is refused (but done): the probe gives the error, but not before the answer, which libfabric
 * writes to memory of the probe. With -s 1 it takes its message, and a later call gives the error. */
#define _GNU_SOURCE
#include "mt.h"
#include "fabric.h"

#define REFUSED 3
#define LONG    60000           /* of the active message */

static int refused;             /* questions still to be refused */
static int fails;               /* a read is to be refused, and no answer to come before */
static int has_held;
static struct fi_cq_tagged_entry held;  /* an answer */
static void *asked;             /* context of a question without an answer */
static ssize_t (*real_recv) (struct fid_ep *, const struct fi_msg_tagged *, uint64_t);
static ssize_t (*real_readmsg) (struct fid_ep *, const struct fi_msg_rma *, uint64_t);
static ssize_t (*real_read) (struct fid_cq *, void *, size_t);
static ssize_t (*real_readerr) (struct fid_cq *, struct fi_cq_err_entry *, uint64_t);

static ssize_t receive(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
    ssize_t ret;

    if ((flags & FI_PEEK) && refused > 0) {
        refused--;
        return -FI_EAGAIN;
    }
    ret = real_recv(ep, msg, flags);
    if ((flags & FI_PEEK) && ret == 0)
        asked = msg->context;
    return ret;
}

static ssize_t readmsg_or_refuse(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    const ssize_t ret = real_readmsg(ep, msg, flags);

    if (ret != 0 || !fails)
        return ret;
    fails = 0;
    return -FI_EINVAL;
}

/* One at a time, so that what is held back is easy to take out. */
static ssize_t read_events(struct fid_cq *cq, void *buf, size_t n)
{
    struct fi_cq_tagged_entry *e = buf;
    ssize_t ret = 1;

    if (has_held && !fails) {
        has_held = 0;
        *e = held;
    } else {
        ret = real_read(cq, buf, n > 0);
    }
    if (ret != 1 || !asked || e->op_context != asked)
        return ret;
    if (fails) {
        has_held = 1;
        held = *e;
        return -FI_EAGAIN;
    }
    asked = NULL;
    return ret;
}

static ssize_t read_error(struct fid_cq *cq, struct fi_cq_err_entry *e, uint64_t flags)
{
    ssize_t ret = real_readerr(cq, e, flags);

    if (ret == 1 && e->op_context == asked)
        asked = NULL;
    return ret;
}

void fabric_endpoint(struct fid_ep *ep)
{
    FABRIC_REPLACE(ep->tagged, recvmsg, real_recv, receive);
    FABRIC_REPLACE(ep->rma, readmsg, real_readmsg, readmsg_or_refuse);
}

void fabric_queue(struct fid_cq *cq)
{
    FABRIC_REPLACE(cq->ops, read, real_read, read_events);
    FABRIC_REPLACE(cq->ops, readerr, real_readerr, read_error);
}

static void without_room(void)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0, data = -1;

    refused = REFUSED;
    while (!flag)
        MT_OK(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    MT_CHECK(refused == 0, "probes do not peek");
    refused = REFUSED;
    for (flag = 0; !flag;)
        MT_OK(MPI_Improbe(0, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    MT_OK(MPI_Mrecv(&data, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    MT_CHECK(data == 7, "the data are %d", data);
}

static void probe_and_receive(MPI_Comm comm)
{
    int flag = 0, data = -1, rc;

    rc = MPI_Iprobe(0, 2, comm, &flag, MPI_STATUS_IGNORE);
    MT_CHECK(!fails, "the active message is not read");
    MT_CHECK(rc != MPI_SUCCESS, "the probe gave no error");
    MT_CHECK(!asked, "the probe did not wait for its answer");
    MT_OK(MPI_Recv(&data, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE));
    MT_CHECK(data == 8, "the data are %d", data);
}

static void take_and_receive(MPI_Comm comm)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0, data = -1, polls = 0;

    MT_OK(MPI_Improbe(0, 2, comm, &flag, &message, MPI_STATUS_IGNORE));
    MT_CHECK(!fails, "the active message is not read");
    MT_CHECK(flag, "no message");
    MT_CHECK(!asked, "the probe did not wait for its answer");
    while (MPI_Iprobe(0, 4, comm, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        MT_CHECK(++polls < 1000, "no call gave the error");
    MT_OK(MPI_Mrecv(&data, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    MT_CHECK(data == 8, "the data are %d", data);
}

static void with_error(MPI_Request * active, MPI_Comm comm)
{
    int flag = 0;

    MT_OK(MPI_Start(active));
    while (!flag)
        MT_OK(MPI_Iprobe(0, 2, comm, &flag, MPI_STATUS_IGNORE));
    fails = 1;
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, 3, MPI_COMM_WORLD));
    if (mt.bytes)
        take_and_receive(comm);
    else
        probe_and_receive(comm);
}

static void send(MPI_Request * active, MPI_Comm comm)
{
    const int data = 8;

    MT_OK(MPI_Send(&data, 1, MPI_INT, 1, 2, comm));
    MT_OK(MPI_Start(active));
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Pready(0, *active));
}

int main(int argc, char **argv)
{
    static char buf[LONG];
    MPI_Request active;
    MPI_Comm comm;

    mt_init(argc, argv, 1, 20);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (mt.rank == 0)
        MT_OK(MPI_Psend_init(buf, 1, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &active));
    else
        MT_OK(MPI_Precv_init(buf, 1, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &active));
    for (long i = 0; i < mt.iters; i++) {
        const int data = 7;
        if (mt.rank == 0)
            MT_OK(MPI_Send(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        else
            without_room();
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* once: the library takes in no further active messages of this sender */
    if (mt.rank == 0)
        send(&active, comm);
    else
        with_error(&active, comm);
    MT_OK(MPI_Wait(&active, MPI_STATUS_IGNORE));
    /* returns when nothing of the communicator is left */
    MT_OK(MPI_Comm_disconnect(&comm));
    MT_OK(MPI_Request_free(&active));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Two long active messages, of partitioned sends: the second one arrives first. It waits for the other,
 * and then its data are still found. */
#define _GNU_SOURCE
#include "mt.h"
#include "fabric.h"

#define LONG 60000
#define TWO  2

typedef ssize_t (*send_t) (struct fid_ep *, const void *, size_t, void *, fi_addr_t, void *);

static int holds;               /* the next message waits for the one after it */
static struct {
    const void *buf;
    size_t len;
    fi_addr_t to;
    void *context;
} held;                         /* unless buf is NULL */
static send_t real_send;

static ssize_t send_or_hold(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                            void *context)
{
    ssize_t ret;

    if (holds) {
        holds = 0;
        held.buf = buf;
        held.len = len;
        held.to = to;
        held.context = context;
        return 0;
    }
    ret = real_send(ep, buf, len, desc, to, context);
    if (ret == 0 && held.buf) {
        MT_CHECK(real_send(ep, held.buf, held.len, desc, held.to, held.context) == 0, "no room");
        held.buf = NULL;
    }
    return ret;
}

void fabric_endpoint(struct fid_ep *ep)
{
    FABRIC_REPLACE(ep->msg, send, real_send, send_or_hold);
}

static void send_all(MPI_Request r[TWO])
{
    holds = 1;
    for (int k = 0; k < TWO; k++)
        MT_OK(MPI_Pready(0, r[k]));
}

int main(int argc, char **argv)
{
    static char buf[TWO][LONG];
    MPI_Request r[TWO];

    mt_init(argc, argv, 1, 20);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int k = 0; k < TWO; k++) {
        if (mt.rank == 0)
            MT_OK(MPI_Psend_init(buf[k], 1, LONG, MPI_BYTE, 1, k, MPI_COMM_WORLD, MPI_INFO_NULL,
                                 &r[k]));
        else
            MT_OK(MPI_Precv_init(buf[k], 1, LONG, MPI_BYTE, 0, k, MPI_COMM_WORLD, MPI_INFO_NULL,
                                 &r[k]));
    }
    for (int i = 0; i < (int) mt.iters; i++) {
        for (int k = 0; k < TWO; k++)
            memset(buf[k], mt.rank ? 0 : 1 + (2 * i + k) % 100, LONG);
        MT_OK(MPI_Startall(TWO, r));
        if (mt.rank == 0)
            send_all(r);
        MT_OK(MPI_Waitall(TWO, r, MPI_STATUSES_IGNORE));
        MT_CHECK(mt.rank || (!holds && !held.buf), "the messages were not exchanged");
        for (int k = 0; k < TWO; k++)
            MT_CHECK(buf[k][LONG - 1] == 1 + (2 * i + k) % 100, "round %d: message %d has %d", i, k,
                     buf[k][LONG - 1]);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int k = 0; k < TWO; k++)
        MT_OK(MPI_Request_free(&r[k]));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The network refuses a read of a long message for good: a flush that comes later waits for no such
 * read. Of a huge message, which process 1 reads in several parts, the first or a later one is refused:
 * the receive ends with an error, and the send ends. The read of an active message is refused, but done
 * nevertheless, so that both processes can end: progress gives an error. */
#define _GNU_SOURCE
#include "mt.h"
#include "fabric.h"

#define LONG 60000              /* a part: MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE is a bit more */
#define HUGE_BYTES 300000
#define LOOKS 2000

static atomic_int fails_after = -1;     /* reads that are well before; -1: all are well */
static atomic_int not_counted;  /* reads that are refused, but done */
static ssize_t (*real_read) (struct fid_ep *, void *, size_t, void *, fi_addr_t, uint64_t, uint64_t,
                             void *);
static ssize_t (*real_readmsg) (struct fid_ep *, const struct fi_msg_rma *, uint64_t);
static uint64_t (*real_count) (struct fid_cntr *);
static MPI_Win win;
static char *buf, *memory;

static ssize_t read_or_refuse(struct fid_ep *ep, void *to, size_t n, void *desc, fi_addr_t addr,
                              uint64_t remote, uint64_t key, void *context)
{
    const int left = atomic_load(&fails_after);

    if (left == 0)
        return -FI_EINVAL;
    if (left > 0)
        atomic_store(&fails_after, left - 1);
    return real_read(ep, to, n, desc, addr, remote, key, context);
}

static ssize_t readmsg_or_refuse(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    const ssize_t ret = real_readmsg(ep, msg, flags);

    if (ret != 0 || atomic_load(&fails_after) < 0)
        return ret;
    atomic_store(&fails_after, -1);
    atomic_fetch_add(&not_counted, 1);
    return -FI_EINVAL;
}

static uint64_t count(struct fid_cntr *cntr)
{
    return real_count(cntr) - (uint64_t) atomic_load(&not_counted);
}

void fabric_endpoint(struct fid_ep *ep)
{
    FABRIC_REPLACE(ep->rma, read, real_read, read_or_refuse);
    FABRIC_REPLACE(ep->rma, readmsg, real_readmsg, readmsg_or_refuse);
}

void fabric_counter(struct fid_cntr *cntr)
{
    FABRIC_REPLACE(cntr->ops, read, real_count, count);
}

static void flush(void)
{
    MT_OK(MPI_Put(buf, LONG, MPI_BYTE, mt.peer, 0, LONG, MPI_BYTE, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
}

static void huge(int after)
{
    if (mt.rank == 0) {
        MT_OK(MPI_Send(buf, HUGE_BYTES, MPI_BYTE, 1, after, MPI_COMM_WORLD));
        return;
    }
    atomic_store(&fails_after, after);
    MT_CHECK(MPI_Recv(buf, HUGE_BYTES, MPI_BYTE, 0, after, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
             MPI_SUCCESS, "read %d was refused, and the receive gave no error", after);
    MT_CHECK(atomic_load(&fails_after) == 0, "reads are not by fi_read");
    atomic_store(&fails_after, -1);
    flush();
}

static void active_message(void)
{
    MPI_Request r;
    int rc = MPI_SUCCESS;

    if (mt.rank == 0) {
        MT_OK(MPI_Psend_init(buf, 1, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
        MT_OK(MPI_Start(&r));
        MT_OK(MPI_Pready(0, r));
    } else {
        MT_OK(MPI_Precv_init(buf, 1, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
        atomic_store(&fails_after, 0);
        MT_OK(MPI_Start(&r));
        for (int flag = 0; !rc && !flag;)
            rc = MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        /* a server thread may report it after the request is complete */
        for (int flag, i = 0; !rc && i < LOOKS; i++) {
            rc = MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            usleep(1000);
        }
        MT_CHECK(rc != MPI_SUCCESS, "the read was refused, and progress gave no error");
    }
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MT_OK(MPI_Request_free(&r));
    MT_OK(MPI_Put(buf, LONG, MPI_BYTE, mt.peer, 0, LONG, MPI_BYTE, win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 5);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    buf = mt_alloc(HUGE_BYTES);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Win_allocate(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Win_lock_all(0, win));
    for (long i = 0; i < mt.iters; i++) {
        for (int after = 0; after < 3; after++)
            huge(after);
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    active_message();           /* once: the library takes in no further ones of its sender */
    MT_OK(MPI_Win_free(&win));
    free(buf);
    return mt_finish();
}

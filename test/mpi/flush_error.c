/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A put fails in the network, and the event has been read before the flush: only the number of errors
 * tells of it. The flush ends with an error, and later flushes are well. */
#define _GNU_SOURCE
#include "mt.h"
#include "fabric.h"

#define BYTES 16384             /* too many to be injected */

static atomic_int fails, errors;
static ssize_t (*real_write) (struct fid_ep *, const struct fi_msg_rma *, uint64_t);
static uint64_t (*real_errors) (struct fid_cntr *);

static ssize_t write_or_fail(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    if (!atomic_exchange(&fails, 0))
        return real_write(ep, msg, flags);
    atomic_fetch_add(&errors, 1);
    return 0;
}

static uint64_t count_errors(struct fid_cntr *cntr)
{
    return real_errors(cntr) + (uint64_t) atomic_load(&errors);
}

static void fabric_endpoint(struct fid_ep *ep)
{
    FABRIC_REPLACE(ep->rma, writemsg, real_write, write_or_fail);
}

static void fabric_counter(struct fid_cntr *cntr)
{
    FABRIC_REPLACE(cntr->ops, readerr, real_errors, count_errors);
}

static void fabric_queue(struct fid_cq *cq)
{
    (void) cq;
}

static void put_well(MPI_Win win, const char *out)
{
    MT_OK(MPI_Put(out, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
}

int main(int argc, char **argv)
{
    char *out, *memory;
    MPI_Win win;

    mt_init(argc, argv, 1, 5);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    out = mt_alloc(BYTES);
    MT_OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Win_lock_all(0, win));
    for (long i = 0; i < mt.iters; i++) {
        int rc;
        memset(out, (int) i + 1, BYTES);
        put_well(win, out);
        atomic_store(&fails, 1);
        MT_OK(MPI_Put(out, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win));
        rc = MPI_Win_flush(mt.peer, win);
        MT_CHECK(!atomic_load(&fails), "the put was not issued by fi_writemsg");
        MT_CHECK(rc != MPI_SUCCESS, "round %ld: the flush gave no error", i);
        put_well(win, out);
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < BYTES; i++)
        MT_CHECK(memory[i] == (char) mt.iters, "byte %d is %d", i, memory[i]);
    MT_OK(MPI_Win_free(&win));
    free(out);
    return mt_finish();
}

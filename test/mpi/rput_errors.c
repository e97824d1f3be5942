/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The network refuses each put of several threads. MPI_Rput or MPI_Wait returns the error, by the error
 * handler of the window: that of MPI_COMM_WORLD is fatal, and a put that has been posted fails when
 * another thread issues it. What comes next is as ever. */
#define _GNU_SOURCE
#include "mt.h"
#include "fabric.h"

#define BYTES 16384             /* too many to be injected */

static atomic_int refuses, called, waited;
static ssize_t (*real_write) (struct fid_ep *, const struct fi_msg_rma *, uint64_t);
static MPI_Win win;

static ssize_t write_or_refuse(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    return atomic_load(&refuses) ? -FI_EINVAL : real_write(ep, msg, flags);
}

static void fabric_endpoint(struct fid_ep *ep)
{
    FABRIC_REPLACE(ep->rma, writemsg, real_write, write_or_refuse);
}

static void fabric_counter(struct fid_cntr *cntr)
{
    (void) cntr;
}

static void fabric_queue(struct fid_cq *cq)
{
    (void) cq;
}

static void *put_in_vain(void *arg)
{
    char *out = mt_alloc(BYTES);

    (void) arg;
    for (long i = 0; i < mt.iters; i++) {
        MPI_Request r[2];
        MPI_Status statuses[2];
        int rc = MPI_Rput(out, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win, &r[0]);
        atomic_fetch_add(rc == MPI_SUCCESS ? &waited : &called, 1);
        if (rc != MPI_SUCCESS)
            continue;
        if (i % 2)
            rc = MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        else {
            r[1] = MPI_REQUEST_NULL;
            rc = MPI_Waitall(2, r, statuses);
        }
        MT_CHECK(rc != MPI_SUCCESS, "no error");
    }
    free(out);
    return NULL;
}

int main(int argc, char **argv)
{
    char *memory, out[BYTES];

    mt_init(argc, argv, 4, 50);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Win_lock_all(0, win));
    atomic_store(&refuses, 1);
    mt_run(mt.threads, put_in_vain);
    atomic_store(&refuses, 0);
    memset(out, mt.rank + 1, BYTES);
    MT_OK(MPI_Put(out, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win));
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < BYTES; i++)
        MT_CHECK(memory[i] == mt.peer + 1, "byte %d is %d", i, memory[i]);
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

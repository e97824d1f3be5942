/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The network refuses each put of several threads. MPI_Rput or MPI_Wait returns the error, by the error
 * handler of the window: that of MPI_COMM_WORLD is fatal, and a put that has been posted fails when
 * another thread issues it. What comes next is as ever.
 * -s 1: with models that post what another thread is to issue, MPI_Request_get_status returns the error
 * of such a put, too, and so does MPI_Wait after the window is freed: then by the handler of
 * MPI_COMM_WORLD. */
#define _GNU_SOURCE
#include "mt.h"
#include "fabric.h"

#define BYTES 16384             /* too many to be injected */

static atomic_int refuses, called, waited;
static atomic_int holds, held;  /* the next write waits while it holds; one does */
static int by_win, by_world;    /* errors that the handlers have got */
static ssize_t (*real_write) (struct fid_ep *, const struct fi_msg_rma *, uint64_t);
static MPI_Win win;

static ssize_t write_or_refuse(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    if (atomic_load(&refuses))
        return -FI_EINVAL;
    while (atomic_load(&holds)) {
        atomic_store(&held, 1);
        sched_yield();
    }
    return real_write(ep, msg, flags);
}

void fabric_endpoint(struct fid_ep *ep)
{
    FABRIC_REPLACE(ep->rma, writemsg, real_write, write_or_refuse);
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

static void on_win(MPI_Win * w, int *code, ...)
{
    (void) w;
    (void) code;
    by_win++;
}

static void on_world(MPI_Comm * comm, int *code, ...)
{
    (void) comm;
    (void) code;
    by_world++;
}

static void *put_slowly(void *arg)
{
    MT_OK(MPI_Put(arg, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win));
    return NULL;
}

/* A put that fails after its call: it is posted, as another thread holds the VCI in its own put. */
static MPI_Request failed_put(char *out)
{
    MPI_Request r = MPI_REQUEST_NULL;
    pthread_t thread;

    atomic_store(&holds, 1);
    pthread_create(&thread, NULL, put_slowly, out);
    while (!atomic_load(&held))
        sched_yield();
    MT_OK(MPI_Rput(out, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win, &r));
    atomic_store(&refuses, 1);
    atomic_store(&holds, 0);
    pthread_join(thread, NULL);
    return r;
}

static void after_free(char *out)
{
    MPI_Errhandler of_win, of_world;
    MPI_Request r;
    int flag = 0, rc = MPI_SUCCESS;

    MT_OK(MPI_Win_create_errhandler(on_win, &of_win));
    MT_OK(MPI_Win_set_errhandler(win, of_win));
    MT_OK(MPI_Errhandler_free(&of_win));
    MT_OK(MPI_Comm_create_errhandler(on_world, &of_world));
    r = failed_put(out);
    while (!flag)
        rc = MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    atomic_store(&refuses, 0);
    MT_CHECK(rc != MPI_SUCCESS && by_win == 1, "error %d, handler of the window called %d times", rc,
             by_win);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_world));
    MT_CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS, "no error");
    MT_CHECK(by_win == 1 && by_world == 1, "handlers called %d and %d times", by_win, by_world);
    MT_OK(MPI_Errhandler_free(&of_world));
}

static void refused_then_taken(char *out, const char *memory)
{
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
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
}

int main(int argc, char **argv)
{
    char *memory, out[BYTES];

    mt_init(argc, argv, 4, 50);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    if (mt.bytes)
        after_free(out);
    else
        refused_then_taken(out, memory);
    return mt_finish();
}

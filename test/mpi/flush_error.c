/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A put fails in the network, and the event has been read before the flush: only the number of errors
 * tells of it. The flush ends with an error, also if that of another window, whose operations are
 * counted with its own, has met it before; later flushes are well. So they are if there were more
 * errors than operations that failed, and the others complete later. */
#define _GNU_SOURCE
#include "fabric_write.h"

static atomic_int is_slow;      /* nothing seems to complete */
static MPI_Win wins[2];
static char *out;
static uint64_t (*real_count) (struct fid_cntr *);

/* The threads of the library may ask, too: the last answer is kept for each. */
static uint64_t count_completed(struct fid_cntr *cntr)
{
    static _Thread_local uint64_t last;
    const uint64_t now = real_count(cntr);

    if (!atomic_load(&is_slow))
        last = now;
    return last;
}

void fabric_endpoint(struct fid_ep *ep)
{
    FABRIC_REPLACE(ep->rma, writemsg, real_write, write_or_fail);
}

void fabric_counter(struct fid_cntr *cntr)
{
    FABRIC_REPLACE(cntr->ops, readerr, real_errors, count_errors);
    FABRIC_REPLACE(cntr->ops, read, real_count, count_completed);
}

static void put(MPI_Win win)
{
    MT_OK(MPI_Put(out, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win));
}

static void put_well(MPI_Win win)
{
    put(win);
    MT_OK(MPI_Win_flush(mt.peer, win));
}

static void must_fail(MPI_Win win, const char *what)
{
    MT_CHECK(MPI_Win_flush(mt.peer, win) != MPI_SUCCESS, "%s: the flush gave no error", what);
}

static void fail(MPI_Win win)
{
    atomic_store(&fails, 1);
    put(win);
    MT_CHECK(!atomic_load(&fails), "the put was not issued by fi_writemsg");
}

static void both_well(void)
{
    for (int i = 0; i < 2; i++)
        put_well(wins[i]);
}

/* The flush of the other window may give the error, too. */
static void in_another_window(int other_times)
{
    fail(wins[0]);
    for (int i = 0; i < other_times; i++)
        MPI_Win_flush(mt.peer, wins[1]);
    must_fail(wins[0], "in another window");
    MPI_Win_flush(mt.peer, wins[1]);
    both_well();
}

/* Errors of no operation, while those of n puts are on their way; they may arrive after a second flush
 * that waits for them no more. */
static void more_errors(int n, int flushes)
{
    atomic_store(&is_slow, 1);
    for (int i = 0; i < n; i++)
        put(wins[0]);
    atomic_fetch_add(&errors, 2);
    must_fail(wins[0], "more errors");
    for (int i = 1; i < flushes; i++)
        MT_OK(MPI_Win_flush(mt.peer, wins[0]));
    atomic_store(&is_slow, 0);
    MPI_Win_flush(mt.peer, wins[1]);
    both_well();
}

static void round_of_all(void)
{
    put_well(wins[0]);
    fail(wins[0]);
    must_fail(wins[0], "alone");
    MPI_Win_flush(mt.peer, wins[1]);
    both_well();
    in_another_window(1);
    in_another_window(2);
    more_errors(3, 1);
    more_errors(1, 2);
}

int main(int argc, char **argv)
{
    char *memory[2];

    mt_init(argc, argv, 1, 5);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    out = mt_alloc(BYTES);
    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i], &wins[i]));
        MT_OK(MPI_Win_set_errhandler(wins[i], MPI_ERRORS_RETURN));
        MT_OK(MPI_Win_lock_all(0, wins[i]));
    }
    for (long i = 0; i < mt.iters; i++) {
        memset(out, (int) i + 1, BYTES);
        round_of_all();
    }
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Win_unlock_all(wins[i]));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < BYTES; k++)
            MT_CHECK(memory[i][k] == (char) mt.iters, "window %d, byte %d is %d", i, k, memory[i][k]);
        MT_OK(MPI_Win_free(&wins[i]));
    }
    free(out);
    return mt_finish();
}

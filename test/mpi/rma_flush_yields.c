/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A flush that has nothing to wait for does not yield each time, though threads outnumber processors: a
 * yield may take a time slice of another thread. Each process has one processor and two threads: one
 * tests, the other puts into shared memory and flushes, and counts its yields. A program that puts
 * and flushes one element at a time, as one with coarrays may, took minutes in place of seconds. */
#define _GNU_SOURCE
#include "mt.h"
#include <sched.h>
#include <sys/syscall.h>

#define FLUSHES 1000

static __thread long yields;    /* of this thread */
static atomic_int done;
static MPI_Win win;
static int *base;

/* Takes the place of libc's, also for the library. */
int sched_yield(void)
{
    yields++;
    return (int) syscall(SYS_sched_yield);
}

static void use_one_processor(void)
{
    cpu_set_t all, one;
    int c = 0;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(all), &all))
        return;
    while (!CPU_ISSET(c, &all))
        c++;
    CPU_SET(c, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void put_and_flush(int i)
{
    MT_OK(MPI_Put(&i, 1, MPI_INT, mt.peer, 0, 1, MPI_INT, win));
    if (i % 3 == 0)
        MT_OK(MPI_Win_flush(mt.peer, win));
    else if (i % 3 == 1)
        MT_OK(MPI_Win_flush_all(win));
    else
        MT_OK(MPI_Win_flush_local(mt.peer, win));
}

/* The load is measured now and then, so the first flushes do not count. */
static void flush_often(void)
{
    long before = 0;
    for (int i = 0; i < 2 * FLUSHES; i++) {
        if (i == FLUSHES)
            before = yields;
        put_and_flush(i);
    }
    MT_CHECK(yields - before < FLUSHES / 4, "%ld yields in %d flushes", yields - before, FLUSHES);
}

static void test_often(void)
{
    int flag;
    while (!atomic_load(&done))
        MT_OK(MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    if (t->id == 0) {
        flush_often();
        atomic_store(&done, 1);
    } else {
        test_often();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    use_one_processor();
    mt_init(argc, argv, 2, 1);
    MT_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    mt_run(2, worker);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* free_fn of a generalized request is called once, in the later one of MPI_Request_free and
 * MPI_Grequest_complete (MPI-4.0 section 13.2): one after the other in either order, and at the same
 * time in two threads. The request is not freed before, so no other one is completed in its place. */
#include "mt.h"

#include <sched.h>

typedef struct {
    MPI_Request request;        /* what MPI_Grequest_complete is given */
    atomic_int freed;           /* calls of free_fn */
    atomic_int started, completed;      /* rounds */
} shared_t;

static shared_t *all;           /* of each thread that frees */

static int query(void *state, MPI_Status * status)
{
    (void) state;
    MT_OK(MPI_Status_set_elements(status, MPI_BYTE, 0));
    MT_OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}

static int freed(void *state)
{
    atomic_fetch_add(&((shared_t *) state)->freed, 1);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_SUCCESS;
}

static MPI_Request start(shared_t * s)
{
    MPI_Request r;

    atomic_store(&s->freed, 0);
    MT_OK(MPI_Grequest_start(query, freed, cancel, s, &r));
    s->request = r;
    return r;
}

static void must_be_freed(shared_t * s, int want, const char *when)
{
    int got = atomic_load(&s->freed);
    MT_CHECK(got == want, "free_fn was called %d times %s", got, when);
}

static void free_first(shared_t * s, int tag)
{
    MPI_Request r = start(s), other;
    int value = 5, in = 0, flag = 0;

    MT_OK(MPI_Request_free(&r));
    must_be_freed(s, 0, "before MPI_Grequest_complete");
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &other));
    MT_OK(MPI_Grequest_complete(s->request));
    must_be_freed(s, 1, "after MPI_Grequest_complete");
    MT_OK(MPI_Test(&other, &flag, MPI_STATUS_IGNORE));
    MT_CHECK(!flag, "MPI_Grequest_complete has completed another request");
    MT_OK(MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF));
    MT_OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    MT_CHECK(in == value, "received %d", in);
}

static void complete_first(shared_t * s)
{
    MPI_Request r = start(s);

    MT_OK(MPI_Grequest_complete(s->request));
    must_be_freed(s, 0, "before MPI_Request_free");
    MT_OK(MPI_Request_free(&r));
    must_be_freed(s, 1, "after MPI_Request_free");
}

/* As without MPI_Request_free. */
static void wait_for_it(shared_t * s)
{
    MPI_Request r = start(s);

    MT_OK(MPI_Grequest_complete(s->request));
    must_be_freed(s, 0, "before MPI_Wait");
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    must_be_freed(s, 1, "after MPI_Wait");
}

static void await(atomic_int * count, int round)
{
    while (atomic_load(count) < round)
        sched_yield();
}

static void frees(shared_t * s, mt_thread_t * t, int round)
{
    MPI_Request r = start(s);

    atomic_store(&s->started, round);
    mt_delay((unsigned) (mt_rand(&t->rng) % 200));
    MT_OK(MPI_Request_free(&r));
    await(&s->completed, round);
    must_be_freed(s, 1, "after both calls");
}

static void completes(shared_t * s, mt_thread_t * t, int round)
{
    await(&s->started, round);
    mt_delay((unsigned) (mt_rand(&t->rng) % 200));
    MT_OK(MPI_Grequest_complete(s->request));
    atomic_store(&s->completed, round);
}

/* Threads 2 k and 2 k + 1 are a pair: the even one frees, the odd one completes. */
static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    shared_t *s = &all[t->id / 2];

    for (int i = 0; t->id % 2 == 0 && i < (int) mt.iters; i++) {
        free_first(s, t->id);
        complete_first(s);
        wait_for_it(s);
    }
    for (int i = 0; i < (int) mt.iters; i++)
        (t->id % 2 ? completes : frees) (s, t, i + 1);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;

    mt_options(argc, argv, 4, 5000);
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_CHECK(provided == MPI_THREAD_MULTIPLE && mt.threads % 2 == 0, "run with an even -t");
    all = mt_alloc((size_t) mt.threads / 2 * sizeof(*all));
    mt_run(mt.threads, worker);
    free(all);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Cancel of a receive while its message arrives and while other threads are in the middle of
 * large MPI_Accumulates: receives from a named source and from any, small and large messages, each
 * either cancelled, and then its message is still there, or received whole.  A cancel that makes
 * progress until the request is complete must hold a reference to what it looks at: another thread
 * completes and frees it meanwhile, and the memory becomes another request.  Then the cancel never
 * ends, with the lock held. */
#include "mt.h"

static MPI_Win win;
static double *mem, *one;
static int items;
static atomic_int cancelling;

static int bytes_of(long round)
{
    static const int bytes[] = { 8, 200, 8, 20000, 8, 100000 };
    return bytes[round % 6];
}

static void check(const char *in, long round, const char *what)
{
    int bytes = bytes_of(round);
    long head;
    memcpy(&head, in, sizeof(head));
    MT_CHECK(head == round, "%s: message %ld instead of %ld", what, head, round);
    MT_CHECK(bytes == 8 || in[bytes - 1] == (char) round, "%s: message %ld is damaged", what,
             round);
}

static void receiver(mt_thread_t * t, char *in)
{
    for (long i = 0; i < mt.iters; i++) {
        int source = (i + t->id) % 2 ? MPI_ANY_SOURCE : mt.peer, cancelled;
        MPI_Request r;
        MPI_Status st;
        memset(in, -1, sizeof(long));
        MT_OK(MPI_Irecv(in, bytes_of(i), MPI_BYTE, source, t->id, MPI_COMM_WORLD, &r));
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD));
        if (i % 4)
            mt_delay((unsigned) (mt_rand(&t->rng) % 8000));
        else
            usleep((useconds_t) (mt_rand(&t->rng) % 2000));
        MT_OK(MPI_Cancel(&r));
        MT_OK(MPI_Wait(&r, &st));
        MT_OK(MPI_Test_cancelled(&st, &cancelled));
        if (cancelled)
            MT_OK(MPI_Recv(in, bytes_of(i), MPI_BYTE, source, t->id, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
        check(in, i, cancelled ? "after the cancel" : "not cancelled");
    }
}

static void accumulate(void)
{
    MT_OK(MPI_Accumulate(one, items, MPI_DOUBLE, mt.peer, 0, items, MPI_DOUBLE, MPI_SUM, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
}

static void sender(mt_thread_t * t, char *out)
{
    for (long i = 0; i < mt.iters; i++) {
        MPI_Request r;
        memcpy(out, &i, sizeof(i));
        if (bytes_of(i) > 8)
            out[bytes_of(i) - 1] = (char) i;
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (bytes_of(i) > 8)
            mt_delay((unsigned) (mt_rand(&t->rng) % 4000));
        MT_OK(MPI_Isend(out, bytes_of(i), MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD, &r));
        accumulate();
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
}

/* The first half of the threads exchanges messages, the second half only accumulates. */
static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    char *buf = mt_alloc(100000);

    if (t->id < (mt.threads + 1) / 2) {
        if (t->id % 2 == mt.rank)
            receiver(t, buf);
        else
            sender(t, buf);
        atomic_fetch_sub(&cancelling, 1);
    } else {
        while (atomic_load(&cancelling) > 0)
            accumulate();
    }
    free(buf);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 300);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    items = (int) (mt.bytes ? mt.bytes / 8 : 40000);
    mem = mt_alloc((size_t) items * sizeof(*mem));
    one = mt_alloc((size_t) items * sizeof(*one));
    for (int k = 0; k < items; k++)
        one[k] = 1;
    MT_OK(MPI_Win_create(mem, items * (MPI_Aint) sizeof(*mem), sizeof(*mem), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &win));
    MT_OK(MPI_Win_lock_all(0, win));
    atomic_store(&cancelling, (mt.threads + 1) / 2);
    mt_run(mt.threads, worker);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    free(one);
    free(mem);
    return mt_finish();
}

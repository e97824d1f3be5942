/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Cancel of a receive while its message arrives and while other threads are in the middle of
 * large MPI_Accumulates: receives from a named source and from any, small and large messages, each
 * either cancelled, and then its message is still there, or received whole.  A cancel that makes
 * progress until the request is complete must hold a reference to what it looks at: another thread
 * completes and frees it meanwhile, and the memory becomes another request.  Then the cancel never
 * ends, with the lock held. */
#include "mt.h"

#define SLOTS 8
#define LARGEST 60000

static MPI_Win win;
static double *mem, *one;
static int items;
static atomic_int cancelling;

/* Eager and rendezvous. */
static int bytes_of(long round, int slot)
{
    static const int bytes[] = { 8, 8, 8, 8, 8, 16000, LARGEST };
    return bytes[(round + slot) % 7];
}

static void check(const char *in, long round, int slot, const char *what)
{
    int bytes = bytes_of(round, slot);
    long head;
    memcpy(&head, in, sizeof(head));
    MT_CHECK(head == round, "%s: message %ld instead of %ld", what, head, round);
    MT_CHECK(bytes == 8 || in[bytes - 1] == (char) round, "%s: message %ld is damaged", what,
             round);
}

static void finish(MPI_Request * r, char *in, long round, int tag)
{
    int cancelled, bytes = bytes_of(round, tag % SLOTS);
    MPI_Status st;

    MT_OK(MPI_Wait(r, &st));
    MT_OK(MPI_Test_cancelled(&st, &cancelled));
    if (cancelled)
        MT_OK(MPI_Recv(in, bytes, MPI_BYTE, mt.peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(in, round, tag % SLOTS, cancelled ? "after the cancel" : "not cancelled");
}

static void receiver(mt_thread_t * t, char *buf)
{
    MPI_Request r[SLOTS];

    for (long i = 0; i < mt.iters; i++) {
        for (int k = 0; k < SLOTS; k++) {
            memset(buf + k * LARGEST, -1, sizeof(long));
            MT_OK(MPI_Irecv(buf + k * LARGEST, bytes_of(i, k), MPI_BYTE,
                            (i + k) % 2 ? MPI_ANY_SOURCE : mt.peer, t->id * SLOTS + k,
                            MPI_COMM_WORLD, &r[k]));
        }
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, mt.peer, t->id * SLOTS, MPI_COMM_WORLD));
        /* the others follow the first one closely */
        finish(&r[0], buf, i, t->id * SLOTS);
        mt_delay((unsigned) (mt_rand(&t->rng) % 2000));
        for (int k = 1; k < SLOTS; k++)
            MT_OK(MPI_Cancel(&r[k]));
        for (int k = 1; k < SLOTS; k++)
            finish(&r[k], buf + k * LARGEST, i, t->id * SLOTS + k);
    }
}

/* The puts make the library poll for other completions, so that it handles several messages when the
 * cancel arrives. */
static void accumulate(int n)
{
    for (int k = 0; k < n; k++)
        MT_OK(MPI_Accumulate(one, items, MPI_DOUBLE, mt.peer, 0, items, MPI_DOUBLE, MPI_SUM, win));
    for (int k = 0; k < n; k++)
        MT_OK(MPI_Put(one, items, MPI_DOUBLE, mt.peer, items, items, MPI_DOUBLE, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
}

static void sender(mt_thread_t * t, char *buf)
{
    MPI_Request r[SLOTS];

    for (long i = 0; i < mt.iters; i++) {
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt.peer, t->id * SLOTS, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        for (int k = 0; k < SLOTS; k++) {
            char *out = buf + k * LARGEST;
            memcpy(out, &i, sizeof(i));
            if (bytes_of(i, k) > 8)
                out[bytes_of(i, k) - 1] = (char) i;
            MT_OK(MPI_Isend(out, bytes_of(i, k), MPI_BYTE, mt.peer, t->id * SLOTS + k,
                            MPI_COMM_WORLD, &r[k]));
        }
        accumulate(1);
        MT_OK(MPI_Waitall(SLOTS, r, MPI_STATUSES_IGNORE));
    }
}

/* The first half of the threads exchanges messages, the second half only accumulates. */
static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    char *buf = mt_alloc(SLOTS * LARGEST);

    if (t->id < (mt.threads + 1) / 2) {
        if (t->id % 2 == mt.rank % 2)
            receiver(t, buf);
        else
            sender(t, buf);
        atomic_fetch_sub(&cancelling, 1);
    } else {
        while (atomic_load(&cancelling) > 0)
            accumulate(4);
    }
    free(buf);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 40);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    items = (int) (mt.bytes ? mt.bytes / 8 : 5000);
    mem = mt_alloc((size_t) items * 2 * sizeof(*mem));
    one = mt_alloc((size_t) items * sizeof(*one));
    for (int k = 0; k < items; k++)
        one[k] = 1;
    MT_OK(MPI_Win_create(mem, items * 2 * (MPI_Aint) sizeof(*mem), sizeof(*mem), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    atomic_store(&cancelling, (mt.threads + 1) / 2);
    mt_run(mt.threads, worker);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    free(one);
    free(mem);
    return mt_finish();
}

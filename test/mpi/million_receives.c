/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The threads of process 1 post a million receives, each with a tag of its own, before process 0 sends
 * the first message. A VCI must have requests for all of them, and each message finds its receive, in a
 * time that does not grow with their number. Then a hundredth as many come before their receives,
 * which are posted in the reverse order. At last as many receives are cancelled, the last one first. */
#include "mt.h"

#define READY 0
#define EARLY 100               /* one message in so many comes early */

static int *in;
static pthread_barrier_t all;       /* the threads of process 1 */

static int tag_of(const mt_thread_t * t, long i)
{
    return (int) (t->id * mt.iters + i + 1);
}

static void post_and_wait(const mt_thread_t * t)
{
    MPI_Request *r = mt_alloc((size_t) mt.iters * sizeof(*r));

    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Irecv(&in[tag_of(t, i)], 1, MPI_INT, 0, tag_of(t, i), MPI_COMM_WORLD, &r[i]));
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, READY, MPI_COMM_WORLD));
    MT_OK(MPI_Waitall((int) mt.iters, r, MPI_STATUSES_IGNORE));
    for (long i = 0; i < mt.iters; i++)
        MT_CHECK(in[tag_of(t, i)] == -tag_of(t, i), "receive %d has %d", tag_of(t, i),
                 in[tag_of(t, i)]);
    free(r);
}

static void receive_early(const mt_thread_t * t)
{
    for (long i = mt.iters / EARLY; i-- > 0;) {
        int data;

        MT_OK(MPI_Recv(&data, 1, MPI_INT, 0, tag_of(t, i), MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_CHECK(data == tag_of(t, i), "early message %d has %d", tag_of(t, i), data);
    }
}

static void post_and_cancel(const mt_thread_t * t)
{
    MPI_Request *r = mt_alloc((size_t) mt.iters * sizeof(*r));

    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Irecv(&in[tag_of(t, i)], 1, MPI_INT, 0, tag_of(t, i), MPI_COMM_WORLD, &r[i]));
    for (long i = mt.iters; i-- > 0;) {
        MPI_Status st;
        int is_cancelled;

        MT_OK(MPI_Cancel(&r[i]));
        MT_OK(MPI_Wait(&r[i], &st));
        MT_OK(MPI_Test_cancelled(&st, &is_cancelled));
        MT_CHECK(is_cancelled, "receive %d is not cancelled", tag_of(t, i));
    }
    free(r);
}

static void *receiver(void *arg)
{
    post_and_wait(arg);
    pthread_barrier_wait(&all);
    receive_early(arg);
    pthread_barrier_wait(&all);
    post_and_cancel(arg);
    return NULL;
}

/* Messages of the first n tags, with that factor times the tag. */
static void send_first(const mt_thread_t * t, long n, int factor)
{
    for (long i = 0; i < n; i++) {
        int data = factor * tag_of(t, i);

        MT_OK(MPI_Send(&data, 1, MPI_INT, 1, tag_of(t, i), MPI_COMM_WORLD));
    }
}

static void *sender(void *arg)
{
    send_first(arg, mt.iters, -1);
    send_first(arg, mt.iters / EARLY, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 250000);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    if (mt.rank == 1) {
        in = mt_alloc((size_t) (mt.threads * mt.iters + 1) * sizeof(*in));
        pthread_barrier_init(&all, NULL, (unsigned) mt.threads);
        mt_run(mt.threads, receiver);
        pthread_barrier_destroy(&all);
        free(in);
    } else {
        for (int i = 0; i < mt.threads; i++)
            MT_OK(MPI_Recv(NULL, 0, MPI_INT, 1, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mt_run(mt.threads, sender);
    }
    return mt_finish();
}

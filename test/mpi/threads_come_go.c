/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Hundreds of short-lived threads: each sends, receives, waits and exits; every second one
 * leaves its requests for a thread of the next wave to complete. All of a wave exist at once, also more
 * than hybcomb has mailboxes (128) and the wait-free queue handles (256). */
#define MT_MAX_THREADS 320
#include "mt.h"

#define N 16

typedef struct {
    MPI_Request req[2];
    int out[N], in[N], pending;
} slot_t;

static slot_t slots[2][MT_MAX_THREADS];
static long wave;
static pthread_barrier_t all_here;

static void complete(slot_t * s, int id, long w)
{
    MPI_Waitall(2, s->req, MPI_STATUSES_IGNORE);
    s->pending = 0;
    for (int k = 0; k < N; k++)
        MT_CHECK(s->in[k] == (int) (w * 1000 + id + k), "wave %ld thread %d: element %d is %d", w,
                 id, k, s->in[k]);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    int neighbour = (t->id + 1) % mt.threads;
    slot_t *mine = &slots[wave % 2][t->id], *left = &slots[(wave + 1) % 2][neighbour];
    MT_CHECK(!mine->pending, "wave %ld thread %d: nobody completed the last exchange", wave, t->id);
    for (int k = 0; k < N; k++) {
        mine->out[k] = (int) (wave * 1000 + t->id + k);
        mine->in[k] = -1;
    }
    pthread_barrier_wait(&all_here);
    MPI_Irecv(mine->in, N, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &mine->req[0]);
    MPI_Isend(mine->out, N, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &mine->req[1]);
    mine->pending = 1;
    if (left->pending)
        complete(left, neighbour, wave - 1);
    if ((wave + t->id) % 2 == 0)
        complete(mine, t->id, wave);
    pthread_barrier_wait(&all_here);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 100);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    pthread_barrier_init(&all_here, NULL, (unsigned) mt.threads);
    for (wave = 0; wave < mt.iters; wave++)
        mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++)
        if (slots[(wave + 1) % 2][i].pending)
            complete(&slots[(wave + 1) % 2][i], i, wave - 1);
    return mt_finish();
}

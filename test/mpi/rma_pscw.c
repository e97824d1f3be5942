/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads that synchronize on different windows at the same time, by post-start-complete-wait on
 * the even ones and by fence on the odd ones: a thread waiting inside one of these calls must not
 * keep the library from the thread whose operation its peer waits for (MPICH #6466). */
#include "mt.h"

static MPI_Comm comm[MT_MAX_THREADS];
static MPI_Win win[MT_MAX_THREADS];
static long *mem[MT_MAX_THREADS];
static MPI_Group peer_group;

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Win w = win[t->id];
    for (long i = 0; i < mt.iters; i++) {
        long out = i * 10 + t->id;
        int fence = t->id % 4 == 3;
        /* half the threads let the other side go first, so that both ends wait at a time */
        if ((t->id + mt.rank) % 2)
            mt_delay((unsigned) (mt_rand(&t->rng) % 5000));
        if (fence) {
            MPI_Win_fence(0, w);
            MPI_Put(&out, 1, MPI_LONG, mt.peer, 0, 1, MPI_LONG, w);
            MPI_Win_fence(0, w);
        } else {
            MPI_Win_post(peer_group, 0, w);
            MPI_Win_start(peer_group, 0, w);
            MPI_Put(&out, 1, MPI_LONG, mt.peer, 0, 1, MPI_LONG, w);
            MPI_Win_complete(w);
            MPI_Win_wait(w);
        }
        MT_CHECK(mem[t->id][0] == out, "round %ld: %ld instead of %ld", i, mem[t->id][0], out);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Group world;
    mt_init(argc, argv, 4, 300);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &mt.peer, &peer_group);
    for (int i = 0; i < mt.threads; i++) {
        mem[i] = mt_alloc(sizeof(long));
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Win_create(mem[i], sizeof(long), sizeof(long), MPI_INFO_NULL, comm[i], &win[i]);
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MPI_Win_free(&win[i]);
        MPI_Comm_free(&comm[i]);
        free(mem[i]);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&peer_group);
    return mt_finish();
}

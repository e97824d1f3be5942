/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A program that stays connected with more and more others, while one of its threads sends to the
 * first of them all the time. A few others, which have ended by then, were there before. */
#include "mt.h"

#define CHILDREN_MAX 64

static MPI_Comm child[CHILDREN_MAX];
static atomic_int is_over;

static int echo(MPI_Comm c, int tag, int n)
{
    int got = -1;

    MT_OK(MPI_Sendrecv(&n, 1, MPI_INT, 0, tag, &got, 1, MPI_INT, 0, tag, c, MPI_STATUS_IGNORE));
    MT_CHECK(got == n + 1, "sent %d, got %d", n, got);
    return got;
}

/* Answers until it is told to stop. */
static void answer(MPI_Comm parent)
{
    int n;
    MPI_Status status;

    do {
        MT_OK(MPI_Recv(&n, 1, MPI_INT, 0, MPI_ANY_TAG, parent, &status));
        n++;
        if (status.MPI_TAG)
            MT_OK(MPI_Send(&n, 1, MPI_INT, 0, status.MPI_TAG, parent));
    } while (status.MPI_TAG);
    MT_OK(MPI_Comm_disconnect(&parent));
}

static void *talk(void *arg)
{
    (void) arg;
    for (int n = 0; !atomic_load(&is_over);)
        n = echo(child[0], 1, n);
    return NULL;
}

static void spawn(char *program, int i)
{
    MT_OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child[i],
                         MPI_ERRCODES_IGNORE));
}

static void once(char *program, int n)
{
    pthread_t talker;
    int zero = 0;

    spawn(program, 0);
    atomic_store(&is_over, 0);
    MT_CHECK(pthread_create(&talker, NULL, talk, NULL) == 0, "cannot create a thread");
    for (int i = 1; i < n; i++) {
        spawn(program, i);
        for (int k = 0; k <= i; k++)
            echo(child[k], 2, 10 * i);
    }
    atomic_store(&is_over, 1);
    pthread_join(talker, NULL);
    for (int i = 0; i < n; i++) {
        MT_OK(MPI_Send(&zero, 1, MPI_INT, 0, 0, child[i]));
        MT_OK(MPI_Comm_disconnect(&child[i]));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent = mt_init_spawned(argc, argv, 1, 11);

    MT_CHECK(mt.iters <= CHILDREN_MAX, "up to %d", CHILDREN_MAX);
    if (parent != MPI_COMM_NULL) {
        answer(parent);
    } else {
        once(argv[0], 2);
        once(argv[0], (int) mt.iters);
    }
    return mt_finish();
}

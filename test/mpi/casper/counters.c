/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The performance variables of ghosts: each send, receive and probe of the program counts once, those
 * of collectives do not; every byte between two users is copied once, by one of them or by the ghost;
 * and the ghost tells what it keeps. They can still be read after MPI_Finalize, and in it, by another
 * thread. */
#define PV_PREFIX "ch4_casper_"
#include "../pvars.h"

enum { SMALL = 20, LARGE = 5, BYTES = 200000, KEPT = 50000 };

static char out[BYTES], in[BYTES];

static void exchange(void)
{
    for (int i = 0; i < SMALL + LARGE; i++) {
        int bytes = i < SMALL ? i : BYTES;
        MT_OK(MPI_Sendrecv(out, bytes, MPI_CHAR, mt.peer, i, in, bytes, MPI_CHAR, mt.peer, i,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Small data takes no copy but that of the post and of the answer. */
static void counts_of_exchange(void)
{
    pv_set_t *before = pv_start(), *set = pv_start();
    double copied, all, idle;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    exchange();
    PV_IS(set, "sends", SMALL + LARGE);
    PV_IS(set, "receives", SMALL + LARGE);
    PV_IS(set, "probes", 0);
    copied = pv(set, "copied") + (mt.rank == 0 ? pv(set, "ghost_copied") : 0);
    MT_OK(MPI_Allreduce(&copied, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    MT_CHECK(all == 2.0 * LARGE * BYTES, "%g bytes copied", all);
    /* The ghost goes on between two looks: its turns count from before, and until after. */
    idle = pv(set, "ghost_idle");
    MT_CHECK(idle <= pv(before, "ghost_turns"), "more idle turns than turns");
    pv_free(set);
    pv_free(before);
}

/* User 1 looks at what its ghost keeps, and then at the message. */
static void kept(void)
{
    pv_set_t *set = pv_start();
    MPI_Status status;
    double most = 0;
    if (mt.rank == 0)
        MT_OK(MPI_Send(out, KEPT, MPI_CHAR, 1, 99, MPI_COMM_WORLD));
    for (int i = 0; mt.rank == 1 && i < 5000 && most < KEPT; i++) {
        most = pv(set, "ghost_kept");
        usleep(1000);
    }
    if (mt.rank == 1) {
        MT_CHECK(most >= KEPT && most < 2 * KEPT, "the ghost keeps %g bytes", most);
        MT_OK(MPI_Probe(0, 99, MPI_COMM_WORLD, &status));
        MT_CHECK(pv(set, "probes") >= 1, "no probe");
        MT_OK(MPI_Recv(in, KEPT, MPI_CHAR, 0, 99, MPI_COMM_WORLD, &status));
        PV_IS(set, "receives", 1);
    }
    pv_free(set);
}

static atomic_int has_read, has_ended;

static void *read_on(void *arg)
{
    pv_set_t *set = pv_start();
    double turns = 0;
    (void) arg;
    while (!atomic_load(&has_ended)) {
        double now = pv(set, "ghost_turns");
        MT_CHECK(now >= turns, "%g turns after %g", now, turns);
        turns = now;
        atomic_store(&has_read, 1);
    }
    pv_free(set);
    return NULL;
}

static void finalize_beside_reader(void)
{
    pthread_t reader;
    MT_CHECK(pthread_create(&reader, NULL, read_on, NULL) == 0, "no thread");
    while (!atomic_load(&has_read))
        sched_yield();
    MPI_Finalize();
    atomic_store(&has_ended, 1);
    MT_CHECK(pthread_join(reader, NULL) == 0, "cannot join the thread");
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    pv_find();
    counts_of_exchange();
    kept();
    pv_set_t *set = pv_start();
    finalize_beside_reader();
    MT_CHECK(pv(set, "sends") >= 0 && pv(set, "ghost_turns") >= 0, "wrong after MPI_Finalize");
    pv_free(set);
    MPI_T_finalize();
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

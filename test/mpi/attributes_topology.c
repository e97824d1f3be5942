/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads look up the topology of a communicator while another one sets and deletes its attributes:
 * MPICH keeps the topology as an attribute, and looks it up without the lock of `global`. With the
 * topology all of MPICH's first 32 attributes are in use, so one that is deleted has no key then. */
#include "mt.h"

enum { KEYS = 31 };

static MPI_Comm comm;
static int keys[KEYS];
static atomic_int has_ended;

static void change_attributes(void)
{
    for (long i = 0; i < mt.iters; i++) {
        int key = keys[i % KEYS];       /* the one that was set first */
        MT_OK(MPI_Comm_delete_attr(comm, key));
        MT_OK(MPI_Comm_set_attr(comm, key, keys));
    }
    atomic_store(&has_ended, 1);
}

static void look_up_topology(void)
{
    while (!atomic_load(&has_ended)) {
        int kind, coordinate;
        MT_OK(MPI_Topo_test(comm, &kind));
        MT_CHECK(kind == MPI_CART, "the communicator has topology %d", kind);
        MT_OK(MPI_Cart_coords(comm, mt.rank, 1, &coordinate));
        MT_CHECK(coordinate == mt.rank, "rank %d has coordinate %d", mt.rank, coordinate);
    }
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    if (t->id == 0)
        change_attributes();
    else
        look_up_topology();
    return NULL;
}

int main(int argc, char **argv)
{
    int periodic = 1;

    mt_init(argc, argv, 4, 100000);
    MT_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &mt.size, &periodic, 0, &comm));
    for (int i = 0; i < KEYS; i++) {
        MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[i], NULL));
        MT_OK(MPI_Comm_set_attr(comm, keys[i], keys));
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < KEYS; i++)
        MT_OK(MPI_Comm_free_keyval(&keys[i]));
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

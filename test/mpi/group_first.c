/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Comm_create_group by several threads at once, each with a tag of its own, on a communicator whose
 * group nobody has asked for (MPI-4.0 section 7.4.2). */
#include "mt.h"

static MPI_Comm parent;
static MPI_Group all;

static void *create(void *arg)
{
    const mt_thread_t *self = arg;
    int one = 1, sum = 0;
    MPI_Comm comm;

    MT_OK(MPI_Comm_create_group(parent, all, self->id, &comm));
    MT_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    MT_CHECK(sum == mt.size, "%d processes of %d", sum, mt.size);
    MT_OK(MPI_Comm_free(&comm));
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 10);
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (long i = 0; i < mt.iters; i++) {
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
        mt_run(mt.threads, create);
        MT_OK(MPI_Comm_free(&parent));
    }
    MT_OK(MPI_Group_free(&all));
    return mt_finish();
}

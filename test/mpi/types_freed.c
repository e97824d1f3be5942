/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A freed datatype gives back its memory, wherever in the address space that lies. Addresses are
 * random, so several processes look. */
#include "mt.h"

static long resident_bytes(void)
{
    long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    MT_CHECK(file && fscanf(file, "%ld %ld", &all, &resident) == 2, "no /proc/self/statm");
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static void make_and_free(long times)
{
    MPI_Datatype type;

    for (long i = 0; i < times; i++) {
        MT_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
        MT_OK(MPI_Type_commit(&type));
        MT_OK(MPI_Type_free(&type));
    }
}

int main(int argc, char **argv)
{
    long before, grown;

    mt_init(argc, argv, 1, 200000);
    make_and_free(1000);
    before = resident_bytes();
    make_and_free(mt.iters);
    grown = resident_bytes() - before;
    MT_CHECK(grown < 16 * mt.iters, "%ld datatypes kept %ld bytes", mt.iters, grown);
    return mt_finish();
}

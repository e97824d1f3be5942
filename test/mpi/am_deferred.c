/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Puts that go as active messages and are issued later, since a longer one is still on its way: long
 * ones keep their headers; a short one its datatype, which the program frees; one that does not fit
 * into the buffer of 1024 bytes with its header gets a longer one. */
#include "mt.h"

#define LONG 65536
#define LONGS 4
#define SHORT 256
#define FULL 1024               /* down to half of it */
#define STEP 32
#define FULLS (FULL / 2 / STEP)
#define AT_SHORT (LONG * LONGS)
#define AT_FULL (AT_SHORT + SHORT)

static char memory[AT_FULL + FULL * FULLS];
static char from[sizeof(memory)];

static MPI_Datatype vector(int stride)
{
    MPI_Datatype type;

    MT_OK(MPI_Type_vector(SHORT, 1, stride, MPI_CHAR, &type));
    MT_OK(MPI_Type_commit(&type));
    return type;
}

static void put_all(MPI_Win win)
{
    char gaps[SHORT * 2];
    MPI_Datatype two = vector(2), three;

    for (int i = 0; i < SHORT * 2; i++)
        gaps[i] = i % 2 ? 'z' : from[AT_SHORT + i / 2];
    for (int i = 0; i < LONGS; i++)
        MT_OK(MPI_Put(from + i * LONG, LONG, MPI_CHAR, 1, i * LONG, LONG, MPI_CHAR, win));
    MT_OK(MPI_Put(gaps, 1, two, 1, AT_SHORT, SHORT, MPI_CHAR, win));
    MT_OK(MPI_Type_free(&two));
    three = vector(3);          /* may have the memory of the other */
    for (int i = 0; i < FULLS; i++)
        MT_OK(MPI_Put(from + AT_FULL + i * FULL, FULL - i * STEP, MPI_CHAR, 1, AT_FULL + i * FULL,
                      FULL - i * STEP, MPI_CHAR, win));
    MT_OK(MPI_Win_flush(1, win));
    MT_OK(MPI_Type_free(&three));
}

int main(int argc, char **argv)
{
    MPI_Win win;

    mt_init(argc, argv, 1, 20);
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (char) mt_hash(i);
    for (int i = 0; i < FULLS; i++)     /* what is not sent */
        memset(from + AT_FULL + (i + 1) * FULL - i * STEP, 0, (size_t) (i * STEP));
    MT_OK(MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < (int) mt.iters; i++) {
        MT_OK(MPI_Win_lock_all(0, win));
        if (mt.rank == 0)
            put_all(win);
        MT_OK(MPI_Win_unlock_all(win));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt.rank == 1) {
            for (size_t k = 0; k < sizeof(from); k++)
                MT_CHECK(memory[k] == from[k], "round %d: byte %zu is %d, not %d", i, k, memory[k],
                         from[k]);
            memset(memory, 0, sizeof(memory));
        }
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

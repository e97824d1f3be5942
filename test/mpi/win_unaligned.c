/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A window may begin at any address: puts, gets and accumulates reach the bytes that they are for, and
 * none before or behind them. Each process has 16 windows, the i-th from byte i of a block; and one of
 * MPI_Win_allocate of 8 bytes, which may lie anywhere in memory that the processes share. */
#include "mt.h"

#define BLOCK 64
#define FIRST 16                /* byte of a block where the first window begins */

static void check_block(const unsigned char *block, int shift)
{
    for (int i = 0; i < BLOCK; i++) {
        int at = i - FIRST - shift;
        unsigned char want = at >= 0 && at < 8 ? (unsigned char) (100 + at) : 255;
        MT_CHECK(block[i] == want, "window from byte %d: byte %d is %d, not %d", shift, at, block[i],
                 want);
    }
}

static void bytes(int shift)
{
    _Alignas(64) unsigned char block[BLOCK];
    unsigned char out[8], in[8];
    MPI_Win win;

    memset(block, 255, BLOCK);
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char) (100 + i);
    MT_OK(MPI_Win_create(block + FIRST + shift, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(out, 8, MPI_BYTE, mt.peer, 0, 8, MPI_BYTE, win));
    MT_OK(MPI_Win_fence(0, win));
    check_block(block, shift);
    MT_OK(MPI_Get(in, 8, MPI_BYTE, mt.peer, 0, 8, MPI_BYTE, win));
    MT_OK(MPI_Win_fence(0, win));
    MT_CHECK(!memcmp(in, out, 8), "window from byte %d: MPI_Get reads other bytes", shift);
    memset(block + FIRST + shift, 0, 8);
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Accumulate(out, 8, MPI_BYTE, mt.peer, 0, 8, MPI_BYTE, MPI_BOR, win));
    MT_OK(MPI_Win_fence(0, win));
    check_block(block, shift);
    MT_OK(MPI_Win_free(&win));
}

static void allocated(void)
{
    long *base, one = 1;
    MPI_Win win;

    MT_OK(MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    *base = 1000 * (mt.rank + 1);
    MT_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 3; i++)
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, mt.peer, 0, 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Win_fence(0, win));
    MT_CHECK(*base == 1000 * (mt.rank + 1) + 3, "a window of 8 bytes has %ld", *base);
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    for (int shift = 0; shift < 16; shift++)
        bytes(shift);
    allocated();
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* An accumulate of more basic elements than an int can count, to one target (MPI-4.0 section 12.3.4).
 * The origin gives one block again and again, by a datatype without extent; the target has a place for
 * each. It also keeps the elements until all have come, so it needs twice -s bytes, by default a little
 * more than 4 GiB; where there is less, or this container may not use it, the test says so and ends. */
#include "mt.h"

#define BLOCK (16L << 20)

/* What a file of the control group says; SIZE_MAX if there is none, or no limit. */
static size_t limit_in(const char *name)
{
    size_t limit = SIZE_MAX;
    FILE *f = fopen(name, "r");

    if (f && fscanf(f, "%zu", &limit) != 1)
        limit = SIZE_MAX;
    if (f)
        fclose(f);
    return limit;
}

static size_t memory_limit(void)
{
    size_t a = limit_in("/sys/fs/cgroup/memory.max");
    size_t b = limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");

    return a < b ? a : b;
}

static size_t memory_available(void)
{
    char line[256];
    size_t kib = 0, limit = memory_limit();
    FILE *f = fopen("/proc/meminfo", "r");

    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
            break;
    }
    if (f)
        fclose(f);
    return kib << 10 < limit ? kib << 10 : limit;
}

static unsigned char element(long i)
{
    return (unsigned char) mt_hash((uint64_t) (i / 64));
}

static void fill(unsigned char *block)
{
    for (long i = 0; i < BLOCK; i += 64)
        memset(block + i, element(i), 64);
}

/* The first element of each block had a value before. */
static void check(const unsigned char *mem, int blocks)
{
    unsigned char *want = mt_alloc(BLOCK);

    fill(want);
    for (int b = 0; b < blocks; b++) {
        const unsigned char *got = mem + b * BLOCK;
        MT_CHECK(got[0] == (unsigned char) (want[0] + b), "block %d begins with %d", b, got[0]);
        MT_CHECK(!memcmp(got + 1, want + 1, BLOCK - 1), "block %d is damaged", b);
    }
    free(want);
}

static void accumulate(int blocks)
{
    MPI_Datatype block, same_place;
    MPI_Aint size = mt.rank == 1 ? blocks * BLOCK : 0;
    unsigned char *mem = mt_alloc((size_t) (mt.rank == 1 ? size : BLOCK));
    MPI_Win win;

    MT_OK(MPI_Type_contiguous((int) BLOCK, MPI_UNSIGNED_CHAR, &block));
    MT_OK(MPI_Type_create_resized(block, 0, 0, &same_place));
    MT_OK(MPI_Type_commit(&block));
    MT_OK(MPI_Type_commit(&same_place));
    if (mt.rank == 1) {
        for (int b = 0; b < blocks; b++)
            mem[b * BLOCK] = (unsigned char) b;
    } else {
        fill(mem);
    }
    MT_OK(MPI_Win_create(mem, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_fence(0, win));
    if (mt.rank == 0)
        MT_OK(MPI_Accumulate(mem, blocks, same_place, 1, 0, blocks, block, MPI_SUM, win));
    MT_OK(MPI_Win_fence(0, win));
    if (mt.rank == 1)
        check(mem, blocks);
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Type_free(&same_place));
    MT_OK(MPI_Type_free(&block));
    free(mem);
}

int main(int argc, char **argv)
{
    int blocks, is_enough;

    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    mt.bytes = mt.bytes ? mt.bytes : (1L << 31) + BLOCK;
    blocks = (int) ((mt.bytes + BLOCK - 1) / BLOCK);
    is_enough = memory_available() >= 2 * (size_t) mt.bytes + (1UL << 30);
    MT_OK(MPI_Bcast(&is_enough, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (is_enough)
        accumulate(blocks);
    else if (mt.rank == 0)
        printf("left out: less than %ld MiB of memory are available\n", (mt.bytes >> 19) + 1024);
    return mt_finish();
}

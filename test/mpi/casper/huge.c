/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages of more than 2 GB through a ghost: by the calls with large counts, by those with int and a
 * type of 1 MB, and cut at 2 GB by the receive. The buffers take 128 MB only: 64 MB that are mapped 32
 * times in a row, and behind them, where the 31 bits end, 64 MB of their own. -n: how many of the four
 * steps; -s: how many are skipped before them. */
#define _GNU_SOURCE
#include "../mt.h"
#include <sys/mman.h>

#define PIECE  (64l << 20)
#define TWO_GB (32 * PIECE)
#define MB     (1l << 20)
#define TAIL   4096

static unsigned char *buffer;

static unsigned char *map_all(void)
{
    int shared = memfd_create("huge", 0);
    unsigned char *base = mmap(NULL, TWO_GB + PIECE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MT_CHECK(shared >= 0 && ftruncate(shared, PIECE) == 0 && base != MAP_FAILED, "no memory");
    for (int i = 0; i < 32; i++)
        MT_CHECK(mmap(base + i * PIECE, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared,
                      0) != MAP_FAILED, "cannot map piece %d", i);
    close(shared);
    return base;
}

static unsigned char value_at(long i)
{
    return (unsigned char) (1 + i % 251);
}

/* The first 64 MB are also the 32nd. */
static void fill(void)
{
    for (long i = 0; i < PIECE; i++) {
        buffer[i] = value_at(i);
        buffer[TWO_GB + i] = value_at(i + 100);
    }
}

static void clear(void)
{
    memset(buffer, 0, PIECE);
    memset(buffer + TWO_GB, 0, PIECE);
}

/* The message had 2 GB and `more` bytes, and nothing was written behind them. */
static void check_data(long more)
{
    for (long i = 0; i < PIECE; i++)
        MT_CHECK(buffer[TWO_GB - PIECE + i] == value_at(i), "byte %ld of the first 2 GB", i);
    for (long i = 0; i < more; i++)
        MT_CHECK(buffer[TWO_GB + i] == value_at(i + 100), "byte %ld behind 2 GB", i);
    for (long i = more; i < PIECE; i++)
        MT_CHECK(buffer[TWO_GB + i] == 0, "byte %ld behind the message", i);
}

static void check_status(const MPI_Status * status, long bytes, int tag)
{
    MPI_Count n, elements;
    int small;
    MT_OK(MPI_Get_elements_x(status, MPI_BYTE, &elements));
    MT_OK(MPI_Get_count_c(status, MPI_BYTE, &n));
    MT_OK(MPI_Get_count(status, MPI_BYTE, &small));
    MT_CHECK(elements == bytes && n == bytes, "%lld elements, count %lld, not %ld",
             (long long) elements, (long long) n, bytes);
    MT_CHECK(small == MPI_UNDEFINED, "%d in an int", small);
    MT_CHECK(status->MPI_SOURCE == 0 && status->MPI_TAG == tag, "source %d, tag %d",
             status->MPI_SOURCE, status->MPI_TAG);
}

static void receive_large(int is_probed)
{
    MPI_Status status;
    if (mt.rank == 0) {
        MT_OK(MPI_Send_c(buffer, TWO_GB + TAIL, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        return;
    }
    clear();
    if (is_probed) {
        MT_OK(MPI_Probe(0, 1, MPI_COMM_WORLD, &status));
        check_status(&status, TWO_GB + TAIL, 1);
    }
    MT_OK(MPI_Recv_c(buffer, TWO_GB + PIECE, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status));
    check_status(&status, TWO_GB + TAIL, 1);
    check_data(TAIL);
}

static void large_count(void)
{
    receive_large(0);
}

static void probed(void)
{
    receive_large(1);
}

static void large_type(void)
{
    MPI_Datatype type;
    MPI_Status status;
    int n = TWO_GB / MB + 1, count;
    MT_OK(MPI_Type_contiguous(MB, MPI_BYTE, &type));
    MT_OK(MPI_Type_commit(&type));
    if (mt.rank == 0) {
        MT_OK(MPI_Send(buffer, n, type, 1, 2, MPI_COMM_WORLD));
    } else {
        clear();
        MT_OK(MPI_Recv(buffer, n, type, 0, 2, MPI_COMM_WORLD, &status));
        check_status(&status, TWO_GB + MB, 2);
        MT_OK(MPI_Get_count(&status, type, &count));
        MT_CHECK(count == n, "%d of the type", count);
        check_data(MB);
    }
    MT_OK(MPI_Type_free(&type));
}

/* MPI leaves open what a receive that is too short has got; with ghosts it is full. */
static void cut(void)
{
    MPI_Status status;
    int class;
    if (mt.rank == 0) {
        MT_OK(MPI_Send_c(buffer, TWO_GB + TAIL, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
        return;
    }
    clear();
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Error_class(MPI_Recv_c(buffer, TWO_GB, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status), &class));
    MT_CHECK(class == MPI_ERR_TRUNCATE, "error class %d", class);
    check_data(0);
}

int main(int argc, char **argv)
{
    static void (*const steps[]) (void) = { large_count, large_type, probed, cut };
    mt_init(argc, argv, 1, 4);
    MT_CHECK(mt.bytes + mt.iters <= 4, "there are four steps");
    buffer = map_all();
    if (mt.rank == 0)
        fill();
    for (int i = 0; i < mt.iters && mt.rank < 2; i++)
        steps[mt.bytes + i] ();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    munmap(buffer, TWO_GB + PIECE);
    return mt_finish();
}

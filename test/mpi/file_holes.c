/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A thread writes on its own what lies between the data of collective writes, in the process that
 * makes the accesses of these: it reads a range with the gaps in it, waits for the data of the other
 * processes, and writes the range. No write of the thread may be lost. The thread makes blocking
 * writes, asynchronous ones that it waits for, and several at a time, with a view that has gaps and
 * without; the collective writes are blocking and nonblocking ones by turns. */
#include "folder.h"

#define PIECE 4096              /* longs that a process writes in a collective write */
#define OPS 50                  /* collective writes in a round */
#define FEW 4                   /* longs in one write of the thread */
#define AT_ONCE 5
#define PLACES (PIECE / FEW)    /* writes of the thread in a round at most */

enum { BLOCKING, WAITED, SEVERAL, KINDS };

static MPI_File file;
static long mine[PIECE];
static int kind, round_number, written;
static atomic_int is_over;

static MPI_File open_file(const char *name, int has_gaps)
{
    MPI_File f;
    MPI_Info info;
    MPI_Datatype gaps;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    MT_OK(MPI_Info_set(info, "romio_ds_write", "enable"));
    MT_OK(MPI_Info_set(info, "cb_nodes", "1"));
    f = open_in_folder(MPI_COMM_WORLD, name, info);
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Type_create_resized(MPI_LONG, 0, (1 + has_gaps) * (MPI_Aint) sizeof(long), &gaps));
    MT_OK(MPI_Type_commit(&gaps));
    MT_OK(MPI_File_set_view(f, 0, MPI_LONG, gaps, "native", MPI_INFO_NULL));
    MT_OK(MPI_Type_free(&gaps));
    return f;
}

static long value(int round, long at)
{
    return (long) (mt_hash((uint64_t) (round * 2 * PIECE * (mt.size + 1) + at)) >> 1);
}

/* Data of process n begin at 2 * n * PIECE, and those of the thread at PIECE. */
static void write_alone(void)
{
    static long out[PIECE];
    MPI_Request r[AT_ONCE];
    int waits = 0;
    for (int i = 0; i < PIECE; i++)
        out[i] = value(round_number, PIECE + i);
    for (written = 0; written < PLACES && !atomic_load(&is_over); written++) {
        const MPI_Offset at = PIECE + written * FEW;
        if (kind == BLOCKING)
            MT_OK(MPI_File_write_at(file, at, out + written * FEW, FEW, MPI_LONG, MPI_STATUS_IGNORE));
        else
            MT_OK(MPI_File_iwrite_at(file, at, out + written * FEW, FEW, MPI_LONG, &r[waits++]));
        if (waits == (kind == WAITED ? 1 : AT_ONCE)) {
            MT_OK(MPI_Waitall(waits, r, MPI_STATUSES_IGNORE));
            waits = 0;
        }
        usleep(20);
    }
    MT_OK(MPI_Waitall(waits, r, MPI_STATUSES_IGNORE));
}

static void write_all(void)
{
    const MPI_Offset at = (MPI_Offset) 2 * mt.rank * PIECE;
    for (int op = 0; op < OPS; op++) {
        MPI_Request r;
        for (int i = 0; i < PIECE; i++)
            mine[i] = value(round_number + op, at + i);
        if (op % 2) {
            MT_OK(MPI_File_iwrite_at_all(file, at, mine, PIECE, MPI_LONG, &r));
            MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        } else {
            MT_OK(MPI_File_write_at_all(file, at, mine, PIECE, MPI_LONG, MPI_STATUS_IGNORE));
        }
    }
    atomic_store(&is_over, 1);
}

static void *worker(void *arg)
{
    if (((mt_thread_t *) arg)->id == 0)
        write_all();
    else if (mt.rank == 0)
        write_alone();
    return NULL;
}

static void check(void)
{
    const MPI_Offset at = (MPI_Offset) 2 * mt.rank * PIECE;
    static long in[PIECE];
    MT_OK(MPI_File_read_at(file, at, in, PIECE, MPI_LONG, MPI_STATUS_IGNORE));
    MT_CHECK(!memcmp(in, mine, sizeof(in)), "round %d: collective writes are lost", round_number);
    if (mt.rank)
        return;
    MT_OK(MPI_File_read_at(file, PIECE, in, PIECE, MPI_LONG, MPI_STATUS_IGNORE));
    for (int i = 0; i < written * FEW; i++)
        MT_CHECK(in[i] == value(round_number, PIECE + i),
                 "round %d, kind %d: %ld, the long %d of %d that the thread wrote, is lost",
                 round_number, kind, in[i], i, written * FEW);
}

int main(int argc, char **argv)
{
    MPI_File files[2];
    mt_init(argc, argv, 2, 4);
    make_folder("file_holes");
    for (int i = 0; i < 2; i++)
        files[i] = open_file(i ? "gaps" : "plain", i);
    for (int round = 0; round < (int) mt.iters * 2 * KINDS; round++) {
        file = files[round % 2];
        kind = round / 2 % KINDS;
        round_number = round;
        atomic_store(&is_over, 0);
        mt_run(2, worker);
        MT_OK(MPI_File_sync(file));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        check();
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_File_close(&files[i]));
    remove_folder();
    return mt_finish();
}

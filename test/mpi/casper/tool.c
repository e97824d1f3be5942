/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A profiling tool: it replaces MPI_ functions and calls the PMPI_ ones. It sees each call of the
 * program once, none that the library or a ghost makes, and users only. */
#include "../mt.h"

enum { SEND, RECV, ISEND, IRECV, WAITALL, BARRIER, PUT, FLUSH, WRITE, CALLS };
static int seen[CALLS];

/* A call of the program to the process with this rank, MPI_ANY_SOURCE for any. */
static void see(int call, MPI_Comm comm, int rank)
{
    int size = 0;
    PMPI_Comm_size(comm, &size);
    MT_CHECK(size <= mt.size && rank < size, "rank %d of %d in a call of kind %d", rank, size, call);
    seen[call]++;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm)
{
    see(SEND, comm, rank);
    return PMPI_Send(buf, count, type, rank, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status *s)
{
    see(RECV, comm, rank);
    return PMPI_Recv(buf, count, type, rank, tag, comm, s);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *r)
{
    see(ISEND, comm, rank);
    return PMPI_Isend(buf, count, type, rank, tag, comm, r);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *r)
{
    see(IRECV, comm, rank);
    return PMPI_Irecv(buf, count, type, rank, tag, comm, r);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    see(WAITALL, MPI_COMM_WORLD, 0);
    return PMPI_Waitall(count, requests, statuses);
}

int MPI_Barrier(MPI_Comm comm)
{
    see(BARRIER, comm, 0);
    return PMPI_Barrier(comm);
}

int MPI_Put(const void *buf, int count, MPI_Datatype type, int rank, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win win)
{
    see(PUT, MPI_COMM_WORLD, rank);
    return PMPI_Put(buf, count, type, rank, at, target_count, target_type, win);
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    see(FLUSH, MPI_COMM_WORLD, rank);
    return PMPI_Win_flush(rank, win);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type,
                          MPI_Status *s)
{
    see(WRITE, MPI_COMM_WORLD, 0);
    return PMPI_File_write_at_all(file, at, buf, count, type, s);
}

/* What the tool has seen since the last time is once what each of these calls was made. */
static void check(const char *what, const int made[CALLS])
{
    for (int i = 0; i < CALLS; i++)
        MT_CHECK(seen[i] == made[i], "%s: %d calls of kind %d, not %d", what, seen[i], i, made[i]);
    memset(seen, 0, sizeof(seen));
}

static void messages(MPI_Comm comm)
{
    const int next = (mt.rank + 1) % mt.size, prev = (mt.rank + mt.size - 1) % mt.size;
    const int made[CALLS] = {[SEND] = 1,[RECV] = 1,[ISEND] = 2,[IRECV] = 2,[WAITALL] = 1 };
    static char out[100000], in[100000];
    int value = mt.rank, got = -1;
    MPI_Request r[4];
    MPI_Status s[4];

    memset(out, mt.rank + 1, sizeof(out));
    MT_OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &r[0]));
    MT_OK(MPI_Irecv(in, sizeof(in), MPI_CHAR, prev, 2, comm, &r[1]));
    MT_OK(MPI_Isend(&value, 1, MPI_INT, next, 1, comm, &r[2]));
    MT_OK(MPI_Isend(out, sizeof(out), MPI_CHAR, next, 2, comm, &r[3]));
    MT_OK(MPI_Waitall(4, r, s));
    MT_CHECK(got == prev && s[0].MPI_SOURCE == prev, "%d from %d", got, s[0].MPI_SOURCE);
    MT_CHECK(in[0] == prev + 1 && in[sizeof(in) - 1] == prev + 1, "wrong data from %d", prev);
    MT_OK(MPI_Send(&value, 1, MPI_INT, next, 3, comm));
    MT_OK(MPI_Recv(&got, 1, MPI_INT, prev, 3, comm, MPI_STATUS_IGNORE));
    check("messages", made);
}

static void collectives(void)
{
    const int made[CALLS] = {[BARRIER] = 1 };
    int sum;
    MPI_Comm dup;
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MT_OK(MPI_Barrier(dup));
    MT_OK(MPI_Allreduce(&mt.rank, &sum, 1, MPI_INT, MPI_SUM, dup));
    MT_CHECK(sum == mt.size * (mt.size - 1) / 2, "sum %d", sum);
    MT_OK(MPI_Comm_free(&dup));
    check("collectives", made);
}

static void window(void)
{
    const int made[CALLS] = {[BARRIER] = 1,[PUT] = 1,[FLUSH] = 1 };
    int *base, value = mt.rank;
    MPI_Win win;
    MT_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    MT_OK(MPI_Put(&value, 1, MPI_INT, (mt.rank + 1) % mt.size, 0, 1, MPI_INT, win));
    MT_OK(MPI_Win_flush((mt.rank + 1) % mt.size, win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_sync(win));
    MT_CHECK(*base == (mt.rank + mt.size - 1) % mt.size, "put %d", *base);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    check("window", made);
}

static void file(void)
{
    const int made[CALLS] = {[WRITE] = 1 };
    char path[64];
    int value = mt.rank, got = -1;
    MPI_File f;
    snprintf(path, sizeof(path), "/tmp/casper_tool.%d", (int) getppid());
    MT_OK(MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD));
    MT_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR
                        | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    MT_OK(MPI_File_write_at_all(f, (MPI_Offset) sizeof(int) * mt.rank, &value, 1, MPI_INT,
                                MPI_STATUS_IGNORE));
    MT_OK(MPI_File_sync(f));
    MT_OK(MPI_File_read_at_all(f, (MPI_Offset) sizeof(int) * mt.rank, &got, 1, MPI_INT,
                               MPI_STATUS_IGNORE));
    MT_CHECK(got == mt.rank, "read %d", got);
    MT_OK(MPI_File_close(&f));
    check("file", made);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 100);
    memset(seen, 0, sizeof(seen));
    for (int i = 0; i < (int) mt.iters; i++)
        messages(MPI_COMM_WORLD);
    collectives();
    window();
    file();
    return mt_finish();
}

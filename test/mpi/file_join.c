/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A nonblocking collective file operation cannot begin: the first or the second of the calls of
 * MPI_Iallgather that it begins with fails, in all processes, as it does without memory. The call
 * returns; MPI_Wait returns the error, whether the operation is the first of its file or waits for
 * another one, and other operations work. */
#define _GNU_SOURCE
#include "folder.h"
#include <dlfcn.h>

#define COUNT 1000

static int fails_after = -1;    /* calls of MPI_Iallgather that work first; -1: all work */

/* The library calls this one: what a program defines comes first. */
int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request * request)
{
    int (*real) (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *);
    *(void **) &real = dlsym(RTLD_NEXT, "PMPI_Iallgather");
    if (fails_after >= 0 && fails_after-- == 0)
        return MPI_ERR_NO_MEM;
    return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}

static MPI_File open_file(const char *form)
{
    MPI_File file;
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    MT_OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    file = open_in_folder(MPI_COMM_WORLD, form, info);
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_File_set_view(file, mt.rank * COUNT * (MPI_Offset) sizeof(int), MPI_INT, MPI_INT, form,
                            MPI_INFO_NULL));
    return file;
}

static void begin(MPI_File file, int writes, int *data, MPI_Request * r)
{
    if (writes)
        MT_OK(MPI_File_iwrite_at_all(file, 0, data, COUNT, MPI_INT, r));
    else
        MT_OK(MPI_File_iread_at_all(file, 0, data, COUNT, MPI_INT, r));
}

static void fail(MPI_File file, int writes, int after, int is_second)
{
    static int data[2][COUNT];
    MPI_Request r[2];
    for (int i = 0; i < COUNT; i++)
        data[1][i] = COUNT * mt.rank + i;
    if (is_second)              /* the first one succeeds, and has made its two calls */
        begin(file, 1, data[1], &r[1]);
    fails_after = after;
    begin(file, writes, data[0], &r[0]);
    mt_fails(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_ERR_NO_MEM, "MPI_Wait");
    MT_CHECK(r[0] == MPI_REQUEST_NULL && fails_after == -1, "the operation has not failed");
    if (!is_second)
        begin(file, 1, data[1], &r[1]);
    MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    memset(data, 0, sizeof(data));
    begin(file, 0, data[0], &r[0]);
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++)
        MT_CHECK(data[0][i] == COUNT * mt.rank + i, "int %d is wrong after an error", i);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    make_folder("file_join");
    for (int form = 0; form < 2; form++) {
        MPI_File file = open_file(form ? "external32" : "native");
        for (int i = 0; i < 8; i++)
            fail(file, i % 2, i / 2 % 2, i / 4);
        MT_OK(MPI_File_close(&file));
    }
    remove_folder();
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Nonblocking file operations that fail: the descriptor of the file, in the process that accesses it,
 * allows no reading or no writing for a while. The program gets the error from whatever call ends the
 * operation, although errors of communicators are fatal, and beside other requests; a list with
 * another error besides is one for the handler of MPI_COMM_WORLD. All processes of a collective
 * operation get one, and none waits forever; so also if what is read is the gaps between the data to
 * be written. Then operations work again. */
#define _GNU_SOURCE
#include "folder.h"
#include <fcntl.h>
#include <sys/stat.h>

#define BLOCK 25                /* ints in a row of one process; each row ends with a block of nobody */
#define COUNT (BLOCK * 100)

enum { WAIT, TEST, WAITALL, TESTALL, WAITSOME, TESTSOME, WAITANY, TESTANY, WAYS };

static int data[COUNT];
static int handled;

/* buffering: whether processes access the file for others in collective operations */
static MPI_File open_file(const char *name, int has_view, const char *buffering)
{
    MPI_File file;
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "romio_cb_write", buffering));
    MT_OK(MPI_Info_set(info, "romio_cb_read", buffering));
    MT_OK(MPI_Info_set(info, "cb_buffer_size", "4096"));
    MT_OK(MPI_Info_set(info, "cb_nodes", "1"));
    file = open_in_folder(MPI_COMM_WORLD, name, info);
    MT_OK(MPI_Info_free(&info));
    if (has_view)
        view_blocks(file, BLOCK, mt.size + 1, "native");
    return file;
}

/* Other descriptions of the file take the place of MPI's: O_RDONLY, O_WRONLY, or O_RDWR as at first. */
static void allow(const char *name, int flags)
{
    char path[128];
    struct stat wanted, found;
    int other, replaced = 0;
    path_in_folder(name, path, sizeof(path));
    other = open(path, flags);
    MT_CHECK(other >= 0 && fstat(other, &wanted) == 0, "cannot open %s", path);
    for (int fd = 3; fd < 1024; fd++) {
        if (fd != other && fstat(fd, &found) == 0 && found.st_ino == wanted.st_ino &&
            found.st_dev == wanted.st_dev)
            replaced += dup2(other, fd) == fd;
    }
    close(other);
    MT_CHECK(replaced, "no descriptor of %s", path);
}

/* In the process that accesses the file in collective operations. All call this. */
static void allow_first(const char *name, int flags)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        allow(name, flags);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void fill(int round)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = (round * mt.size + mt.rank) * COUNT + i;
}

static void works_again(MPI_File file, int round)
{
    MPI_Request r;
    fill(round);
    MT_OK(MPI_File_iwrite_at_all(file, 0, data, COUNT, MPI_INT, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    memset(data, 0, sizeof(data));
    MT_OK(MPI_File_iread_at_all(file, 0, data, COUNT, MPI_INT, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++)
        MT_CHECK(data[i] == (round * mt.size + mt.rank) * COUNT + i, "int %d is wrong after an error",
                 i);
}

static void end_all(MPI_Request * r, int ignores, int tests)
{
    MPI_Status statuses[3];
    MPI_Status *s = ignores ? MPI_STATUSES_IGNORE : statuses;
    int rc = MPI_SUCCESS, done = 0;
    if (!tests)
        rc = MPI_Waitall(3, r, s);
    while (tests && !done && rc == MPI_SUCCESS)
        rc = MPI_Testall(3, r, &done, s);
    MT_CHECK(rc == MPI_ERR_IN_STATUS, "list of requests: %d instead of MPI_ERR_IN_STATUS", rc);
    if (!ignores)
        mt_fails(statuses[2].MPI_ERROR, MPI_ERR_IO, tests ? "MPI_Testall" : "MPI_Waitall");
    if (!ignores && r[0] == MPI_REQUEST_NULL)
        MT_CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS, "a receive has the error of the file");
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
}

static void end_some(MPI_Request * r, int ignores, int tests)
{
    MPI_Status statuses[3];
    MPI_Status *s = ignores ? MPI_STATUSES_IGNORE : statuses;
    int failed = 0;
    while (r[0] != MPI_REQUEST_NULL || r[2] != MPI_REQUEST_NULL) {
        int n, at[3];
        int rc = tests ? MPI_Testsome(3, r, &n, at, s) : MPI_Waitsome(3, r, &n, at, s);
        for (int i = 0; i < n; i++) {
            const int code = at[i] == 2 ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
            MT_CHECK(rc == code || n > 1, "requests that end: %d instead of %d", rc, code);
            failed += at[i] == 2 && rc == MPI_ERR_IN_STATUS;
            if (!ignores && at[i] == 2)
                mt_fails(s[i].MPI_ERROR, MPI_ERR_IO, tests ? "MPI_Testsome" : "MPI_Waitsome");
        }
    }
    MT_CHECK(failed == 1, "no error of requests that end");
}

static void end_any(MPI_Request * r, int ignores, int tests)
{
    MPI_Status status;
    MPI_Status *s = ignores ? MPI_STATUS_IGNORE : &status;
    int failed = 0;
    while (r[0] != MPI_REQUEST_NULL || r[2] != MPI_REQUEST_NULL) {
        int at, done;
        int rc = tests ? MPI_Testany(3, r, &at, &done, s) : MPI_Waitany(3, r, &at, s);
        if (rc != MPI_SUCCESS || at == 2) {
            mt_fails(rc, MPI_ERR_IO, tests ? "MPI_Testany" : "MPI_Waitany");
            failed++;
        }
    }
    MT_CHECK(failed == 1, "no error of a request that ends");
}

static void end_one(MPI_Request * r, int ignores, int tests)
{
    MPI_Status status;
    MPI_Status *s = ignores ? MPI_STATUS_IGNORE : &status;
    int rc = MPI_SUCCESS, done = 0;
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    if (!tests)
        rc = MPI_Wait(&r[2], s);
    while (tests && !done && rc == MPI_SUCCESS)
        rc = MPI_Test(&r[2], &done, s);
    mt_fails(rc, MPI_ERR_IO, tests ? "MPI_Test" : "MPI_Wait");
}

/* r: a message, nothing, an operation that fails. */
static void end(MPI_Request * r, int way, int ignores)
{
    switch (way) {
        case WAIT:
        case TEST:
            end_one(r, ignores, way == TEST);
            break;
        case WAITALL:
        case TESTALL:
            end_all(r, ignores, way == TESTALL);
            break;
        case WAITSOME:
        case TESTSOME:
            end_some(r, ignores, way == TESTSOME);
            break;
        default:
            end_any(r, ignores, way == TESTANY);
    }
    MT_CHECK(r[2] == MPI_REQUEST_NULL, "way %d: a failed operation is still there", way);
}

static void beside_message(MPI_Request * r, int *in)
{
    static const int out = 1;
    MT_OK(MPI_Irecv(in, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, &r[0]));
    MT_OK(MPI_Send(&out, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD));
    r[1] = MPI_REQUEST_NULL;
}

static void collective(MPI_File file, const char *name, int writes, int flags, int round)
{
    for (int way = 0; way < WAYS; way++) {
        MPI_Request r[3];
        int in;
        allow_first(name, flags);
        beside_message(r, &in);
        if (writes)
            MT_OK(MPI_File_iwrite_at_all(file, 0, data, COUNT, MPI_INT, &r[2]));
        else
            MT_OK(MPI_File_iread_at_all(file, 0, data, COUNT, MPI_INT, &r[2]));
        end(r, way, (way + round) % 2);
        allow_first(name, O_RDWR);
        works_again(file, round + way);
    }
}

static void begin_alone(MPI_File file, int writes, int is_collective, MPI_Offset at, MPI_Request * r)
{
    if (is_collective && writes)
        MT_OK(MPI_File_iwrite_at_all(file, at, data, COUNT, MPI_INT, r));
    else if (is_collective)
        MT_OK(MPI_File_iread_at_all(file, at, data, COUNT, MPI_INT, r));
    else if (writes)
        MT_OK(MPI_File_iwrite_at(file, at, data, COUNT, MPI_INT, r));
    else
        MT_OK(MPI_File_iread_at(file, at, data, COUNT, MPI_INT, r));
}

/* Each process accesses the file itself. Several that work: some are complete when others are not. */
static void alone(MPI_File file, const char *name, int is_collective)
{
    const MPI_Offset mine = (MPI_Offset) mt.rank * (MPI_Offset) sizeof(data);
    const int part = COUNT / 3;
    MPI_Request r[3];
    int in, done = 0;
    for (int way = 0; way < 2 * WAYS; way++) {
        const int writes = way < WAYS;
        allow(name, writes ? O_RDONLY : O_WRONLY);
        beside_message(r, &in);
        begin_alone(file, writes, is_collective, mine, &r[2]);
        end(r, way % WAYS, way / 2 % 2);
        allow(name, O_RDWR);
    }
    for (int i = 0; i < 3; i++)
        MT_OK(MPI_File_iwrite_at(file, mine + i * part * (MPI_Offset) sizeof(int), data + i * part,
                                 i ? part : 1, MPI_INT, &r[i]));
    while (!done)
        MT_OK(MPI_Testall(3, r, &done, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++)
        MT_OK(MPI_File_iread_at(file, mine + i * part * (MPI_Offset) sizeof(int), data + i * part,
                                part, MPI_INT, &r[i]));
    MT_OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
}

static void count(MPI_Comm * comm, int *code, ...)
{
    (void) comm;
    (void) code;
    handled++;
}

/* A receive that is too short is in the list as well. */
static void with_other_error(MPI_File file, const char *name)
{
    static const int out[2] = { 1, 2 };
    MPI_Errhandler handler;
    MPI_Request r[2], s;
    int in, done = 0, rc = MPI_SUCCESS;
    if (mt.peer == mt.rank)     /* the others do the same, and this one is in the operation */
        MT_OK(MPI_Isend(out, 0, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, &s));
    else
        MT_OK(MPI_Isend(out, 2, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, &s));
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, &r[0]));
    allow_first(name, O_RDONLY);
    MT_OK(MPI_File_iwrite_at_all(file, 0, data, COUNT, MPI_INT, &r[1]));
    MT_OK(MPI_Comm_create_errhandler(count, &handler));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    handled = 0;
    for (int i = 0; i < 2; i++) {       /* both are complete, but none is completed */
        int flag = 0;
        while (!flag && MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    MT_CHECK(handled == (mt.peer != mt.rank), "MPI_Request_get_status: the handler ran %d times",
             handled);
    handled = 0;
    while (!done && rc == MPI_SUCCESS)
        rc = MPI_Testall(2, r, &done, MPI_STATUSES_IGNORE);
    MT_CHECK(rc == MPI_ERR_IN_STATUS, "two errors: %d instead of MPI_ERR_IN_STATUS", rc);
    MT_CHECK(handled == (mt.peer != mt.rank), "two errors: the handler ran %d times", handled);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    MT_OK(MPI_Errhandler_free(&handler));
    MT_OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
    allow_first(name, O_RDWR);
    works_again(file, 0);
}

int main(int argc, char **argv)
{
    MPI_File file, plain, unbuffered;
    mt_init(argc, argv, 1, 2);
    make_folder("file_errors");
    file = open_file("rows", 1, "enable");
    plain = open_file("plain", 0, "enable");
    unbuffered = open_file("unbuffered", 0, "disable");
    works_again(file, 0);
    fill(0);
    MT_OK(MPI_File_write_at_all(plain, (MPI_Offset) mt.rank * (MPI_Offset) sizeof(data), data, COUNT,
                                MPI_INT, MPI_STATUS_IGNORE));
    for (int round = 0; round < (int) mt.iters; round++) {
        collective(file, "rows", 1, O_RDONLY, round);   /* the write fails */
        collective(file, "rows", 1, O_WRONLY, round);   /* the gaps cannot be read */
        collective(file, "rows", 0, O_WRONLY, round);
        alone(plain, "plain", 0);
        alone(unbuffered, "unbuffered", 1);
        with_other_error(file, "rows");
    }
    MT_OK(MPI_File_close(&unbuffered));
    MT_OK(MPI_File_close(&plain));
    MT_OK(MPI_File_close(&file));
    remove_folder();
    return mt_finish();
}

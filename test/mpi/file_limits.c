/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What a file or the library has no room for. A nonblocking access that ends short goes on, and fails
 * if nothing more can be written. Without a context id, the opening of a file, or of that of the shared
 * file pointer, is an error for the file's handler, although errors of communicators are fatal. So is a
 * large count that is no int. */
#include "folder.h"
#include <sys/resource.h>
#include <sys/stat.h>

#define LIMIT 5000              /* bytes that a file may have */
#define BYTES (2 * LIMIT)
#define COMMS 10000

static unsigned char data[BYTES], found[BYTES];
static struct rlimit before;
static int handled;

static void limit(rlim_t bytes)
{
    struct rlimit l = before;
    l.rlim_cur = bytes < before.rlim_max ? bytes : before.rlim_max;
    MT_CHECK(setrlimit(RLIMIT_FSIZE, &l) == 0, "no limit of %ld", (long) bytes);
}

static void own_name(const char *name, char *own, size_t size)
{
    snprintf(own, size, "%s%d", name, mt.rank);
}

/* The asynchronous write has written what it may and got no error yet. */
static void wait_for_size(const char *name)
{
    char path[128];
    struct stat s;
    path_in_folder(name, path, sizeof(path));
    do {
        MT_CHECK(stat(path, &s) == 0, "no %s", path);
        usleep(100);
    } while (s.st_size < LIMIT);
}

static void begin_short(MPI_File file, const char *name, MPI_Request * r)
{
    limit(LIMIT);
    MT_OK(MPI_File_iwrite_at(file, 0, data, BYTES, MPI_BYTE, r));
    wait_for_size(name);
}

static void fails(MPI_File file, const char *name, int tests)
{
    MPI_Request r;
    int rc = MPI_SUCCESS, done = 0;
    begin_short(file, name, &r);
    if (!tests)
        rc = MPI_Wait(&r, MPI_STATUS_IGNORE);
    while (tests && !done && rc == MPI_SUCCESS)
        rc = MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    limit(before.rlim_cur);
    mt_fails(rc, MPI_ERR_IO, "a write beyond the limit");
    MT_CHECK(r == MPI_REQUEST_NULL, "the failed write is still there");
    MT_OK(MPI_File_set_size(file, 0));
}

static void goes_on(MPI_File file, const char *name, int tests)
{
    MPI_Request r;
    MPI_Status status;
    int n, done = 0;
    begin_short(file, name, &r);
    limit(before.rlim_cur);
    if (!tests)
        MT_OK(MPI_Wait(&r, &status));
    while (tests && !done)
        MT_OK(MPI_Test(&r, &done, &status));
    MT_OK(MPI_Get_count(&status, MPI_BYTE, &n));
    MT_CHECK(n == BYTES, "%d bytes written instead of %d", n, BYTES);
    memset(found, 0, sizeof(found));
    MT_OK(MPI_File_iread_at(file, LIMIT / 2, found, BYTES, MPI_BYTE, &r));
    MT_OK(MPI_Wait(&r, &status));
    MT_OK(MPI_Get_count(&status, MPI_BYTE, &n));
    MT_CHECK(n == BYTES - LIMIT / 2, "%d bytes read before the end of the file", n);
    MT_CHECK(memcmp(found, data + LIMIT / 2, (size_t) n) == 0, "wrong data after a short write");
    MT_OK(MPI_File_set_size(file, 0));
}

static void short_writes(void)
{
    char name[32];
    MPI_File file;
    own_name("short", name, sizeof(name));
    for (int i = 0; i < BYTES; i++)
        data[i] = (unsigned char) (mt_rng(mt.rank, i) >> 8);
    file = open_in_folder(MPI_COMM_SELF, name, MPI_INFO_NULL);
    for (int tests = 0; tests < 2; tests++) {
        fails(file, name, tests);
        goes_on(file, name, tests);
    }
    MT_OK(MPI_File_close(&file));
}

/* A collective write with a gap, in which the short write is, waits until that has ended. */
static void short_in_gap(void)
{
    const MPI_Offset at = mt.rank == 0 ? 0 : BYTES + mt.rank;
    unsigned char byte = (unsigned char) (mt.rank + 1);
    MPI_Info info;
    MPI_File file;
    MPI_Request r = MPI_REQUEST_NULL;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    MT_OK(MPI_Info_set(info, "cb_nodes", "1"));
    file = open_in_folder(MPI_COMM_WORLD, "gap", info);
    MT_OK(MPI_Info_free(&info));
    if (mt.rank == 0) {
        limit(LIMIT);
        MT_OK(MPI_File_iwrite_at(file, 1, data + 1, BYTES - 1, MPI_BYTE, &r));
        wait_for_size("gap");
        limit(before.rlim_cur);
    }
    MT_OK(MPI_File_write_at_all(file, at, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (mt.rank == 0) {
        MT_OK(MPI_File_read_at(file, 0, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        MT_CHECK(found[0] == 1 && memcmp(found + 1, data + 1, BYTES - 1) == 0, "wrong data in a gap");
    }
    MT_OK(MPI_File_close(&file));
}

static void count(MPI_File * file, int *code, ...)
{
    (void) file;
    (void) code;
    handled++;
}

static void ran(int times, const char *what)
{
    MT_CHECK(handled == times, "%s: the handler ran %d times instead of %d", what, handled, times);
    handled = 0;
}

static void open_fails(MPI_Comm comm, const char *name)
{
    char path[128];
    MPI_File file;
    path_in_folder(name, path, sizeof(path));
    mt_fails(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
             MPI_ERR_OTHER, "MPI_File_open without a context id");
    ran(1, "MPI_File_open");
}

#define NO_ID(call_) mt_fails(MPI_File_##call_, MPI_ERR_OTHER, "no context id: " #call_)

/* The ordered accesses are collective. */
static void shared_fails(MPI_File file)
{
    MPI_Request r;
    MPI_Offset at;
    NO_ID(write_shared(file, data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    NO_ID(read_shared(file, data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    NO_ID(iwrite_shared(file, data, 1, MPI_BYTE, &r));
    NO_ID(iread_shared(file, data, 1, MPI_BYTE, &r));
    NO_ID(get_position_shared(file, &at));
    NO_ID(write_ordered(file, data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    NO_ID(read_ordered(file, data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    NO_ID(write_ordered_begin(file, data, 1, MPI_BYTE));
    NO_ID(read_ordered_begin(file, data, 1, MPI_BYTE));
    ran(9, "shared pointer");
    for (int whence = 0; whence < 2; whence++) {
        if (mt.rank == 0)
            NO_ID(seek_shared(file, 1, whence ? MPI_SEEK_CUR : MPI_SEEK_SET));
        else
            MT_OK(MPI_File_seek_shared(file, 1, whence ? MPI_SEEK_CUR : MPI_SEEK_SET));
    }
    ran(mt.rank == 0 ? 2 : 0, "MPI_File_seek_shared");
}

static int take_all_ids(MPI_Comm * comms)
{
    int n = 0;
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    while (n < COMMS && MPI_Comm_dup(MPI_COMM_SELF, &comms[n]) == MPI_SUCCESS)
        n++;
    MT_CHECK(n < COMMS, "there are still context ids");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    return n;
}

/* The others' ordered accesses, which are collective, end. */
static void one_without_context_id(void)
{
    static MPI_Comm comms[COMMS];
    MPI_File file = open_in_folder(MPI_COMM_WORLD, "one", MPI_INFO_NULL);
    int n = mt.rank == 0 ? take_all_ids(comms) : 0;
    if (mt.rank == 0) {
        NO_ID(write_ordered(file, data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        NO_ID(read_ordered(file, found, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    } else {
        MT_OK(MPI_File_write_ordered(file, data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        MT_OK(MPI_File_read_ordered(file, found, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    ran(mt.rank == 0 ? 2 : 0, "one process without a context id");
    while (n > 0)
        MT_OK(MPI_Comm_free(&comms[--n]));
    MT_OK(MPI_File_close(&file));
}

static void no_context_id(void)
{
    static MPI_Comm comms[COMMS];
    MPI_File file = open_in_folder(MPI_COMM_WORLD, "shared", MPI_INFO_NULL);
    int n = take_all_ids(comms);
    open_fails(MPI_COMM_WORLD, "none");
    open_fails(MPI_COMM_SELF, "none");
    shared_fails(file);
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Comm_free(&comms[i]));
    MT_OK(MPI_File_write_ordered(file, &mt.rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    MT_OK(MPI_File_read_at(file, mt.rank * (MPI_Offset) sizeof(int), &n, 1, MPI_INT,
                           MPI_STATUS_IGNORE));
    MT_CHECK(n == mt.rank, "wrong data with the shared pointer");
    MT_OK(MPI_File_close(&file));
    file = open_in_folder(MPI_COMM_WORLD, "again", MPI_INFO_NULL);
    MT_OK(MPI_File_close(&file));
}

#define TOO_MANY(call_) mt_fails(MPI_File_##call_, MPI_ERR_COUNT, #call_)

static void many_read(MPI_File file, MPI_Count n)
{
    MPI_Request r;
    TOO_MANY(read_c(file, found, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(read_at_c(file, 0, found, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(read_all_c(file, found, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(read_at_all_c(file, 0, found, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(read_shared_c(file, found, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(read_ordered_c(file, found, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(read_all_begin_c(file, found, n, MPI_BYTE));
    TOO_MANY(read_at_all_begin_c(file, 0, found, n, MPI_BYTE));
    TOO_MANY(read_ordered_begin_c(file, found, n, MPI_BYTE));
    TOO_MANY(iread_c(file, found, n, MPI_BYTE, &r));
    TOO_MANY(iread_at_c(file, 0, found, n, MPI_BYTE, &r));
    TOO_MANY(iread_all_c(file, found, n, MPI_BYTE, &r));
    TOO_MANY(iread_at_all_c(file, 0, found, n, MPI_BYTE, &r));
    TOO_MANY(iread_shared_c(file, found, n, MPI_BYTE, &r));
    ran(14, "reads of a large count");
}

static void many_written(MPI_File file, MPI_Count n)
{
    MPI_Request r;
    TOO_MANY(write_c(file, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(write_at_c(file, 0, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(write_all_c(file, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(write_at_all_c(file, 0, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(write_shared_c(file, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(write_ordered_c(file, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
    TOO_MANY(write_all_begin_c(file, data, n, MPI_BYTE));
    TOO_MANY(write_at_all_begin_c(file, 0, data, n, MPI_BYTE));
    TOO_MANY(write_ordered_begin_c(file, data, n, MPI_BYTE));
    TOO_MANY(iwrite_c(file, data, n, MPI_BYTE, &r));
    TOO_MANY(iwrite_at_c(file, 0, data, n, MPI_BYTE, &r));
    TOO_MANY(iwrite_all_c(file, data, n, MPI_BYTE, &r));
    TOO_MANY(iwrite_at_all_c(file, 0, data, n, MPI_BYTE, &r));
    TOO_MANY(iwrite_shared_c(file, data, n, MPI_BYTE, &r));
    ran(14, "writes of a large count");
}

static void large_counts(void)
{
    MPI_File file = open_in_folder(MPI_COMM_WORLD, "counts", MPI_INFO_NULL);
    many_read(file, (MPI_Count) 1 << 31);
    many_written(file, ((MPI_Count) 1 << 32) + 1);
    TOO_MANY(write_c(file, data, -1, MPI_BYTE, MPI_STATUS_IGNORE));
    ran(1, "a negative count");
    mt_fails(MPI_File_write_c(MPI_FILE_NULL, data, (MPI_Count) 1 << 31, MPI_BYTE, MPI_STATUS_IGNORE),
             MPI_ERR_FILE, "no file");
    ran(1, "no file");
    MT_OK(MPI_File_write_at_c(file, mt.rank * BYTES, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    MT_OK(MPI_File_read_at_c(file, mt.rank * BYTES, found, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    MT_CHECK(memcmp(data, found, BYTES) == 0, "wrong data with a count that is small enough");
    MT_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    mt_init(argc, argv, 1, 1);
    make_folder("file_limits");
    MT_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0, "limits are unknown");
    signal(SIGXFSZ, SIG_IGN);
    short_writes();
    short_in_gap();
    MT_OK(MPI_File_create_errhandler(count, &handler));
    MT_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    no_context_id();
    one_without_context_id();
    large_counts();
    MT_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    MT_OK(MPI_Errhandler_free(&handler));
    remove_folder();
    return mt_finish();
}

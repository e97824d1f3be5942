/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Several nonblocking collective operations are outstanding on one file, whose processes have views
 * that interleave, and the processes complete them in different ways: the buffers of ROMIO hold
 * much less than one operation accesses. Then a blocking operation, one with the shared pointer and a
 * change to atomic mode come while one is under way, and operations on two files are waited for in
 * different orders, by MPI_Waitall and by MPI_Wait. Some processes wait for an operation before they
 * make another collective call for the file, the others after it. One is beyond the first batch of
 * MPI_Waitall. A type is freed before the operation ends. An operation fails, and those after it do
 * not. */
#include "folder.h"
#include <sched.h>
#include <sys/resource.h>

#define OPS 4
#define BLOCK 25                /* ints in a row of one process */
#define COUNT (BLOCK * 200)     /* ints of one process in one operation */

static int data[OPS][COUNT];
static uint64_t rng;

static int value(int op, int i, int round)
{
    return (int) (mt_hash((uint64_t) (((round * OPS + op) * mt.size + mt.rank) * COUNT + i)) >> 33);
}

static void fill(int round)
{
    for (int op = 0; op < OPS; op++)
        for (int i = 0; i < COUNT; i++)
            data[op][i] = value(op, i, round);
}

static void check(int round, const char *what)
{
    for (int op = 0; op < OPS; op++)
        for (int i = 0; i < COUNT; i++)
            MT_CHECK(data[op][i] == value(op, i, round), "%s: int %d of operation %d is wrong", what,
                     i, op);
}

/* has_view: 0 no, 1 native, 2 external32 */
static MPI_File open_file(const char *name, int has_view)
{
    MPI_File file;
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    MT_OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    MT_OK(MPI_Info_set(info, "cb_buffer_size", "8192"));
    MT_OK(MPI_Info_set(info, "cb_nodes", "2"));
    MT_OK(MPI_Info_set(info, "cb_config_list", "*:*"));
    file = open_in_folder(MPI_COMM_WORLD, name, info);
    MT_OK(MPI_Info_free(&info));
    if (has_view)
        view_blocks(file, BLOCK, mt.size, has_view == 1 ? "native" : "external32");
    return file;
}

static void begin(MPI_File file, int writes, int op, MPI_Request * r)
{
    const MPI_Offset at = (MPI_Offset) op * COUNT;
    if (writes)
        MT_OK(MPI_File_iwrite_at_all(file, at, data[op], COUNT, MPI_INT, r));
    else
        MT_OK(MPI_File_iread_at_all(file, at, data[op], COUNT, MPI_INT, r));
}

static void some_tests(int n, MPI_Request * r)
{
    int done = 0;
    for (int i = (int) (mt_rand(&rng) % 20); i > 0 && !done; i--)
        MT_OK(MPI_Testall(n, r, &done, MPI_STATUSES_IGNORE));
}

static void end(int n, MPI_Request * r, int way)
{
    int done = 0;
    some_tests(n, r);
    switch (way % 3) {
        case 0:
            while (!done) {
                MT_OK(MPI_Testall(n, r, &done, MPI_STATUSES_IGNORE));
                mt_delay((unsigned) (mt_rand(&rng) % 1000));
                sched_yield();  /* a server thread may want this processor */
            }
            break;
        case 1:
            MT_OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
            break;
        default:
            for (int i = 0; i < n; i++)
                MT_OK(MPI_Wait(&r[mt.rank % 2 ? n - 1 - i : i], MPI_STATUS_IGNORE));
    }
}

/* what each process reads alone, after all have written */
static void check_file(MPI_File file, int round, const char *what)
{
    MT_OK(MPI_File_sync(file));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int op = 0; op < OPS; op++) {
        memset(data[op], 0, sizeof(data[op]));
        MT_OK(MPI_File_read_at(file, (MPI_Offset) op * COUNT, data[op], COUNT, MPI_INT,
                               MPI_STATUS_IGNORE));
    }
    check(round, what);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void outstanding(MPI_File file, int round)
{
    MPI_Request r[OPS];
    fill(round);
    for (int op = 0; op < OPS; op++) {
        begin(file, 1, op, &r[op]);
        some_tests(op + 1, r);
    }
    end(OPS, r, round);
    check_file(file, round, "written");
    memset(data, 0, sizeof(data));
    for (int op = 0; op < OPS; op++)
        begin(file, 0, op, &r[op]);
    end(OPS, r, round);
    check(round, "read");
}

static void beside_blocking(MPI_File file, int round)
{
    MPI_Request r[2];
    fill(round);
    begin(file, 1, 0, &r[0]);
    some_tests(1, r);
    MT_OK(MPI_File_write_at_all(file, COUNT, data[1], COUNT, MPI_INT, MPI_STATUS_IGNORE));
    begin(file, 1, 2, &r[1]);
    some_tests(2, r);
    MT_OK(MPI_File_set_atomicity(file, 1));
    some_tests(2, r);
    MT_OK(MPI_File_set_atomicity(file, 0));
    MT_OK(MPI_File_write_at_all(file, 3 * COUNT, data[3], COUNT, MPI_INT, MPI_STATUS_IGNORE));
    end(2, r, round);
    check_file(file, round, "beside blocking operations");
}

/* The operation of the shared pointer writes before the others' offsets. */
static void beside_ordered(MPI_File file, int round)
{
    const MPI_Offset first = (MPI_Offset) mt.rank * COUNT * (MPI_Offset) sizeof(int);
    const MPI_Offset second = first + (MPI_Offset) mt.size * COUNT * (MPI_Offset) sizeof(int);
    MPI_Request r;
    fill(round);
    MT_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    MT_OK(MPI_File_iwrite_at_all(file, second, data[1], COUNT, MPI_INT, &r));
    some_tests(1, &r);
    MT_OK(MPI_File_write_ordered(file, data[0], COUNT, MPI_INT, MPI_STATUS_IGNORE));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MT_OK(MPI_File_sync(file));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    memset(data, 0, 2 * sizeof(data[0]));
    MT_OK(MPI_File_read_at(file, first, data[0], COUNT, MPI_INT, MPI_STATUS_IGNORE));
    MT_OK(MPI_File_read_at(file, second, data[1], COUNT, MPI_INT, MPI_STATUS_IGNORE));
    check(round, "beside MPI_File_write_ordered");
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* All begin the operation before the other call; where they wait for it is up to them. */
static void two_orders(MPI_File file, int round)
{
    const MPI_Offset mine = (MPI_Offset) mt.rank * COUNT * (MPI_Offset) sizeof(int);
    const MPI_Offset further = mine + (MPI_Offset) mt.size * COUNT * (MPI_Offset) sizeof(int);
    MPI_Request r;
    MPI_Info info;
    fill(round);
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "ind_wr_buffer_size", "65536"));
    for (int call = 0; call < 6; call++) {
        MT_OK(MPI_File_iwrite_at_all(file, mine, data[0], COUNT, MPI_INT, &r));
        if ((mt.rank + round) % 2 == 0)
            MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        switch (call) {
            case 0:
                MT_OK(MPI_File_write_at_all(file, further, data[1], COUNT, MPI_INT,
                                            MPI_STATUS_IGNORE));
                break;
            case 3:
                MT_OK(MPI_File_preallocate(file, 1));
                break;
            case 4:
                MT_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
                break;
            case 5:
                MT_OK(MPI_File_set_info(file, info));
                break;
            default:
                MT_OK(MPI_File_set_atomicity(file, call == 1));
        }
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Info_free(&info));
    memset(data, 0, 2 * sizeof(data[0]));
    MT_OK(MPI_File_read_at_all(file, mine, data[0], COUNT, MPI_INT, MPI_STATUS_IGNORE));
    MT_OK(MPI_File_read_at_all(file, further, data[1], COUNT, MPI_INT, MPI_STATUS_IGNORE));
    check(round, "two orders");
}

/* The ints of operation 0 and 1 are those at even and odd places of a buffer. */
static void freed_type(MPI_File file, int round)
{
    static int both[2 * COUNT];
    MPI_Datatype type[2];
    MPI_Request r[2];
    fill(round);
    for (int writes = 1; writes >= 0; writes--) {
        for (int i = 0; i < 2 * COUNT; i++)
            both[i] = writes ? data[i % 2][i / 2] : 0;
        for (int op = 0; op < 2; op++) {
            const MPI_Offset at = (MPI_Offset) op * COUNT;
            MT_OK(MPI_Type_vector(COUNT, 1, 2, MPI_INT, &type[op]));
            MT_OK(MPI_Type_commit(&type[op]));
            if (writes)
                MT_OK(MPI_File_iwrite_at_all(file, at, both + op, 1, type[op], &r[op]));
            else
                MT_OK(MPI_File_iread_at_all(file, at, both + op, 1, type[op], &r[op]));
            some_tests(op + 1, r);
            MT_OK(MPI_Type_free(&type[op]));
        }
        /* another type, whose handle may be the same */
        MT_OK(MPI_Type_contiguous(3, MPI_CHAR, &type[0]));
        MT_OK(MPI_Type_commit(&type[0]));
        end(2, r, round);
        MT_OK(MPI_Type_free(&type[0]));
    }
    for (int i = 0; i < 2 * COUNT; i++)
        MT_CHECK(both[i] == data[i % 2][i / 2], "freed type: int %d is wrong", i);
}

/* Operation 0 and 2 on a, 1 and 3 on b */
static void two_files(MPI_File a, MPI_File b, int round)
{
    MPI_Request r[OPS];
    const int at = mt.rank % 2;
    fill(round);
    for (int op = 0; op < OPS; op++)
        begin(op % 2 ? b : a, 1, op, &r[op ^ at]);
    if (round % 2)
        MT_OK(MPI_Waitall(OPS, r, MPI_STATUSES_IGNORE));
    else
        for (int i = 0; i < OPS; i++)
            MT_OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
    memset(data, 0, sizeof(data));
    for (int op = 0; op < OPS; op++)
        begin(op % 2 ? b : a, 0, op, &r[op]);
    for (int i = 0; i < OPS; i++)
        MT_OK(MPI_Wait(&r[at ? OPS - 1 - i : i], MPI_STATUS_IGNORE));
    check(round, "two files");
}

/* Operation 0 is beyond the size that files may have for a while, operation 1 is not. Error handlers
 * are the default ones. */
static void too_large(MPI_File file, int round)
{
    const MPI_Offset at = 1 << 20;
    struct rlimit old, small;
    MPI_Request r[2];
    fill(round);
    MT_CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0, "getrlimit failed");
    small = old;
    small.rlim_cur = (rlim_t) mt.size << 20;
    MT_CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0, "setrlimit failed");
    MT_OK(MPI_File_iwrite_at_all(file, at, data[0], COUNT, MPI_INT, &r[0]));
    begin(file, 1, 1, &r[1]);
    some_tests(1, &r[1]);
    MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    MT_CHECK(MPI_Wait(&r[0], MPI_STATUS_IGNORE) != MPI_SUCCESS, "no error of a failed operation");
    MT_CHECK(r[0] == MPI_REQUEST_NULL, "a failed operation is still there");
    MT_CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0, "setrlimit failed");

    MT_OK(MPI_File_iwrite_at_all(file, at, data[0], COUNT, MPI_INT, &r[0]));
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    memset(data, 0, 2 * sizeof(data[0]));
    MT_OK(MPI_File_iread_at_all(file, at, data[0], COUNT, MPI_INT, &r[0]));
    begin(file, 0, 1, &r[1]);
    end(2, r, round);
    check(round, "after a failed operation");
}

/* An operation is the last of more requests than MPI_Waitall waits for at a time
 * (MPIR_CVAR_REQUEST_BATCH_SIZE). The peer has ended it when it sends what the others wait for. */
static void beyond_batch(MPI_File file)
{
    enum { RECEIVES = 64 };
    int in[RECEIVES];
    MPI_Request r[RECEIVES + 1];
    begin(file, 1, 0, &r[RECEIVES]);
    if (mt.rank % 2) {
        MT_OK(MPI_Wait(&r[RECEIVES], MPI_STATUS_IGNORE));
        for (int i = 0; i < RECEIVES; i++)
            MT_OK(MPI_Send(&i, 1, MPI_INT, mt.peer, i, MPI_COMM_WORLD));
        return;
    }
    for (int i = 0; i < RECEIVES; i++)
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, mt.peer, i, MPI_COMM_WORLD, &r[i]));
    MT_OK(MPI_Waitall(RECEIVES + 1, r, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_File file, other, plain, external;
    mt_init(argc, argv, 1, 6);
    rng = mt_rng(mt.rank, 0);
    signal(SIGXFSZ, SIG_IGN);
    make_folder("file_outstanding");
    file = open_file("interleaved", 1);
    other = open_file("other", 1);
    plain = open_file("plain", 0);
    external = open_file("external", 2);
    for (int round = 0; round < (int) mt.iters; round++) {
        outstanding(file, round);
        outstanding(external, round);
        beside_blocking(file, round + 1);
        beside_ordered(plain, round);
        two_files(file, other, round);
        beyond_batch(file);
        two_orders(plain, round);
        freed_type(file, round);
        too_large(file, round);
    }
    MT_OK(MPI_File_close(&external));
    MT_OK(MPI_File_close(&plain));
    MT_OK(MPI_File_close(&other));
    MT_OK(MPI_File_close(&file));
    remove_folder();
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Each thread writes and reads a file of its own together with the same thread of the other
 * processes; each process begins with another thread, and the others follow when that one is in its
 * call. Then a process opens a file of its own while a thread of it waits in a collective call. An
 * error handler of a file asks for the file's size. Threads write one file through its shared
 * pointer, and through the individual one beside collective calls. Threads get Fortran handles at the
 * same time, and duplicate and free a datatype and a communicator that files have used. */
#include "folder.h"
#include <sched.h>

#define VALUES 1000
#define REGION (1 << 18)         /* bytes that a process writes with its individual pointer at most */
#define POINTER_ROUNDS 200
#define SHARED_ROUNDS 50         /* values that a thread writes with the shared pointer */
#define HANDLES 100              /* files of each of two threads */
#define DUPLICATES 100000
#define ROUNDS 6

static MPI_Comm comms[MT_MAX_THREADS];
static MPI_File shared;
static int handled;
static atomic_int is_over;

static MPI_File open_file(MPI_Comm comm, const char *name, int number)
{
    char numbered[64];
    snprintf(numbered, sizeof(numbered), "%s.%d", name, number);
    return open_in_folder(comm, numbered, MPI_INFO_NULL);
}

static void *collective(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    const MPI_Offset mine = (MPI_Offset) mt.rank * VALUES * (MPI_Offset) sizeof(int);
    int out[VALUES], in[VALUES];
    MPI_File file;
    usleep(20000u * (unsigned) ((id + mt.rank) % mt.threads));
    file = open_file(comms[id], "thread", id);
    for (int n = 0; n < (int) mt.iters; n++) {
        for (int i = 0; i < VALUES; i++)
            out[i] = id + 100 * n + i + 7 * mt.rank;
        MT_OK(MPI_File_write_at_all(file, mine, out, VALUES, MPI_INT, MPI_STATUS_IGNORE));
        MT_OK(MPI_File_read_at_all(file, mine, in, VALUES, MPI_INT, MPI_STATUS_IGNORE));
        MT_CHECK(!memcmp(in, out, sizeof(in)), "thread %d reads what it has not written", id);
    }
    MT_OK(MPI_File_close(&file));
    return NULL;
}

static void *join_all(void *arg)
{
    MPI_File file = open_file(comms[0], "all", 0);
    (void) arg;
    MT_OK(MPI_File_close(&file));
    return NULL;
}

static void alone_beside_collective(void)
{
    pthread_t thread;
    MPI_File file;
    int value = 1;
    if (mt.rank == 0) {
        MT_CHECK(pthread_create(&thread, NULL, join_all, NULL) == 0, "cannot create a thread");
        usleep(100000);
        file = open_file(MPI_COMM_SELF, "self", 0);
        MT_OK(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        MT_OK(MPI_File_close(&file));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        pthread_join(thread, NULL);
    } else {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        join_all(NULL);
    }
}

static void handler(MPI_File * file, int *code, ...)
{
    MPI_Offset size;
    (void) code;
    MT_OK(MPI_File_get_size(*file, &size));
    handled++;
}

static void error_handler(void)
{
    MPI_File file = open_file(MPI_COMM_SELF, "handler", mt.rank);
    MPI_Errhandler calls;
    int value;
    MT_OK(MPI_File_create_errhandler(handler, &calls));
    MT_OK(MPI_File_set_errhandler(file, calls));
    MT_OK(MPI_Errhandler_free(&calls));
    MPI_File_read_at(file, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MT_CHECK(handled == 1, "the handler was called %d times", handled);
    MT_OK(MPI_File_close(&file));
}

static void *write_shared(void *arg)
{
    const int first = (mt.rank * mt.threads + ((mt_thread_t *) arg)->id) * SHARED_ROUNDS;
    for (int value = first; value < first + SHARED_ROUNDS; value++)
        MT_OK(MPI_File_write_shared(shared, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    return NULL;
}

/* Record locks belong to the process: this thread must not drop the one of a thread that writes. */
static void *ask_shared(void *arg)
{
    MPI_Offset at, last = 0, size;
    (void) arg;
    for (; !atomic_load(&is_over); last = at) {
        MT_OK(MPI_File_get_position_shared(shared, &at));
        MT_CHECK(at >= last, "the shared pointer went from %lld to %lld", (long long) last,
                 (long long) at);
        MT_OK(MPI_File_get_size(shared, &size));
        usleep(20);             /* lets those that write have the mutex */
    }
    return NULL;
}

static void shared_pointer(void)
{
    const int n = mt.size * mt.threads * SHARED_ROUNDS;
    int *seen = mt_alloc((size_t) n * sizeof(int)), *values = mt_alloc((size_t) n * sizeof(int));
    pthread_t thread;
    shared = open_file(comms[0], "shared", 0);
    atomic_store(&is_over, 0);
    MT_CHECK(pthread_create(&thread, NULL, ask_shared, NULL) == 0, "cannot create a thread");
    mt_run(mt.threads, write_shared);
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    MT_OK(MPI_File_sync(shared));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    memset(values, -1, (size_t) n * sizeof(int));
    MT_OK(MPI_File_read_at(shared, 0, values, n, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++)
        MT_CHECK(values[i] >= 0 && values[i] < n && !seen[values[i]]++,
                 "value %d is wrong or there twice", values[i]);
    MT_OK(MPI_File_close(&shared));
    free(values);
    free(seen);
}

static MPI_Offset far_away(void)
{
    return (MPI_Offset) mt.size * REGION + mt.rank;
}

/* Collective accesses at explicit offsets leave the individual pointer alone. */
static void *write_far(void *arg)
{
    MPI_Request r;
    int done;
    (void) arg;
    for (int i = 0; i < POINTER_ROUNDS; i++) {
        if (i % mt.size == mt.rank)
            usleep(200);        /* the others wait for this process */
        if (i % 3 == 0) {
            MT_OK(MPI_File_write_at_all(shared, far_away(), &i, 1, MPI_BYTE, MPI_STATUS_IGNORE));
            continue;
        }
        MT_OK(MPI_File_iwrite_at_all(shared, far_away(), &i, 1, MPI_BYTE, &r));
        for (done = 0; i % 3 == 1 && !done; sched_yield())      /* to a server thread */
            MT_OK(MPI_Test(&r, &done, MPI_STATUS_IGNORE));
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    atomic_store(&is_over, 1);
    return NULL;
}

static void must_be_at(MPI_Offset expected, const char *what)
{
    MPI_Offset at;
    MT_OK(MPI_File_get_position(shared, &at));
    MT_CHECK(at == expected, "%s: the pointer is at %lld, not %lld", what, (long long) at,
             (long long) expected);
}

/* each in its own region, so that a byte that one does not write stays as it is */
static void beside_collective(void)
{
    const MPI_Offset start = (MPI_Offset) mt.rank * REGION;
    char *bytes = mt_alloc(REGION);
    pthread_t thread;
    int written = 0;
    atomic_store(&is_over, 0);
    MT_OK(MPI_File_seek(shared, start, MPI_SEEK_SET));
    MT_CHECK(pthread_create(&thread, NULL, write_far, NULL) == 0, "cannot create a thread");
    for (; !atomic_load(&is_over) && written < REGION; written++) {
        const char byte = (char) ('a' + written % 26);
        MT_OK(MPI_File_write(shared, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    pthread_join(thread, NULL);
    must_be_at(start + written, "beside collective writes");
    MT_OK(MPI_File_read_at(shared, start, bytes, written, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < written; i++)
        MT_CHECK(bytes[i] == 'a' + i % 26, "byte %d of %d is %d", i, written, bytes[i]);
    free(bytes);
}

static void individual_pointer(void)
{
    MPI_Request r;
    shared = open_file(MPI_COMM_WORLD, "pointer", 0);
    beside_collective();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD)); /* what follows writes over the region of process 0 */
    MT_OK(MPI_File_seek(shared, 0, MPI_SEEK_SET));
    MT_OK(MPI_File_iwrite_at_all(shared, far_away(), "a", 1, MPI_BYTE, &r));
    MT_OK(MPI_File_write(shared, "bc", 2, MPI_BYTE, MPI_STATUS_IGNORE));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    must_be_at(2, "after MPI_File_iwrite_at_all");
    MT_OK(MPI_File_iwrite_all(shared, "def", 3, MPI_BYTE, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    must_be_at(5, "after MPI_File_iwrite_all");
    MT_OK(MPI_File_close(&shared));
}

static MPI_File handle_files[2][HANDLES];
static atomic_int arrived;

/* Both take a number at the same time. */
static void *take_handles(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    MPI_Fint handles[HANDLES];
    for (int i = 0; i < HANDLES; i++) {
        atomic_fetch_add(&arrived, 1);
        for (int tries = 0; atomic_load(&arrived) < 2 * (i + 1); tries++) {
            if (tries > 5000)
                sched_yield();
        }
        handles[i] = MPI_File_c2f(handle_files[id][i]);
    }
    for (int i = 0; i < HANDLES; i++)
        MT_CHECK(MPI_File_f2c(handles[i]) == handle_files[id][i],
                 "thread %d: the Fortran handle %d is not that of file %d", id, (int) handles[i], i);
    return NULL;
}

static void fortran_handles(void)
{
    for (int i = 0; i < 2 * HANDLES; i++)
        handle_files[i % 2][i / 2] = open_file(MPI_COMM_SELF, "handle", mt.rank);
    atomic_store(&arrived, 0);
    mt_run(2, take_handles);
    for (int i = 0; i < 2 * HANDLES; i++)
        MT_OK(MPI_File_close(&handle_files[i % 2][i / 2]));
}

static MPI_Datatype datatypes[2];
static MPI_Comm communicators[2];

/* What ROMIO keeps with both is shared with the duplicates. */
static void *duplicate(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    for (int i = 0; i < DUPLICATES; i++) {
        MPI_Datatype d;
        MT_OK(MPI_Type_dup(datatypes[id], &d));
        MT_OK(MPI_Type_free(&d));
    }
    for (int i = 0; i < DUPLICATES / 10; i++) {
        MPI_Comm c;
        MT_OK(MPI_Comm_dup(communicators[id], &c));
        MT_OK(MPI_Comm_free(&c));
    }
    return NULL;
}

static void duplicates(void)
{
    MPI_File file;
    MPI_Datatype vector;
    MPI_Comm comm;
    int values[16] = { 0 };
    MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    MT_OK(MPI_Type_vector(8, 1, 2, MPI_INT, &vector));
    MT_OK(MPI_Type_commit(&vector));
    file = open_file(comm, "duplicates", mt.rank);
    MT_OK(MPI_File_write(file, values, 1, vector, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Type_dup(vector, &datatypes[i]));
        MT_OK(MPI_Comm_dup(comm, &communicators[i]));
    }
    mt_run(2, duplicate);
    MT_OK(MPI_File_write(file, values, 1, vector, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Type_free(&datatypes[i]));
        MT_OK(MPI_Comm_free(&communicators[i]));
    }
    MT_OK(MPI_Type_free(&vector));
    MT_OK(MPI_File_close(&file));
    MT_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 5);
    make_folder("file_threads");
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    mt_run(mt.threads, collective);
    alone_beside_collective();
    error_handler();
    shared_pointer();
    individual_pointer();
    for (int i = 0; i < ROUNDS; i++) {
        fortran_handles();
        duplicates();
    }
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comms[i]));
    remove_folder();
    return mt_finish();
}

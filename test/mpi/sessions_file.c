/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Files of sessions beside and after MPI_Finalize: one that was open before, one after the other by a
 * thread meanwhile, and later ones. A delete function that MPI_Finalize calls opens one, too; with -n 1
 * it is the first of the process. With -t 2 a process that never has MPI_COMM_WORLD converts data. */
#include "folder.h"
#include "session.h"

static MPI_Comm comm, thread_comm;
static atomic_int begun, deleted;

static void use_file(MPI_File file)
{
    const MPI_Offset mine = mt.rank * (MPI_Offset) sizeof(int);
    int out = 100 + mt.rank, in = -1;
    MT_OK(MPI_File_write_at_all(file, mine, &out, 1, MPI_INT, MPI_STATUS_IGNORE));
    MT_OK(MPI_File_read_at_all(file, mine, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
    MT_CHECK(in == out, "%d was read instead of %d", in, out);
}

#define ROWS 8

/* Datatypes with gaps: their data is packed to be converted. */
static void convert(void)
{
    MPI_Session s = open_session();
    MPI_Comm c = comm_of_session(s, "mpi://SELF");
    MPI_File file;
    int out[2 * ROWS], in[2 * ROWS];
    MPI_Datatype gaps;
    MPI_Request r;
    char name[32];
    snprintf(folder, sizeof(folder), "/tmp");
    snprintf(name, sizeof(name), "sessions_file.%d", (int) getpid());
    file = open_in_folder(c, name, MPI_INFO_NULL);
    MT_OK(MPI_Type_vector(ROWS, 1, 2, MPI_INT, &gaps));
    MT_OK(MPI_Type_commit(&gaps));
    MT_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    for (int collective = 0; collective < 2; collective++) {
        for (int i = 0; i < 2 * ROWS; i++) {
            out[i] = 100 * collective + i;
            in[i] = -1;
        }
        if (collective) {
            MT_OK(MPI_File_iwrite_at_all(file, 0, out, 1, gaps, &r));
            MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            MT_OK(MPI_File_iread_at_all(file, 0, in, 1, gaps, &r));
            MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        } else {
            MT_OK(MPI_File_write_at(file, 0, out, 1, gaps, MPI_STATUS_IGNORE));
            MT_OK(MPI_File_read_at(file, 0, in, 1, gaps, MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < 2 * ROWS; i++)
            MT_CHECK(in[i] == (i % 2 ? -1 : out[i]), "int %d is %d after external32", i, in[i]);
    }
    MT_OK(MPI_Type_free(&gaps));
    MT_OK(MPI_File_close(&file));
    MT_OK(MPI_Comm_free(&c));
    MT_OK(MPI_Session_finalize(&s));
}

static void one_file(MPI_Comm c, const char *name)
{
    MPI_File file = open_in_folder(c, name, MPI_INFO_NULL);
    use_file(file);
    MT_OK(MPI_File_close(&file));
}

static void *many_files(void *arg)
{
    (void) arg;
    for (int i = 0; i < (int) mt.iters; i++) {
        one_file(thread_comm, "beside");
        atomic_store(&begun, 1);
    }
    return NULL;
}

static int file_at_end(MPI_Comm c, int keyval, void *value, void *extra)
{
    (void) c, (void) keyval, (void) value, (void) extra;
    one_file(MPI_COMM_WORLD, "delete");
    atomic_store(&deleted, 1);
    return MPI_SUCCESS;
}

static void start_world(void)
{
    int provided, key;
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_CHECK(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    MT_OK(MPI_Comm_size(MPI_COMM_WORLD, &mt.size));
    make_folder("sessions_file");
    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, file_at_end, &key, NULL));
    MT_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    MT_OK(MPI_Comm_free_keyval(&key));
}

static void end_world(void)
{
    MT_OK(MPI_Finalize());
    MT_CHECK(atomic_load(&deleted), "the delete function was not called");
}

static void end_world_beside_files(void)
{
    pthread_t thread;
    MPI_File kept;
    one_file(MPI_COMM_WORLD, "world");
    MT_OK(MPI_Comm_dup(comm, &thread_comm));
    kept = open_in_folder(comm, "kept", MPI_INFO_NULL);
    MT_CHECK(pthread_create(&thread, NULL, many_files, NULL) == 0, "cannot create a thread");
    while (!atomic_load(&begun))
        usleep(100);
    end_world();
    pthread_join(thread, NULL);
    use_file(kept);
    MT_OK(MPI_File_close(&kept));
    MT_OK(MPI_Comm_free(&thread_comm));
}

int main(int argc, char **argv)
{
    MPI_Session s;
    mt_options(argc, argv, 1, 30);
    if (mt.threads > 1) {
        convert();
        printf(" No Errors\n");
        return 0;
    }
    start_world();
    s = open_session();
    comm = comm_of_session(s, "mpi://WORLD");
    if (mt.iters > 1)
        end_world_beside_files();
    else
        end_world();
    one_file(comm, "after");
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
    s = open_session();
    comm = comm_of_session(s, "mpi://WORLD");
    one_file(comm, "last");
    MT_OK(MPI_Barrier(comm));
    if (mt.rank == 0)
        rmdir(folder);
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

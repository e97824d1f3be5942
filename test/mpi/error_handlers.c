/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What an error handler may do while other threads have errors on the same communicator or window:
 * wait for a message of theirs, set another handler, leave by longjmp, and free the communicator. Then
 * threads set and get the handlers of one file. */
#include "mt.h"

#include <setjmp.h>

static MPI_Comm comm, own;
static MPI_Win win;
static MPI_File file;
static atomic_int calls;
static jmp_buf back;
static MPI_Errhandler waits, leaves;

static void wait_for_thread(void)
{
    if (atomic_fetch_add(&calls, 1) == 0)
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, own, MPI_STATUS_IGNORE));
}

static void comm_waits(MPI_Comm * c, int *code, ...)
{
    (void) c, (void) code;
    wait_for_thread();
}

static void win_waits(MPI_Win * w, int *code, ...)
{
    (void) w, (void) code;
    wait_for_thread();
}

static void comm_leaves(MPI_Comm * c, int *code, ...)
{
    (void) code;
    MT_OK(MPI_Comm_set_errhandler(*c, MPI_ERRORS_RETURN));
    longjmp(back, 1);
}

static void comm_frees(MPI_Comm * c, int *code, ...)
{
    (void) code;
    MT_OK(MPI_Comm_free(c));
}

static void *second_comm_error(void *arg)
{
    (void) arg;
    while (atomic_load(&calls) == 0)
        usleep(1000);
    MPI_Send(NULL, 0, MPI_INT, mt.size, 0, comm);
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, 0, own));
    return NULL;
}

static void *second_win_error(void *arg)
{
    (void) arg;
    while (atomic_load(&calls) == 0)
        usleep(1000);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, 0, own));
    return NULL;
}

static void *send_out_of_range(void *arg)
{
    (void) arg;
    MT_CHECK(MPI_Send(NULL, 0, MPI_INT, mt.size, 0, comm) != MPI_SUCCESS, "no error");
    return NULL;
}

static pthread_t begin(void *(*fn) (void *))
{
    pthread_t thread;
    MT_CHECK(pthread_create(&thread, NULL, fn, NULL) == 0, "cannot create a thread");
    return thread;
}

static void of_window(void)
{
    MPI_Errhandler handler;
    pthread_t thread;
    int memory = 0;
    MT_OK(MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, comm, &win));
    MT_OK(MPI_Win_create_errhandler(win_waits, &handler));
    MT_OK(MPI_Win_set_errhandler(win, handler));
    MT_OK(MPI_Errhandler_free(&handler));
    atomic_store(&calls, 0);
    thread = begin(second_win_error);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    pthread_join(thread, NULL);
    MT_CHECK(atomic_load(&calls) == 2, "%d calls", atomic_load(&calls));
    MT_OK(MPI_Win_free(&win));
}

static void of_communicator(void)
{
    MPI_Errhandler frees;
    MPI_Comm other;
    pthread_t thread;
    MT_OK(MPI_Comm_set_errhandler(comm, waits));
    atomic_store(&calls, 0);
    thread = begin(second_comm_error);
    MPI_Send(NULL, 0, MPI_INT, mt.size, 0, comm);
    pthread_join(thread, NULL);
    MT_CHECK(atomic_load(&calls) == 3, "%d calls", atomic_load(&calls));
    MT_OK(MPI_Comm_set_errhandler(comm, leaves));
    if (setjmp(back) == 0) {
        MPI_Send(NULL, 0, MPI_INT, mt.size, 0, comm);
        MT_CHECK(0, "the handler has returned");
    }
    pthread_join(begin(send_out_of_range), NULL);
    MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
    MT_OK(MPI_Comm_create_errhandler(comm_frees, &frees));
    MT_OK(MPI_Comm_set_errhandler(other, frees));
    MT_OK(MPI_Errhandler_free(&frees));
    MPI_Comm_call_errhandler(other, MPI_ERR_OTHER);
}

static void file_handler(MPI_File * f, int *code, ...)
{
    (void) f, (void) code;
}

static void *of_file(void *arg)
{
    (void) arg;
    for (long n = 0; n < mt.iters; n++) {
        MPI_Errhandler mine, found;
        MT_OK(MPI_File_create_errhandler(file_handler, &mine));
        MT_OK(MPI_File_set_errhandler(file, mine));
        MT_OK(MPI_Errhandler_free(&mine));
        MT_OK(MPI_File_get_errhandler(file, &found));
        MT_OK(MPI_Errhandler_free(&found));
    }
    return NULL;
}

/* MPI 4.0 has one more that is predefined. */
static void abort_is_one(void)
{
    MPI_Errhandler errhandler;

    MT_OK(MPI_Comm_set_errhandler(own, MPI_ERRORS_ABORT));
    MT_OK(MPI_Comm_get_errhandler(own, &errhandler));
    MT_CHECK(errhandler == MPI_ERRORS_ABORT, "another handler than MPI_ERRORS_ABORT");
    MT_OK(MPI_Errhandler_free(&errhandler));
    MT_OK(MPI_Comm_set_errhandler(own, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    char path[64];
    mt_init(argc, argv, 4, 2000);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
    MT_OK(MPI_Comm_create_errhandler(comm_waits, &waits));
    MT_OK(MPI_Comm_create_errhandler(comm_leaves, &leaves));
    abort_is_one();
    of_window();
    of_communicator();
    MT_OK(MPI_Errhandler_free(&waits));
    MT_OK(MPI_Errhandler_free(&leaves));
    snprintf(path, sizeof(path), "/tmp/error_handlers.%d", (int) getpid());
    MT_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR |
                        MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    mt_run(mt.threads, of_file);
    MT_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    MT_OK(MPI_File_close(&file));
    MT_OK(MPI_Comm_free(&own));
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

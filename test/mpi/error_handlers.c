/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What an error handler may do while other threads have errors on the same communicator or window:
 * wait for a message of theirs, set another handler, leave by longjmp, and free the communicator; in
 * MPI_File_open also open files. The default handler of files serves one file after the other. Then
 * threads set and get the handlers of one file, and have errors on it. If the default handler is one
 * that ends the process, a call that fails without a file prints its error: other processes, which
 * this program starts as itself without mpirun, end so. */
#include "mt.h"
#include "session.h"

#include <setjmp.h>

#define MISSING "/nonexistent/file"
#define ALONE   "exec env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID -u CSP_NG " \
    "timeout -k 5 20 %s %s </dev/null 2>&1"
#define ERRORS 50               /* of a file for each handler that another thread sets, at most */

static MPI_Comm comm, own;
static MPI_Win win;
static MPI_File file;
static atomic_int calls, begun, is_over;
static jmp_buf back;
static MPI_Errhandler waits, leaves;
static char path[64];
static _Thread_local int file_calls;

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

static MPI_File open_file(void)
{
    MPI_File f;
    MT_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    return f;
}

static void *open_and_close(void *arg)
{
    MPI_File f = open_file();
    (void) arg;
    MT_OK(MPI_File_close(&f));
    return NULL;
}

static void opens_in_thread(MPI_Comm * c, int *code, ...)
{
    (void) c, (void) code;
    pthread_join(begin(open_and_close), NULL);
    atomic_fetch_add(&calls, 1);
}

static void set_handler_of_all(MPI_Comm_errhandler_function * fn)
{
    MPI_Errhandler handler;
    MT_OK(MPI_Comm_create_errhandler(fn, &handler));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    MT_OK(MPI_Errhandler_free(&handler));
}

/* A bad info has an error of MPI_File_open's communicator. */
static void of_opening(void)
{
    const MPI_Info bad = (MPI_Info) 0;
    MPI_File f;
    atomic_store(&calls, 0);
    set_handler_of_all(opens_in_thread);
    MT_CHECK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, bad, &f) != MPI_SUCCESS, "no error");
    MT_CHECK(atomic_load(&calls) > 0, "no handler was called");
    set_handler_of_all(comm_leaves);
    if (setjmp(back) == 0) {
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, bad, &f);
        MT_CHECK(0, "the handler has returned");
    }
    pthread_join(begin(open_and_close), NULL);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void file_handler(MPI_File * f, int *code, ...)
{
    (void) f, (void) code;
    file_calls++;
}

static void comm_wrong(MPI_Comm * c, int *code, ...)
{
    (void) c, (void) code;
    MT_CHECK(0, "the handler of no communicator is called");
}

/* One that takes the place of a handler that was freed too early. */
static MPI_Errhandler another_handler(void)
{
    MPI_Errhandler handler;
    MT_OK(MPI_Comm_create_errhandler(comm_wrong, &handler));
    return handler;
}

static void has_error(MPI_File f)
{
    const int before = file_calls;
    int value;
    MPI_File_read_at(f, -1, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MT_CHECK(file_calls == before + 1, "the file's handler was called %d times",
             file_calls - before);
}

static MPI_Errhandler handler_of_files(void)
{
    MPI_Errhandler handler;
    MT_OK(MPI_File_create_errhandler(file_handler, &handler));
    return handler;
}

static void of_default(void)
{
    MPI_Errhandler handler = handler_of_files(), others[3];
    MT_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    MT_OK(MPI_Errhandler_free(&handler));
    for (int i = 0; i < 3; i++) {
        MPI_File f = open_file();
        has_error(f);
        MT_OK(MPI_File_close(&f));
        others[i] = another_handler();
    }
    has_error(MPI_FILE_NULL);
    MT_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    for (int i = 0; i < 3; i++)
        MT_OK(MPI_Errhandler_free(&others[i]));
}

static void replace_handler(void)
{
    MPI_Errhandler mine = handler_of_files(), found;
    MT_OK(MPI_File_set_errhandler(file, mine));
    MT_OK(MPI_Errhandler_free(&mine));
    MT_OK(MPI_File_get_errhandler(file, &found));
    MT_OK(MPI_Errhandler_free(&found));
}

static void make_others(void)
{
    MPI_Errhandler others[3];
    for (int i = 0; i < 3; i++)
        others[i] = another_handler();
    for (int i = 0; i < 3; i++)
        MT_OK(MPI_Errhandler_free(&others[i]));
}

/* The first thread has errors, which go to a handler that the second and fourth may have replaced. */
static void *of_file(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    atomic_fetch_add(&begun, 1);
    while (atomic_load(&begun) < mt.threads)
        usleep(100);
    if (id == 0) {
        for (long n = 0; n < ERRORS * mt.iters; n++)
            has_error(file);
        atomic_store(&is_over, 1);
    }
    for (long n = 0; n < mt.iters || !atomic_load(&is_over); n++) {
        if (id % 2)
            replace_handler();
        else
            make_others();
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

/* The process that runs alone; it does not return if all is well. */
static int fails_without_file(const char *call)
{
    MPI_File f;

    if (!strcmp(call, "session"))
        open_session();
    else
        MPI_Init(NULL, NULL);
    if (!strcmp(call, "open")) {
        MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ABORT);
        MPI_File_open(MPI_COMM_SELF, MISSING, MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    } else {
        MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
        MPI_File_delete(MISSING, MPI_INFO_NULL);
    }
    printf("the call has returned\n");
    return 0;
}

static void ends_with_text(const char *program, const char *call)
{
    char command[4096], text[4096];
    size_t n;
    int status;
    FILE *child;

    snprintf(command, sizeof(command), ALONE, program, call);
    child = popen(command, "r");
    MT_CHECK(child, "cannot start %s", command);
    n = fread(text, 1, sizeof(text) - 1, child);
    text[n] = '\0';
    status = pclose(child);
    MT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) && strstr(text, "I/O error: "),
             "%s: status %x, and printed: %s", call, (unsigned) status, text);
}

int main(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-')
        return fails_without_file(argv[1]);
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
    of_opening();
    of_default();
    file = open_file();
    replace_handler();
    mt_run(mt.threads, of_file);
    MT_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    MT_OK(MPI_File_close(&file));
    unlink(path);
    if (mt.rank == 0) {
        ends_with_text(argv[0], "open");
        ends_with_text(argv[0], "delete");
        ends_with_text(argv[0], "session");
    }
    MT_OK(MPI_Comm_free(&own));
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

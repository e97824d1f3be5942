/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A message that is longer than its receive: source, tag and count of the status are of this message,
 * whether it comes before its receive or after, and MPI_Wait leaves the field MPI_ERROR alone. Within a
 * node, the text of the error has the two lengths the right way round. */
#include "mt.h"

enum { MOST = 2000000, TAG = 33, OTHER = 77 };

static char data[MOST];
static const int sizes[] = { 16, 4000, 100000, MOST };

static int is_set(const char *name)
{
    const char *value = getenv(name);

    return value && strcmp(value, "0") != 0;
}

static int is_of_network(void)
{
    return is_set("MPIR_CVAR_NOLOCAL") || is_set("MPIR_CVAR_ODD_EVEN_CLIQUES") || !mt_has_shm();
}

static void check(const MPI_Status * status, int code, int size)
{
    char text[MPI_MAX_ERROR_STRING], lengths[80];
    int class, count, cancelled, length;

    MPI_Error_class(code, &class);
    MT_CHECK(class == MPI_ERR_TRUNCATE, "%d bytes: error class %d", size, class);
    MT_OK(MPI_Test_cancelled(status, &cancelled));
    MT_CHECK(status->MPI_SOURCE == 0 && status->MPI_TAG == TAG && status->MPI_ERROR == OTHER &&
             !cancelled, "%d bytes: source %d, tag %d, error %d, cancelled %d", size,
             status->MPI_SOURCE, status->MPI_TAG, status->MPI_ERROR, cancelled);
    MT_OK(MPI_Get_count(status, MPI_BYTE, &count));
    if (is_of_network()) {      /* which may count what did not fit, too */
        MT_CHECK(count == size / 2 || count == size, "%d bytes: count %d", size, count);
        return;
    }
    MT_CHECK(count == size / 2, "%d bytes: count %d", size, count);
    MT_OK(MPI_Error_string(code, text, &length));
    snprintf(lengths, sizeof(lengths), "tag %d truncated; %d bytes received but buffer size is %d", TAG,
             size, size / 2);
    MT_CHECK(strstr(text, lengths), "'%s' is not in '%s'", lengths, text);
}

/* early: the message is there before its receive */
static void receive(int size, int early, int any)
{
    MPI_Request request;
    MPI_Status status;
    int code, flag = 0;

    memset(&status, -1, sizeof(status));
    status.MPI_ERROR = OTHER;
    if (early) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        while (!flag)
            MT_OK(MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Irecv(data, size / 2, MPI_BYTE, any ? MPI_ANY_SOURCE : 0, any ? MPI_ANY_TAG : TAG,
                    MPI_COMM_WORLD, &request));
    if (!early)
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    code = MPI_Wait(&request, &status);
    check(&status, code, size);
}

static void send(int size, int sync)
{
    MPI_Request request;

    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (sync)
        MT_OK(MPI_Issend(data, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request));
    else
        MT_OK(MPI_Isend(data, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request));
    MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 4);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (long i = 0; i < 8 * mt.iters; i++) {
        int size = sizes[i / 8 % 4];

        if (mt.rank)
            receive(size, i & 1, i >> 1 & 1);
        else
            send(size, i >> 2 & 1);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return mt_finish();
}

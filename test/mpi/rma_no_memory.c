/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Rput and MPI_Rget that find no memory give an error and leave the VCI: if the thread kept it, the
 * other threads would wait for ever.  malloc is the program's own and fails once in a thread that asks
 * for it.  Not for processes with a server thread, which allocates in place of the caller.  A sanitizer
 * has a malloc of its own: then nothing fails. */
#include "mt.h"

#define BYTES 16384             /* too many to be injected */
#define LEAST 100               /* bytes of the library's record of a part of such an operation */

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define CAN_FAIL 0
#else
#define CAN_FAIL 1
#endif

static __thread int fails;      /* the calling thread's next malloc */
static MPI_Win win;
static char *memory;

#if CAN_FAIL
extern void *__libc_malloc(size_t n);

void *malloc(size_t n)
{
    if (fails && n >= LEAST) {
        fails = 0;
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(n);
}
#endif

static int start(int is_get, char *buf, MPI_Request * r)
{
    return is_get ? MPI_Rget(buf, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win, r) :
        MPI_Rput(buf, BYTES, MPI_BYTE, mt.peer, 0, BYTES, MPI_BYTE, win, r);
}

static void fail(int is_get, char *buf)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc;

    if (!CAN_FAIL)
        return;
    fails = 1;
    rc = start(is_get, buf, &r);
    MT_CHECK(!fails, "operation %d has asked for no memory", is_get);
    MT_CHECK(rc != MPI_SUCCESS, "operation %d without memory gave no error", is_get);
}

/* Each thread has a place of its own behind that of the main thread. */
static void *other(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Aint at = BYTES * (t->id + 1);
    char *buf = mt_alloc(BYTES);

    memset(buf, t->id + 1, BYTES);
    for (long i = 0; i < mt.iters; i++) {
        MT_OK(MPI_Put(buf, BYTES, MPI_BYTE, mt.peer, at, BYTES, MPI_BYTE, win));
        MT_OK(MPI_Win_flush(mt.peer, win));
    }
    free(buf);
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Aint bytes;
    char *buf;

    mt_init(argc, argv, 2, 10);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    bytes = (MPI_Aint) BYTES * (mt.threads + 1);
    buf = mt_alloc(BYTES);
    MT_OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Win_lock_all(0, win));
    for (int is_get = 0; is_get < 2; is_get++) {
        MPI_Request r;
        MT_OK(start(is_get, buf, &r));  /* so that nothing else is allocated for the first time */
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        fail(is_get, buf);
        mt_run(mt.threads, other);
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (MPI_Aint i = BYTES; i < bytes; i++)
        MT_CHECK(memory[i] == (char) (i / BYTES), "byte %ld is %d", (long) i, memory[i]);
    MT_OK(MPI_Win_free(&win));
    free(buf);
    return mt_finish();
}

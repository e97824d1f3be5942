/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads put to and get from memory of a dynamic window while another one attaches and detaches other
 * memory, in all processes at once (coll_attach): the library keeps what each process has attached. */
#include "mt.h"

#define EXTRA 8                 /* pieces that are attached and detached */
#define BYTES 4096

static MPI_Win win;
static MPI_Aint theirs;         /* the memory of the peer that stays */
static char *extra;

static void attach_and_detach(void)
{
    for (long i = 0; i < mt.iters; i++) {
        for (int k = 0; k < EXTRA; k++)
            MT_OK(MPI_Win_attach(win, extra + k * BYTES, BYTES));
        for (int k = 0; k < EXTRA; k++)
            MT_OK(MPI_Win_detach(win, extra + (k + i) % EXTRA * BYTES));
    }
}

static void put_and_get(int id)
{
    const MPI_Aint at = MPI_Aint_add(theirs, (MPI_Aint) id * (MPI_Aint) sizeof(long));

    for (long i = 0; i < 10 * mt.iters; i++) {
        long out = i * MT_MAX_THREADS + id, in = -1;
        MT_OK(MPI_Put(&out, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG, win));
        MT_OK(MPI_Win_flush(mt.peer, win));
        MT_OK(MPI_Get(&in, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG, win));
        MT_OK(MPI_Win_flush(mt.peer, win));
        MT_CHECK(in == out, "round %ld: %ld instead of %ld", i, in, out);
    }
}

static void *worker(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;

    if (id == 0)
        attach_and_detach();
    else
        put_and_get(id);
    return NULL;
}

int main(int argc, char **argv)
{
    const MPI_Aint size = MT_MAX_THREADS * (MPI_Aint) sizeof(long);
    MPI_Info info;
    MPI_Aint ours;
    long *mem;

    mt_init(argc, argv, 4, 50);
    mem = mt_alloc((size_t) size);
    extra = mt_alloc(EXTRA * BYTES);
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "coll_attach", "true"));
    MT_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Win_attach(win, mem, size));
    MT_OK(MPI_Get_address(mem, &ours));
    MT_OK(MPI_Sendrecv(&ours, 1, MPI_AINT, mt.peer, 0, &theirs, 1, MPI_AINT, mt.peer, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));

    MT_OK(MPI_Win_lock_all(0, win));
    mt_run(mt.threads, worker);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_detach(win, mem));
    MT_OK(MPI_Win_free(&win));
    free(extra);
    free(mem);
    return mt_finish();
}

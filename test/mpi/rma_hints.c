/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads put, flush and read on one window in shared memory, with the hint perf_preference=mr, which
 * keeps copies under way until a flush; and on one without, where they also get and accumulate with
 * MPI_NO_OP and an origin that MPI ignores, so it is no datatype at all. */
#include "mt.h"

static MPI_Win hinted, plain;

static void put_flush_get(MPI_Win win, MPI_Aint at, long value)
{
    long word = value;

    MT_OK(MPI_Put(&word, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    word = -1;
    MT_OK(MPI_Get(&word, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG, win));
    MT_OK(MPI_Win_flush_local(mt.peer, win));
    MT_CHECK(word == value, "got %ld instead of %ld", word, value);
}

static void read_atomically(MPI_Aint at, long value)
{
    const MPI_Datatype ignored = (MPI_Datatype) 0;
    long word = -1;

    MT_OK(MPI_Get_accumulate(NULL, 0, ignored, &word, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG, MPI_NO_OP,
                             plain));
    MT_OK(MPI_Win_flush(mt.peer, plain));
    MT_CHECK(word == value, "read %ld instead of %ld", word, value);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    for (long i = 0; i < mt.iters; i++) {
        put_flush_get(hinted, t->id, i);
        put_flush_get(plain, t->id, i);
        read_atomically(t->id, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Info info;
    long *mem, *own;
    MPI_Aint bytes;

    mt_init(argc, argv, 8, 1000);
    bytes = mt.threads * (MPI_Aint) sizeof(long);
    own = mt_alloc((size_t) bytes);
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "perf_preference", "mr"));
    MT_OK(MPI_Win_allocate(bytes, sizeof(long), info, MPI_COMM_WORLD, &mem, &hinted));
    MT_OK(MPI_Win_create(own, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &plain));
    MT_OK(MPI_Win_lock_all(0, hinted));
    MT_OK(MPI_Win_lock_all(0, plain));
    mt_run(mt.threads, worker);
    MT_OK(MPI_Win_unlock_all(plain));
    MT_OK(MPI_Win_unlock_all(hinted));
    MT_OK(MPI_Win_free(&plain));
    MT_OK(MPI_Win_free(&hinted));
    MT_OK(MPI_Info_free(&info));
    free(own);
    return mt_finish();
}

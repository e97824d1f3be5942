/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A flush completes what was issued before it, however much other threads go on issuing. Every third
 * thread flushes, in all four ways, and the others put without pause: the flushes must end, and the
 * puts must go on meanwhile. The test never ends if a flush waits until nothing at all is under way,
 * or if it keeps the lock from the threads that put. The windows are memory that both processes have
 * mapped, so a flush that returns too early is seen: what it should have completed is not there. */
#include "mt.h"
#include <fcntl.h>
#include <sys/mman.h>

#define STOP 0
#define PUTS 200                /* at least so many while the other threads flush */
#define PLAIN 7
#define WINDOW 16
#define FLUSHES(id_) ((id_) % 3 == 0)

enum { ALL, ONE, LOCAL_ALL, LOCAL_ONE, KINDS };

static MPI_Win win;
static _Atomic uint64_t *mem, *peer_mem;
static int items;
static atomic_long issued;
static atomic_int flushing;     /* threads that have not finished */

/* Never without something under way, but with a limit to it, as no library can hold any number of
 * puts: most are plain ones, and one in PLAIN + 1 has a request, of which WINDOW are kept. */
static void putter(int id)
{
    uint64_t *out = mt_alloc((size_t) items * sizeof(*out));
    MPI_Aint at = (MPI_Aint) id * items;
    MPI_Request r[WINDOW];

    for (int k = 0; k < WINDOW; k++)
        r[k] = MPI_REQUEST_NULL;
    for (unsigned n = 0; atomic_load(&flushing); n++) {
        for (int k = 0; k < PLAIN; k++)
            MT_OK(MPI_Put(out, items, MPI_UINT64_T, mt.peer, at, items, MPI_UINT64_T, win));
        MT_OK(MPI_Wait(&r[n % WINDOW], MPI_STATUS_IGNORE));
        MT_OK(MPI_Rput(out, items, MPI_UINT64_T, mt.peer, at, items, MPI_UINT64_T, win,
                       &r[n % WINDOW]));
        atomic_fetch_add(&issued, PLAIN + 1);
    }
    MT_OK(MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE));
    MT_OK(MPI_Win_flush(mt.peer, win));
    free(out);
}

static void flush(int kind)
{
    switch (kind) {
        case ALL: MT_OK(MPI_Win_flush_all(win)); break;
        case ONE: MT_OK(MPI_Win_flush(mt.peer, win)); break;
        case LOCAL_ALL: MT_OK(MPI_Win_flush_local_all(win)); break;
        default: MT_OK(MPI_Win_flush_local(mt.peer, win));
    }
}

/* After a local flush the buffer is ours again, and the put arrives with the next flush. */
static void put_and_get(uint64_t n, int kind, MPI_Aint at)
{
    uint64_t word = n;

    MT_OK(MPI_Put(&word, 1, MPI_UINT64_T, mt.peer, at, 1, MPI_UINT64_T, win));
    flush(kind);
    word = 0;
    if (kind == LOCAL_ALL || kind == LOCAL_ONE)
        flush(ONE);
    MT_CHECK(atomic_load(&peer_mem[at]) == n, "after a flush the peer has %llu instead of %llu",
             (unsigned long long) atomic_load(&peer_mem[at]), (unsigned long long) n);
    MT_OK(MPI_Get(&word, 1, MPI_UINT64_T, mt.peer, at, 1, MPI_UINT64_T, win));
    flush(kind);
    MT_CHECK(word == n, "a get before a flush returned %llu instead of %llu",
             (unsigned long long) word, (unsigned long long) n);
}

/* Every other flush has no operation of this thread to complete. */
static void flusher(int id)
{
    for (long n = 1; n <= mt.iters || atomic_load(&issued) < PUTS; n++) {
        int kind = (int) (n / 2 % KINDS);
        if (n % 2)
            flush(kind);
        else
            put_and_get((uint64_t) n, kind, (MPI_Aint) id * items);
    }
    atomic_fetch_sub(&flushing, 1);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    if (FLUSHES(t->id))
        flusher(t->id);
    else
        putter(t->id);
    return NULL;
}

static void *map(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR);
    void *at = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t) bytes) == 0)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MT_CHECK(at != MAP_FAILED, "cannot map %s: %s", path, strerror(errno));
    close(fd);
    return at;
}

static void map_windows(size_t bytes)
{
    char own[] = "/tmp/rma_flush_busy.XXXXXX", peer[sizeof(own)];
    int fd = mkstemp(own);
    MT_CHECK(fd >= 0, "cannot make a file in /tmp");
    close(fd);
    MT_OK(MPI_Sendrecv(own, sizeof(own), MPI_CHAR, mt.peer, 0, peer, sizeof(peer), MPI_CHAR,
                       mt.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    mem = map(own, bytes);
    peer_mem = map(peer, bytes);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    unlink(own);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 2, 50);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    items = mt.bytes ? (int) (mt.bytes / 8) : 1;
    MT_CHECK(items > 0, "-s at least 8");
    size_t bytes = (size_t) mt.threads * (size_t) items * sizeof(*mem);
    map_windows(bytes);
    MT_OK(MPI_Win_create((void *) mem, (MPI_Aint) bytes, sizeof(*mem), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    if (mt.rank == 0) {
        for (int id = 0; id < mt.threads; id++)
            flushing += FLUSHES(id);
        mt_run(mt.threads, worker);
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, STOP, MPI_COMM_WORLD));
    } else {
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    munmap((void *) mem, bytes);
    munmap((void *) peer_mem, bytes);
    return mt_finish();
}

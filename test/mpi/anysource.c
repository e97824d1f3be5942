/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Any-source, any-tag receives by many threads on several communicators (so several VCIs where
 * the library has them), from every process, itself included: every message exactly once. */
#include "mt.h"

#define COMMS 4
#define BATCH 8
#define MAX_BYTES 20000

typedef struct {
    int rank, thread, index, bytes;
} header_t;

static MPI_Comm comm[COMMS];
static atomic_uchar *seen;      /* [rank][thread][index] */
static atomic_long received;

static void note(const char *buf, MPI_Status * st, int comm_index)
{
    header_t h;
    int got;
    memcpy(&h, buf, sizeof(h));
    MPI_Get_count(st, MPI_BYTE, &got);
    MT_CHECK(got == h.bytes, "%d bytes of a message of %d", got, h.bytes);
    MT_CHECK(h.rank == st->MPI_SOURCE && h.thread == st->MPI_TAG, "status names another sender");
    MT_CHECK(h.thread % COMMS == comm_index, "message of another communicator");
    MT_CHECK(buf[got - 1] == (char) h.index, "damaged message");
    size_t k = ((size_t) h.rank * mt.threads + h.thread) * mt.iters + h.index;
    MT_CHECK(atomic_exchange(&seen[k], 1) == 0, "rank %d thread %d message %d came twice",
             h.rank, h.thread, h.index);
    atomic_fetch_add(&received, 1);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    int c = t->id % COMMS, per_batch = BATCH * mt.size, nsends = 0;
    MPI_Request *sends = mt_alloc(sizeof(MPI_Request) * (size_t) mt.iters * mt.size);
    MPI_Request *recvs = mt_alloc(sizeof(MPI_Request) * per_batch);
    MPI_Status *st = mt_alloc(sizeof(MPI_Status) * per_batch);
    char *in = mt_alloc((size_t) per_batch * MAX_BYTES);
    char **out = mt_alloc(sizeof(char *) * (size_t) mt.iters);

    /* the sends are completed at the end only, so that no thread can hold up another's receives */
    for (long i = 0; i < mt.iters; i += BATCH) {
        for (int k = 0; k < per_batch; k++)
            MPI_Irecv(in + (size_t) k * MAX_BYTES, MAX_BYTES, MPI_BYTE, MPI_ANY_SOURCE,
                      MPI_ANY_TAG, comm[c], &recvs[k]);
        for (long j = i; j < i + BATCH; j++) {
            uint64_t h = mt_rand(&t->rng);
            int bytes = (int) sizeof(header_t) + 1 + (int) (h % 32 ? (h >> 8) % 200 : 18000);
            header_t head = { mt.rank, t->id, (int) j, bytes };
            out[j] = mt_alloc((size_t) bytes);
            memcpy(out[j], &head, sizeof(head));
            out[j][bytes - 1] = (char) j;
            for (int p = 0; p < mt.size; p++)
                MPI_Isend(out[j], bytes, MPI_BYTE, p, t->id, comm[c], &sends[nsends++]);
        }
        MPI_Waitall(per_batch, recvs, st);
        for (int k = 0; k < per_batch; k++)
            note(in + (size_t) k * MAX_BYTES, &st[k], c);
    }
    MPI_Waitall(nsends, sends, MPI_STATUSES_IGNORE);
    for (long j = 0; j < mt.iters; j++)
        free(out[j]);
    free(out);
    free(in);
    free(st);
    free(recvs);
    free(sends);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 96);
    mt.iters = (mt.iters + BATCH - 1) / BATCH * BATCH;
    size_t expected = (size_t) mt.size * mt.threads * mt.iters;
    seen = mt_alloc(sizeof(*seen) * expected);
    for (int c = 0; c < COMMS; c++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
    mt_run(mt.threads, worker);
    MT_CHECK(atomic_load(&received) == (long) expected, "%ld messages instead of %zu",
             atomic_load(&received), expected);
    for (int c = 0; c < COMMS; c++)
        MPI_Comm_free(&comm[c]);
    free(seen);
    return mt_finish();
}

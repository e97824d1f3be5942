/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A random mix of everything.  Thread i of a process and thread i of its peer draw the same
 * operations from one seed (-r; 0 takes one from the clock) and check each other's data. */
#include "mt.h"
#include <time.h>

#define MAX_BYTES 100000
#define MAX_DEPTH 8

typedef struct {
    int id;
    uint64_t *rng;              /* in step with the peer's */
    MPI_Comm comm;
    MPI_Win win;
    unsigned char *mem, *in, *out;
    long round;
} mix_t;

static mix_t mix[MT_MAX_THREADS];

static unsigned char mark(const mix_t * m, int rank, int k)
{
    return (unsigned char) (m->round * 31 + m->id * 7 + rank * 3 + k);
}

static int draw(mix_t * m, int n)
{
    return (int) (mt_rand(m->rng) % (uint64_t) n);
}

static int draw_bytes(mix_t * m)
{
    static const int limit[] = { 8, 64, 1024, 1024, 16384, MAX_BYTES };
    return 1 + draw(m, limit[draw(m, 6)]);
}

static void expect(const mix_t * m, const unsigned char *b, int bytes, int k, const char *what)
{
    unsigned char want = mark(m, mt.peer, k);
    MT_CHECK(b[0] == want && b[bytes - 1] == want, "thread %d round %ld: %s of %d bytes damaged",
             m->id, m->round, what, bytes);
}

/* several messages at a time, completed in one of several ways */
static void burst(mix_t * m)
{
    int depth = 1 + draw(m, MAX_DEPTH), bytes = draw_bytes(m) / MAX_DEPTH + 1, how = draw(m, 4);
    MPI_Request r[2 * MAX_DEPTH];
    for (int k = 0; k < depth; k++)
        MPI_Irecv(m->in + k * bytes, bytes, MPI_BYTE, how & 1 ? MPI_ANY_SOURCE : mt.peer,
                  how & 2 ? MPI_ANY_TAG : m->id, m->comm, &r[k]);
    for (int k = 0; k < depth; k++) {
        memset(m->out + k * bytes, mark(m, mt.rank, k), (size_t) bytes);
        if ((how + k) % 3)
            MPI_Isend(m->out + k * bytes, bytes, MPI_BYTE, mt.peer, m->id, m->comm, &r[depth + k]);
        else
            MPI_Issend(m->out + k * bytes, bytes, MPI_BYTE, mt.peer, m->id, m->comm,
                       &r[depth + k]);
    }
    for (int done = 0, flag = 0, index; done < 2 * depth;) {
        if (how == 0) {
            MPI_Waitall(2 * depth, r, MPI_STATUSES_IGNORE);
            break;
        }
        if (how == 1)
            MPI_Testany(2 * depth, r, &index, &flag, MPI_STATUS_IGNORE);
        else
            flag = MPI_Waitany(2 * depth, r, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        done += flag;
    }
    for (int k = 0; k < depth; k++)
        expect(m, m->in + k * bytes, bytes, k, "burst");
}

static void probed(mix_t * m)
{
    int bytes = draw_bytes(m), how = draw(m, 3), flag = 0, count;
    MPI_Request r;
    MPI_Status st;
    MPI_Message msg;
    memset(m->out, mark(m, mt.rank, 0), (size_t) bytes);
    MPI_Isend(m->out, bytes, MPI_BYTE, mt.peer, m->id, m->comm, &r);
    if (how == 0) {
        MPI_Probe(mt.peer, m->id, m->comm, &st);
    } else if (how == 1) {
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, m->id, m->comm, &flag, &st);
    } else {
        MPI_Mprobe(mt.peer, MPI_ANY_TAG, m->comm, &msg, &st);
    }
    MPI_Get_count(&st, MPI_BYTE, &count);
    MT_CHECK(count == bytes, "probe says %d bytes instead of %d", count, bytes);
    if (how == 2)
        MPI_Mrecv(m->in, bytes, MPI_BYTE, &msg, &st);
    else
        MPI_Recv(m->in, bytes, MPI_BYTE, mt.peer, m->id, m->comm, &st);
    expect(m, m->in, bytes, 0, "probed message");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void collective(mix_t * m)
{
    int in = mt.rank + (int) m->round, out = -1;
    MPI_Request r;
    if (draw(m, 2)) {
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, m->comm);
    } else {
        MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, m->comm, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MT_CHECK(out == 2 * (int) m->round + 1, "sum is %d", out);
}

static void one_sided(mix_t * m)
{
    int bytes = draw_bytes(m);
    memset(m->out, mark(m, mt.rank, 0), (size_t) bytes);
    MPI_Win_lock(draw(m, 2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, mt.peer, 0, m->win);
    MPI_Put(m->out, bytes, MPI_BYTE, mt.peer, 0, bytes, MPI_BYTE, m->win);
    MPI_Win_flush(mt.peer, m->win);
    memset(m->in, 0, (size_t) bytes);
    MPI_Get(m->in, bytes, MPI_BYTE, mt.peer, 0, bytes, MPI_BYTE, m->win);
    MPI_Win_unlock(mt.peer, m->win);
    MT_CHECK(!memcmp(m->in, m->out, (size_t) bytes), "get is not what was put");
    MPI_Barrier(m->comm);
}

static void cancelled(mix_t * m)
{
    int flag;
    MPI_Request r;
    MPI_Status st;
    MPI_Irecv(m->in, 1, MPI_BYTE, mt.peer, m->id + MT_MAX_THREADS, m->comm, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &st);
    MPI_Test_cancelled(&st, &flag);
    MT_CHECK(flag, "a receive without a message was not cancelled");
}

static void persistent_typed(mix_t * m)
{
    int n = 1 + draw(m, 500);
    MPI_Request r[2];
    MPI_Datatype type;
    MPI_Type_vector(n, 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Recv_init(m->in, n, MPI_BYTE, mt.peer, m->id, m->comm, &r[0]);
    MPI_Send_init(m->out, 1, type, mt.peer, m->id, m->comm, &r[1]);
    MPI_Type_free(&type);
    for (int k = 0; k < 3; k++) {
        memset(m->out, mark(m, mt.rank, k), 2 * (size_t) n);
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        expect(m, m->in, n, k, "persistent message");
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void *worker(void *arg)
{
    static void (*const operation[]) (mix_t *) = {
        burst, burst, burst, probed, collective, one_sided, cancelled, persistent_typed};
    mt_thread_t *t = arg;
    mix_t *m = &mix[t->id];
    uint64_t rng = mt_rng(0, t->id);
    m->id = t->id;
    m->rng = &rng;
    for (m->round = 0; m->round < mt.iters; m->round++)
        operation[draw(m, (int) (sizeof(operation) / sizeof(operation[0])))] (m);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 6, 300);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    if (mt.seed == 0)
        mt.seed = (uint64_t) time(NULL) ^ ((uint64_t) getpid() << 32);
    MPI_Bcast(&mt.seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (mt.rank == 0)
        printf("seed %llu\n", (unsigned long long) mt.seed);
    fflush(stdout);
    for (int i = 0; i < mt.threads; i++) {
        mix_t *m = &mix[i];
        m->mem = mt_alloc(MAX_BYTES);
        m->in = mt_alloc(2 * MAX_BYTES);
        m->out = mt_alloc(2 * MAX_BYTES);
        MPI_Comm_dup(MPI_COMM_WORLD, &m->comm);
        MPI_Win_create(m->mem, MAX_BYTES, 1, MPI_INFO_NULL, m->comm, &m->win);
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MPI_Win_free(&mix[i].win);
        MPI_Comm_free(&mix[i].comm);
        free(mix[i].mem);
        free(mix[i].in);
        free(mix[i].out);
    }
    return mt_finish();
}

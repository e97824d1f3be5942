/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Compares which message each receive gets with a simple model of MPI's rules: random tags, exact and
 * wildcard receives mixed, receives posted before and after the messages arrive, the rest cancelled
 * or received in the order of arrival. Every thread has its own communicator, so the library's
 * queues hold the receives of all at a time. */
#include "mt.h"

#define N 48
#define TAGS 5
#define GO TAGS                 /* both sides are ready, on the second communicator */
#define LAST (TAGS + 1)         /* all messages of the round have arrived */

static MPI_Comm comm[MT_MAX_THREADS], sync_comm[MT_MAX_THREADS];

typedef struct {
    int source, tag;
    int message;                /* what the model gives it: index of a message or -1 */
} posted_t;

static int fits(const posted_t * p, int tag)
{
    return p->tag == MPI_ANY_TAG || p->tag == tag;
}

static void random_receives(uint64_t * rng, posted_t * p)
{
    for (int i = 0; i < N; i++) {
        uint64_t x = mt_rand(rng);
        p[i].tag = x % 6 == 0 ? MPI_ANY_TAG : (int) (x / 6 % TAGS);
        p[i].source = x / 64 % 4 == 0 ? MPI_ANY_SOURCE : mt.peer;
        p[i].message = -1;
    }
}

/* Receives first: a message takes the receive that was posted first. */
static void model_posted(posted_t * p, const int *tag, int *taken)
{
    for (int m = 0; m < N; m++) {
        taken[m] = 0;
        for (int i = 0; i < N && !taken[m]; i++) {
            if (p[i].message == -1 && fits(&p[i], tag[m])) {
                p[i].message = m;
                taken[m] = 1;
            }
        }
    }
}

/* Messages first: a receive takes the message that arrived first. */
static void model_unexpected(posted_t * p, const int *tag, int *taken)
{
    memset(taken, 0, N * sizeof(int));
    for (int i = 0; i < N; i++) {
        for (int m = 0; m < N && p[i].message == -1; m++) {
            if (!taken[m] && fits(&p[i], tag[m])) {
                p[i].message = m;
                taken[m] = 1;
            }
        }
    }
}

static void post(MPI_Comm c, const posted_t * p, int *in, MPI_Request * r)
{
    for (int i = 0; i < N; i++)
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, p[i].source, p[i].tag, c, &r[i]));
}

static void check(MPI_Comm c, const posted_t * p, const int *tag, const int *taken, int *in,
                  MPI_Request * r)
{
    MPI_Status st;
    int flag, value;

    for (int i = 0; i < N; i++) {
        if (p[i].message >= 0) {
            MT_OK(MPI_Wait(&r[i], &st));
            MT_CHECK(in[i] == p[i].message && st.MPI_TAG == tag[in[i]] &&
                     st.MPI_SOURCE == mt.peer, "receive %d got message %d instead of %d", i, in[i],
                     p[i].message);
        }
    }
    for (int m = 0; m < N; m++) {
        if (!taken[m]) {
            MT_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag[m], c, MPI_STATUS_IGNORE));
            MT_CHECK(value == m, "message %d instead of %d of tag %d", value, m, tag[m]);
        }
    }
    for (int i = 0; i < N; i++) {
        if (p[i].message < 0) {
            MT_OK(MPI_Cancel(&r[i]));
            MT_OK(MPI_Wait(&r[i], &st));
            MT_OK(MPI_Test_cancelled(&st, &flag));
            MT_CHECK(flag, "receive %d of tag %d is not cancelled", i, p[i].tag);
        }
    }
}

static void receive_round(mt_thread_t * t, const int *tag, uint64_t * rng, int unexpected)
{
    MPI_Comm c = comm[t->id];
    posted_t p[N];
    int in[N], taken[N];
    MPI_Request r[N];

    random_receives(rng, p);
    if (unexpected) {
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, LAST, c, MPI_STATUS_IGNORE));
        model_unexpected(p, tag, taken);
        post(c, p, in, r);
    } else {
        model_posted(p, tag, taken);
        post(c, p, in, r);
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, GO, sync_comm[t->id]));
    }
    check(c, p, tag, taken, in, r);
    MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, GO, sync_comm[t->id]));
}

static void send_round(mt_thread_t * t, const int *tag, int unexpected)
{
    MPI_Comm c = comm[t->id];

    if (!unexpected)
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, GO, sync_comm[t->id], MPI_STATUS_IGNORE));
    for (int m = 0; m < N; m++)
        MT_OK(MPI_Send(&m, 1, MPI_INT, mt.peer, tag[m], c));
    if (unexpected)
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, LAST, c));
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, GO, sync_comm[t->id], MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    uint64_t tags = mt_rng(1, t->id);   /* the same in both processes */

    for (long i = 0; i < mt.iters; i++) {
        int tag[N];
        for (int m = 0; m < N; m++)
            tag[m] = (int) (mt_rand(&tags) % TAGS);
        if (mt.rank % 2 == 0)
            receive_round(t, tag, &t->rng, (int) (i % 2));
        else
            send_round(t, tag, (int) (i % 2));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 200);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    for (int i = 0; i < mt.threads; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Comm_dup(MPI_COMM_WORLD, &sync_comm[i]);
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MPI_Comm_free(&comm[i]);
        MPI_Comm_free(&sync_comm[i]);
    }
    return mt_finish();
}

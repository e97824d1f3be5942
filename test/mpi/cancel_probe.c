/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Cancel and probe under contention.
 *   cancel   a posted receive is either cancelled, and the message is still there, or received
 *   probe    every kind of probe by many threads, any source and tag: each message exactly once
 *   order    a probe must not see the message that the thread's own earlier receive takes */
#include "mt.h"

static MPI_Comm any_comm;
static atomic_uchar *seen;

static void *cancel(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        int value = -1, cancelled;
        MPI_Request r;
        MPI_Status st;
        if (mt.rank % 2) {
            value = (int) i;
            mt_delay((unsigned) (mt_rand(&t->rng) % 2000));
            MPI_Send(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Irecv(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &r);
        mt_delay((unsigned) (mt_rand(&t->rng) % 2000));
        MPI_Cancel(&r);
        MPI_Wait(&r, &st);
        MPI_Test_cancelled(&st, &cancelled);
        if (cancelled) {
            MT_CHECK(value == -1, "a cancelled receive changed its buffer");
            MPI_Recv(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MT_CHECK(value == (int) i, "%s: %d instead of %ld", cancelled ? "after the cancel" :
                 "not cancelled", value, i);
        MPI_Send(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD);
    }
    return NULL;
}

static int matched_any(int poll, int value[2], MPI_Status * st)
{
    MPI_Message m;
    int flag = 0;
    if (poll) {
        while (!flag)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, any_comm, &flag, &m, st);
        MPI_Request r;
        MPI_Imrecv(value, 2, MPI_INT, &m, &r);
        MPI_Wait(&r, st);
    } else {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, any_comm, &m, st);
        MPI_Mrecv(value, 2, MPI_INT, &m, st);
    }
    MPI_Get_count(st, MPI_INT, &flag);
    return flag;
}

/* Named: only this thread receives from this tag, so an unmatched probe is safe. */
static int probed_named(int id, int poll, int value[2], MPI_Status * st)
{
    int flag = 0, count;
    if (poll) {
        while (!flag)
            MPI_Iprobe(mt.peer, id, MPI_COMM_WORLD, &flag, st);
    } else {
        MPI_Probe(mt.peer, id, MPI_COMM_WORLD, st);
    }
    MPI_Get_count(st, MPI_INT, &count);
    MPI_Recv(value, count, MPI_INT, mt.peer, id, MPI_COMM_WORLD, st);
    return count;
}

static void *probe(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        int value[2] = { t->id, (int) i }, named[2] = { t->id, (int) i };
        MPI_Request r[2];
        MPI_Status st;
        MPI_Isend(value, 2, MPI_INT, mt.peer, t->id, any_comm, &r[0]);
        MPI_Isend(named, 2, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &r[1]);
        int in[2] = { -1, -1 };
        MT_CHECK(probed_named(t->id, (int) i % 2, in, &st) == 2, "wrong count");
        MT_CHECK(in[0] == t->id && in[1] == (int) i, "probe and receive gave %d %d", in[0], in[1]);
        MT_CHECK(matched_any((int) i / 2 % 2, in, &st) == 2, "wrong count");
        MT_CHECK(in[0] == st.MPI_TAG && in[0] < mt.threads && in[1] < mt.iters, "wrong message");
        MT_CHECK(!atomic_exchange(&seen[in[0] * mt.iters + in[1]], 1), "message came twice");
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

/* First message one integer, second two: the count shows which one the probe saw. */
static void *order(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        int first[2] = { -1, -1 }, second[2] = { -1, -1 }, out[2] = { (int) i, 5 }, count;
        MPI_Request r[3];
        MPI_Status st;
        MPI_Irecv(first, 2, MPI_INT, i % 3 ? mt.peer : MPI_ANY_SOURCE, t->id, MPI_COMM_WORLD,
                  &r[0]);
        MPI_Isend(out, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(out, 2, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &r[2]);
        MT_CHECK((count = probed_named(t->id, (int) i % 2, second, &st)) == 2,
                 "the probe saw the message of the earlier receive (count %d)", count);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        MT_CHECK(first[0] == (int) i && first[1] == -1, "earlier receive got %d %d", first[0],
                 first[1]);
        MT_CHECK(second[0] == (int) i && second[1] == 5, "later receive got another message");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 100);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    seen = mt_alloc(sizeof(*seen) * (size_t) mt.threads * mt.iters);
    MPI_Comm_dup(MPI_COMM_WORLD, &any_comm);
    mt_run(mt.threads, cancel);
    mt_run(mt.threads, probe);
    MPI_Barrier(MPI_COMM_WORLD);
    mt_run(mt.threads, order);
    for (long k = 0; k < mt.threads * mt.iters; k++)
        MT_CHECK(seen[k], "message %ld never came", k);
    MPI_Comm_free(&any_comm);
    free(seen);
    return mt_finish();
}

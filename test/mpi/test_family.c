/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Test, Testall, Testany, Testsome, Waitany, Waitsome and Request_get_status: they report a
 * request whose message has arrived within a bounded number of calls, however busy the library is;
 * null and inactive requests are complete at once.  The test counts calls and never times them. */
#include "mt.h"

#include <sched.h>

#define N 5
#define BOUND 10000000L

enum { TEST, TESTALL, TESTANY, TESTSOME, WAITANY, WAITSOME, GET_STATUS, KINDS };

/* One call; returns how many more requests are done. */
static int one_call(int kind, MPI_Request * r)
{
    int flag = 0, index, n, indices[N];
    switch (kind) {
        case TESTALL:
            MPI_Testall(N, r, &flag, MPI_STATUSES_IGNORE);
            return flag ? N : 0;
        case TESTANY:
            MPI_Testany(N, r, &index, &flag, MPI_STATUS_IGNORE);
            return flag && index != MPI_UNDEFINED;
        case TESTSOME:
            MPI_Testsome(N, r, &n, indices, MPI_STATUSES_IGNORE);
            return n;
        case WAITANY:
            MPI_Waitany(N, r, &index, MPI_STATUS_IGNORE);
            return index != MPI_UNDEFINED;
        case WAITSOME:
            MPI_Waitsome(N, r, &n, indices, MPI_STATUSES_IGNORE);
            return n;
        default:
            break;
    }
    for (n = 0; n < N && r[n] == MPI_REQUEST_NULL; n++);
    if (n == N)
        return 0;
    if (kind == GET_STATUS) {
        MPI_Request_get_status(r[n], &flag, MPI_STATUS_IGNORE);
        if (!flag)
            return 0;
        /* known to be complete: the next call must report it, without another poll */
        MPI_Test(&r[n], &flag, MPI_STATUS_IGNORE);
        MT_CHECK(flag, "MPI_Test denies what MPI_Request_get_status reported");
        return 1;
    }
    MPI_Test(&r[n], &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void complete(int kind, MPI_Request * r)
{
    long calls = 0;
    for (int done = 0; done < N; calls++) {
        MT_CHECK(calls < BOUND, "kind %d: %d of %d done after %ld calls", kind, done, N, calls);
        done += one_call(kind, r);
        if (calls % 64 == 63)
            sched_yield();      /* to a thread that the system has stopped with the VCI held */
    }
    for (int k = 0; k < N; k++)
        MT_CHECK(r[k] == MPI_REQUEST_NULL, "kind %d: request %d not null", kind, k);
}

static void inactive(int id)
{
    int flag, index, b = 0;
    MPI_Status st;
    MPI_Request null[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL }, p;
    MPI_Test(&null[0], &flag, &st);
    MT_CHECK(flag && st.MPI_SOURCE == MPI_ANY_SOURCE, "MPI_Test of a null request");
    MPI_Testall(2, null, &flag, MPI_STATUSES_IGNORE);
    MT_CHECK(flag, "MPI_Testall of null requests");
    MPI_Testany(2, null, &index, &flag, &st);
    MT_CHECK(flag && index == MPI_UNDEFINED, "MPI_Testany of null requests");
    MPI_Recv_init(&b, 1, MPI_INT, mt.peer, 1000 + id, MPI_COMM_WORLD, &p);
    MPI_Test(&p, &flag, &st);
    MT_CHECK(flag && st.MPI_TAG == MPI_ANY_TAG, "MPI_Test of an inactive request");
    MPI_Request_get_status(p, &flag, &st);
    MT_CHECK(flag, "MPI_Request_get_status of an inactive request");
    MPI_Request_free(&p);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        int in[N], out[N], after = 0;
        MPI_Request r[N], s[N + 1];
        for (int k = 0; k < N; k++) {
            out[k] = (int) i + k;
            MPI_Irecv(&in[k], 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &r[k]);
        }
        for (int k = 0; k < N; k++)
            MPI_Isend(&out[k], 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &s[k]);
        MPI_Isend(&after, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, &s[N]);
        /* what was sent last is here, so the rest is, too */
        MPI_Recv(&after, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        complete((int) ((i + t->id) % KINDS), r);
        for (int k = 0; k < N; k++)
            MT_CHECK(in[k] == (int) i + k, "message %d of round %ld is %d", k, i, in[k]);
        MPI_Waitall(N + 1, s, MPI_STATUSES_IGNORE);
        inactive(t->id);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 200);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    mt_run(mt.threads, worker);
    return mt_finish();
}

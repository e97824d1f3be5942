/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What is not a plain send or receive, beside messages that ghosts move: combined calls, a nonblocking
 * duplicate, a graph, generalized and partitioned requests, a dynamic window, calls with large
 * counts, and memory of MPI_Alloc_mem that threads take and give back. */
#include "../mt.h"

#define PARTITIONS 4
#define BYTES 70000

static int next, prev;
static MPI_Comm comms[MT_MAX_THREADS];

static void combined(void)
{
    int out = mt.rank, in = -1;
    MPI_Request r;
    MPI_Status s;
    MT_OK(MPI_Isendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                        &r));
    MT_OK(MPI_Wait(&r, &s));
    MT_CHECK(in == prev && s.MPI_SOURCE == prev, "%d from %d", in, s.MPI_SOURCE);
    MT_OK(MPI_Isendrecv_replace(&out, 1, MPI_INT, next, 2, prev, 2, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MT_CHECK(out == prev, "replaced by %d", out);
}

/* The duplicate is made while a receive waits for the message that is sent on it last. */
static void duplicate(void)
{
    int in[2] = { -1, -1 };
    MPI_Comm dup;
    MPI_Request r[2];
    MT_OK(MPI_Irecv(&in[0], 1, MPI_INT, prev, 3, MPI_COMM_WORLD, &r[0]));
    MT_OK(MPI_Comm_idup(MPI_COMM_WORLD, &dup, &r[1]));
    MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    MT_OK(MPI_Irecv(&in[1], 1, MPI_INT, prev, 3, dup, &r[1]));
    MT_OK(MPI_Send(&mt.rank, 1, MPI_INT, next, 3, dup));
    MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    MT_OK(MPI_Send(&next, 1, MPI_INT, next, 3, MPI_COMM_WORLD));
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    MT_CHECK(in[0] == mt.rank && in[1] == prev, "received %d and %d", in[0], in[1]);
    MT_OK(MPI_Comm_free(&dup));
}

static void graph(void)
{
    int in = -1, got = -1;
    MPI_Comm ring;
    MPI_Request r;
    MT_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &prev, MPI_UNWEIGHTED, 1, &next,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring));
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, prev, 4, ring, &r));
    MT_OK(MPI_Neighbor_allgather(&mt.rank, 1, MPI_INT, &got, 1, MPI_INT, ring));
    MT_OK(MPI_Send(&mt.rank, 1, MPI_INT, next, 4, ring));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    MT_CHECK(in == prev && got == prev, "received %d, gathered %d", in, got);
    MT_OK(MPI_Comm_free(&ring));
}

static int query(void *extra, MPI_Status * status)
{
    (void) extra;
    MT_OK(MPI_Status_set_elements(status, MPI_INT, 0));
    MT_OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}

static int nothing(void *extra)
{
    (void) extra;
    return MPI_SUCCESS;
}

static int no_cancel(void *extra, int is_complete)
{
    (void) extra, (void) is_complete;
    return MPI_SUCCESS;
}

static void *complete_it(void *arg)
{
    usleep(1000);
    MT_OK(MPI_Grequest_complete(*(MPI_Request *) arg));
    return NULL;
}

static void requests_beside(void)
{
    int in = -1, data[PARTITIONS], from[PARTITIONS];
    pthread_t thread;
    MPI_Request r[4], general;
    MT_OK(MPI_Precv_init(from, PARTITIONS, 1, MPI_INT, prev, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    MT_OK(MPI_Psend_init(data, PARTITIONS, 1, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    MT_OK(MPI_Startall(2, r));
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, prev, 6, MPI_COMM_WORLD, &r[2]));
    MT_OK(MPI_Grequest_start(query, nothing, no_cancel, NULL, &general));
    r[3] = general;
    MT_CHECK(!pthread_create(&thread, NULL, complete_it, &general), "cannot create a thread");
    for (int i = 0; i < PARTITIONS; i++) {
        data[i] = mt.rank + i;
        MT_OK(MPI_Pready(i, r[1]));
    }
    MT_OK(MPI_Send(&mt.rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD));
    MT_OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    pthread_join(thread, NULL);
    MT_CHECK(in == prev && r[2] == MPI_REQUEST_NULL && r[3] == MPI_REQUEST_NULL, "received %d", in);
    for (int i = 0; i < PARTITIONS; i++)
        MT_CHECK(from[i] == prev + i, "partition %d: %d", i, from[i]);
    MT_OK(MPI_Request_free(&r[0]));
    MT_OK(MPI_Request_free(&r[1]));
}

static void dynamic_window(void)
{
    int value = -1, *fixed;
    MPI_Aint mine, theirs;
    MPI_Win win, offloaded;
    MT_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &fixed, &offloaded));
    MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_attach(win, &value, sizeof(value)));
    MT_OK(MPI_Get_address(&value, &mine));
    MT_OK(MPI_Sendrecv(&mine, 1, MPI_AINT, prev, 7, &theirs, 1, MPI_AINT, next, 7, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Win_fence(0, offloaded));
    MT_OK(MPI_Put(&mt.rank, 1, MPI_INT, next, theirs, 1, MPI_INT, win));
    MT_OK(MPI_Put(&mt.rank, 1, MPI_INT, next, 0, 1, MPI_INT, offloaded));
    MT_OK(MPI_Win_fence(0, offloaded));
    MT_OK(MPI_Win_fence(0, win));
    MT_CHECK(value == prev && *fixed == prev, "puts brought %d and %d", value, *fixed);
    MT_OK(MPI_Win_detach(win, &value));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Win_free(&offloaded));
}

static void large_counts(void)
{
    int in = -1;
    MPI_Request r;
    MPI_Count n;
    MPI_Status s;
    MT_OK(MPI_Irecv_c(&in, 1, MPI_INT, prev, 8, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Send_c(&mt.rank, 1, MPI_INT, next, 8, MPI_COMM_WORLD));
    MT_OK(MPI_Wait(&r, &s));
    MT_OK(MPI_Get_count_c(&s, MPI_INT, &n));
    MT_CHECK(in == prev && n == 1, "received %d, %lld elements", in, (long long) n);
}

static void *take_memory(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    for (int i = 0; i < (int) mt.iters; i++) {
        char *out, *in;
        MPI_Request r[2];
        MT_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &out));
        MT_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &in));
        memset(out, i + id, BYTES);
        MT_OK(MPI_Irecv(in, BYTES, MPI_CHAR, prev, i, comms[id], &r[0]));
        MT_OK(MPI_Isend(out, BYTES, MPI_CHAR, next, i, comms[id], &r[1]));
        MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        MT_CHECK(!memcmp(in, out, BYTES), "thread %d, message %d: other data", id, i);
        MT_OK(MPI_Free_mem(out));
        MT_OK(MPI_Free_mem(in));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 20);
    next = (mt.rank + 1) % mt.size;
    prev = (mt.rank + mt.size - 1) % mt.size;
    for (int i = 0; i < (int) mt.iters; i++) {
        combined();
        duplicate();
        graph();
        requests_beside();
        dynamic_window();
        large_counts();
    }
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    mt_run(mt.threads, take_memory);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comms[i]));
    return mt_finish();
}

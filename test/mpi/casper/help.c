/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Users that wait do without their ghost: while it is stopped, two users exchange messages of all
 * sizes, in all orders, with probes, wildcards, cancels and synchronous sends; and one of them alone
 * moves the messages of another that is outside MPI, and its probes find them. Then the ghost goes on.
 * What only it can do waits for it, and nothing is lost. With three users: one that has posted much
 * does not keep the posts of another waiting. CSP_NG=1, two or three users on one node. */
#include "ghost.h"

#define MOST     (1 << 20)
#define MANY     250            /* more than there are slots, fewer than items */
#define FLOOD    400            /* more than a ring of answers has room for */
#define STREAM   200            /* many times what a look takes, less than a ring has room for */
#define FEW      150            /* two looks take fewer */

static const int sizes[] = { 0, 1, 64, 65, 4096, 8192, 8193, 65536, 65537, MOST };
static char *out, *in;

static char byte_of(int from, int number, int i)
{
    return (char) (mt_hash((uint64_t) (from * 1000 + number)) + (uint64_t) i * 7);
}

static void fill(int number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = byte_of(mt.rank, number, i);
    memset(in, 0, MOST);
}

static void check(int number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        MT_CHECK(in[i] == byte_of(mt.peer, number, i), "message %d of %d bytes: byte %d", number,
                 bytes, i);
}

/* order: 0: receive first; 1: send first; 2: the same, synchronous; 3: one process of each kind */
static void exchange(int bytes, int order)
{
    MPI_Request req[2];
    const int first = order == 0 || (order == 3 && mt.rank == 0);
    fill(order, bytes);
    if (first)
        MT_OK(MPI_Irecv(in, MOST, MPI_BYTE, MPI_ANY_SOURCE, order, MPI_COMM_WORLD, &req[0]));
    if (order == 2)
        MT_OK(MPI_Issend(out, bytes, MPI_BYTE, mt.peer, order, MPI_COMM_WORLD, &req[1]));
    else
        MT_OK(MPI_Isend(out, bytes, MPI_BYTE, mt.peer, order, MPI_COMM_WORLD, &req[1]));
    if (!first)
        MT_OK(MPI_Irecv(in, MOST, MPI_BYTE, mt.peer, MPI_ANY_TAG, MPI_COMM_WORLD, &req[0]));
    MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
    check(order, bytes);
}

static void probes(void)
{
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Message msg;
    MPI_Status st;
    int flag = 0, got;
    fill(9, 20000);
    MT_OK(MPI_Iprobe(mt.peer, 77, MPI_COMM_WORLD, &flag, &st));
    MT_CHECK(!flag, "a message that nobody sends");
    MT_OK(MPI_Isend(out, 20000, MPI_BYTE, mt.peer, 9, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Mprobe(mt.peer, 9, MPI_COMM_WORLD, &msg, &st));
    MT_OK(MPI_Get_count(&st, MPI_BYTE, &got));
    MT_CHECK(got == 20000, "probe finds %d bytes", got);
    MT_OK(MPI_Mrecv(in, MOST, MPI_BYTE, &msg, &st));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    check(9, 20000);
}

static void cancels(void)
{
    MPI_Request req;
    MPI_Status st;
    int flag;
    MT_OK(MPI_Irecv(in, MOST, MPI_BYTE, mt.peer, 78, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Cancel(&req));
    MT_OK(MPI_Wait(&req, &st));
    MT_OK(MPI_Test_cancelled(&st, &flag));
    MT_CHECK(flag, "a receive was not cancelled");
}

/* In order, whether the data is in slots or not. */
static void many(void)
{
    static MPI_Request req[MANY];
    int *value = (int *) out, *got = (int *) in;
    const int words = 4096 / (int) sizeof(int);
    for (int i = 0; i < MANY && mt.rank == 0; i++) {
        value[i * words] = i;
        MT_OK(MPI_Isend(&value[i * words], 4096, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &req[i]));
    }
    if (mt.rank == 0)
        MT_OK(MPI_Waitall(MANY, req, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY && mt.rank == 1; i++) {
        MT_OK(MPI_Recv(got, 4096, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_CHECK(got[0] == i, "message %d comes as number %d", got[0], i);
    }
}

/* Process 1 is outside MPI: process 0 takes its posts and moves both messages. */
static void alone(int bytes)
{
    MPI_Request req[2];
    fill(3, bytes);
    if (mt.rank == 1) {
        MT_OK(MPI_Irecv(in, MOST, MPI_BYTE, 0, 8, MPI_COMM_WORLD, &req[0]));
        MT_OK(MPI_Isend(out, bytes, MPI_BYTE, 0, 8, MPI_COMM_WORLD, &req[1]));
        atomic_store(&mt_called_back, 0);
        mt_stay_outside();
    } else {
        const int pid = mt_peer_outside();
        MT_OK(MPI_Isend(out, bytes, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &req[0]));
        MT_OK(MPI_Irecv(in, MOST, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &req[1]));
        MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
        mt_call_back(pid);
    }
    if (mt.rank == 1)
        MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
    check(3, bytes);
}

static void outside_until_called(void)
{
    while (!atomic_load(&mt_called_back))
        usleep(1000);
}

/* Process 0 probes for a message of process 1, which is outside MPI since it has posted it. It has to
 * take that post itself, and had taken only that of its own probe. */
static void probe_alone(int is_matched, int is_blocking)
{
    MPI_Request req;
    MPI_Message msg;
    int pid = (int) getpid(), flag = is_blocking;
    fill(6, 64);
    if (mt.rank == 1) {
        atomic_store(&mt_called_back, 0);
        MT_OK(MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Isend(out, 64, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &req));
        outside_until_called();
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        return;
    }
    pid = mt_peer_outside();
    if (is_matched && is_blocking)
        MT_OK(MPI_Mprobe(1, 9, MPI_COMM_WORLD, &msg, MPI_STATUS_IGNORE));
    else if (is_blocking)
        MT_OK(MPI_Probe(1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    while (!flag) {
        if (is_matched)
            MT_OK(MPI_Improbe(1, 9, MPI_COMM_WORLD, &flag, &msg, MPI_STATUS_IGNORE));
        else
            MT_OK(MPI_Iprobe(1, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
    if (is_matched)
        MT_OK(MPI_Mrecv(in, 64, MPI_BYTE, &msg, MPI_STATUS_IGNORE));
    else
        MT_OK(MPI_Recv(in, 64, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    mt_call_back(pid);
    check(6, 64);
}

static atomic_int posted;       /* processes that have, a bit for each */

static void has_posted(int sig)
{
    atomic_fetch_or(&posted, sig == SIGUSR1 ? 1 : 2);
}

/* Process 1 posts much and process 2 one message, and neither is in MPI then. */
static void post_for(pid_t receiver)
{
    static MPI_Request req[STREAM];
    static int value[STREAM];
    const int n = mt.rank == 1 ? STREAM : 1;
    for (int i = 0; i < n; i++) {
        value[i] = i + 1;
        MT_OK(MPI_Isend(&value[i], 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &req[i]));
    }
    MT_CHECK(kill(receiver, mt.rank == 1 ? SIGUSR1 : SIGUSR2) == 0, "cannot signal process 0");
    outside_until_called();
    MT_OK(MPI_Waitall(n, req, MPI_STATUSES_IGNORE));
}

/* By process 0: what process 2 has posted arrives before most of what process 1 has. */
static void receive_from_both(void)
{
    static MPI_Request req[STREAM + 1];
    static int got[STREAM + 1];
    int flag = 0, came = 0;
    while (atomic_load(&posted) != 3)
        usleep(1000);
    MT_OK(MPI_Irecv(&got[STREAM], 1, MPI_INT, 2, 4, MPI_COMM_WORLD, &req[STREAM]));
    for (int i = 0; i < STREAM; i++)
        MT_OK(MPI_Irecv(&got[i], 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &req[i]));
    while (!flag)
        MT_OK(MPI_Test(&req[STREAM], &flag, MPI_STATUS_IGNORE));
    for (int i = 0; i < STREAM; i++)
        came += got[i] != 0;
    MT_CHECK(came < FEW, "%d messages of process 1 come before one of process 2", came);
    MT_OK(MPI_Waitall(STREAM, req, MPI_STATUSES_IGNORE));
    for (int i = 0; i < STREAM; i++)
        MT_CHECK(got[i] == i + 1, "receive %d has message %d", i, got[i]);
}

static void fair(void)
{
    int pids[3], pid = (int) getpid();
    atomic_store(&mt_called_back, 0);
    signal(SIGUSR1, has_posted);
    signal(SIGUSR2, mt.rank == 0 ? has_posted : mt_call_back_handler);
    MT_OK(MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD));
    if (mt.rank == 0) {
        receive_from_both();
        mt_call_back(pids[1]);
        mt_call_back(pids[2]);
    } else {
        post_for((pid_t) pids[0]);
    }
}

/* Process 1 has more answers than its ring has room for; what is left over the ghost has to bring. */
static void flood(void)
{
    static MPI_Request req[FLOOD];
    static int value[FLOOD];
    if (mt.rank == 1) {
        for (int i = 0; i < FLOOD; i++)
            MT_OK(MPI_Irecv(&value[i], 1, MPI_INT, 0, 10 + i % 3, MPI_COMM_WORLD, &req[i]));
        atomic_store(&mt_called_back, 0);
        mt_stay_outside();
    } else {
        int pid = mt_peer_outside();
        for (int i = 0; i < FLOOD; i++) {
            MT_OK(MPI_Isend(&i, 1, MPI_INT, 1, 10 + i % 3, MPI_COMM_WORLD, &req[i]));
            MT_OK(MPI_Wait(&req[i], MPI_STATUS_IGNORE));
        }
        mt_call_back(pid);
        kill(ghost, SIGCONT);
    }
    if (mt.rank == 1) {
        MT_OK(MPI_Waitall(FLOOD, req, MPI_STATUSES_IGNORE));
        for (int i = 0; i < FLOOD; i++)
            MT_CHECK(value[i] == i, "receive %d has message %d", i, value[i]);
    }
}

/* Two blocking sends of this size complete because the ghost keeps the data. */
static void keeps(int bytes)
{
    fill(4, bytes);
    MT_OK(MPI_Send(out, bytes, MPI_BYTE, mt.peer, 6, MPI_COMM_WORLD));
    MT_OK(MPI_Recv(in, MOST, MPI_BYTE, mt.peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(4, bytes);
}

static void two(void)
{
    for (int n = 0; n < mt.iters; n++) {
        for (int order = 0; order < 4; order++) {
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
                exchange(sizes[i], order);
        }
        probes();
        cancels();
        many();
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        alone(sizes[i]);
    for (int i = 0; i < 4; i++)
        probe_alone(i & 1, i & 2);
    flood();
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    MT_CHECK(mt.size == 2 || mt.size == 3, "run with two or three users");
    out = mt_alloc(MOST + 1);
    in = mt_alloc(MOST + 1);
    find_ghost();
    stop_ghost();
    if (mt.size == 3)
        fair();
    else
        two();
    continue_ghost();
    for (int n = 0; n < mt.iters && mt.size == 2; n++) {
        keeps(32768);
        keeps(65536);
    }
    free(out);
    free(in);
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A nonblocking call does not wait for a user that is stopped, wherever that one is. Processes 0 and 1
 * exchange messages and only post and test. Process 2 stops process 1 again and again, and lets it go
 * on only after process 0 has come back from two more calls. CSP_NG=1, three users on one node. -n:
 * exchanges. */
#include "../mt.h"

#define MANY 4                  /* messages of an exchange, each way */
#define SIZE 65536
#define OWN  8                  /* messages to itself meanwhile: process 1 is often at the desk */

/* In memory of all three. */
typedef struct words {
    atomic_long calls;          /* that process 0 has come back from */
    atomic_int done[2];         /* process 0, 1 has ended */
    atomic_int pid;             /* of process 1 */
} words_t;

static words_t *words;
static char *out[MANY], *in[MANY];

static int test_all(MPI_Request * req, int n)
{
    int flag;
    MT_OK(MPI_Testall(n, req, &flag, MPI_STATUSES_IGNORE));
    if (mt.rank == 0)
        atomic_fetch_add(&words->calls, 1);
    return flag;
}

static void to_myself(int *value, int *got, MPI_Request * req)
{
    for (int i = 0; i < OWN; i++) {
        value[i] = i;
        MT_OK(MPI_Irecv(&got[i], 1, MPI_INT, mt.rank, 2, MPI_COMM_WORLD, &req[2 * i]));
        MT_OK(MPI_Isend(&value[i], 1, MPI_INT, mt.rank, 2, MPI_COMM_WORLD, &req[2 * i + 1]));
    }
}

static void exchange(int round)
{
    MPI_Request req[2 * MANY], own[2 * OWN];
    int value[OWN], got[OWN], flag = 0;
    const int other = 1 - mt.rank;
    for (int i = 0; i < MANY; i++) {
        memset(out[i], round + i + mt.rank, SIZE);
        MT_OK(MPI_Irecv(in[i], SIZE, MPI_BYTE, other, 1, MPI_COMM_WORLD, &req[2 * i]));
        MT_OK(MPI_Isend(out[i], SIZE, MPI_BYTE, other, 1, MPI_COMM_WORLD, &req[2 * i + 1]));
    }
    while (!flag) {
        to_myself(value, got, own);
        while (!test_all(own, 2 * OWN)) {
        }
        for (int i = 0; i < OWN; i++)
            MT_CHECK(got[i] == i, "message %d to myself has %d", i, got[i]);
        flag = test_all(req, 2 * MANY);
    }
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < SIZE; k += SIZE - 1)
            MT_CHECK(in[i][k] == (char) (round + i + other), "round %d, message %d, byte %d: %d",
                     round, i, k, in[i][k]);
}

static int is_done(void)
{
    return atomic_load(&words->done[0]) || atomic_load(&words->done[1]);
}

static void stop_and_go(void)
{
    const pid_t pid = (pid_t) atomic_load(&words->pid);
    uint64_t random = 1;
    long stops = 0;
    while (!is_done()) {
        random = mt_hash(random);
        usleep((useconds_t) (random % 200));
        MT_CHECK(kill(pid, SIGSTOP) == 0, "cannot stop process 1");
        long before = atomic_load(&words->calls);
        while (!is_done() && atomic_load(&words->calls) < before + 2)
            sched_yield();
        MT_CHECK(kill(pid, SIGCONT) == 0, "cannot let process 1 go on");
        stops++;
    }
    MT_CHECK(stops > 0, "process 1 was never stopped");
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint size;
    int unit;
    void *base;
    mt_init(argc, argv, 1, 2000);
    MT_CHECK(mt.size == 3, "three users are needed");
    MT_OK(MPI_Win_allocate_shared(mt.rank == 0 ? sizeof(words_t) : 0, 1, MPI_INFO_NULL,
                                  MPI_COMM_WORLD, &base, &win));
    MT_OK(MPI_Win_shared_query(win, 0, &size, &unit, &base));
    words = base;
    if (mt.rank == 0)
        memset(words, 0, sizeof(*words));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 1)
        atomic_store(&words->pid, (int) getpid());
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < MANY; i++) {
        out[i] = mt_alloc(SIZE);
        in[i] = mt_alloc(SIZE);
    }
    if (mt.rank == 2) {
        stop_and_go();
    } else {
        for (int i = 0; i < mt.iters; i++)
            exchange(i);
        atomic_store(&words->done[mt.rank], 1);
    }
    for (int i = 0; i < MANY; i++) {
        free(out[i]);
        free(in[i]);
    }
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

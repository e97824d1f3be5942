/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI sessions one after another, then MPI_Init, MPI_Finalize, and a session again.  Threads
 * exchange messages in each.  The last message of a session is large and its request is freed: it
 * has to arrive although the sender is outside MPI then, waiting for a signal of the receiver.
 * The process of rank 1 keeps a session of its own open from the second to the last: processes
 * need not have none open at the same time. */
#include "session.h"
#include <signal.h>
#include <sys/types.h>

enum { LARGE = 1 << 20 };

static MPI_Comm comm;
static char *last;
static int self_deleted;

static void *worker(void *arg)
{
    exchange_numbers(comm, ((mt_thread_t *) arg)->id, (int) mt.iters);
    return NULL;
}

/* The process id of the sender is in the message; self in a run of one process. */
static void send_last(void)
{
    MPI_Request r;
    int32_t pid = (int32_t) getpid();
    memset(last, 'x', LARGE);
    memcpy(last, &pid, sizeof(pid));
    MT_OK(MPI_Isend(last, LARGE, MPI_CHAR, mt.peer, 99, comm, &r));
    MT_OK(MPI_Request_free(&r));
}

static pid_t receive_last(void)
{
    int32_t pid;
    char *in = mt_alloc(LARGE);
    MT_OK(MPI_Recv(in, LARGE, MPI_CHAR, mt.peer, 99, comm, MPI_STATUS_IGNORE));
    memcpy(&pid, in, sizeof(pid));
    MT_CHECK(in[LARGE - 1] == 'x', "the last byte is %d", in[LARGE - 1]);
    free(in);
    return (pid_t) pid;
}

static void await_signal(void)
{
    sigset_t set;
    int sig;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    MT_CHECK(sigwait(&set, &sig) == 0, "sigwait failed");
}

static void session(void)
{
    MPI_Session s = open_session();
    pid_t pid = 0;
    comm = comm_of_session(s, "mpi://WORLD");
    MT_OK(MPI_Comm_rank(comm, &mt.rank));
    MT_OK(MPI_Comm_size(comm, &mt.size));
    mt.peer = (mt.rank ^ 1) < mt.size ? mt.rank ^ 1 : mt.rank;
    mt_run(mt.threads, worker);
    if (mt.rank % 2 == 0)
        send_last();
    if (mt.rank % 2 || mt.peer == mt.rank)
        pid = receive_last();
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
    if (pid)
        MT_CHECK(kill(pid, SIGUSR1) == 0, "cannot signal process %d", (int) pid);
    if (mt.rank % 2 == 0)
        await_signal();
}

static int note_deleted(MPI_Comm c, int keyval, void *value, void *extra)
{
    (void) c, (void) keyval, (void) value, (void) extra;
    self_deleted = 1;
    return MPI_SUCCESS;
}

static void world(void)
{
    int provided, key, flag;
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_CHECK(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_deleted, &key, NULL));
    MT_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    mt_run(mt.threads, worker);
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Comm_free_keyval(&key));
    MT_OK(MPI_Finalize());
    MT_OK(MPI_Finalized(&flag));
    MT_CHECK(flag && self_deleted, "finalized %d, attribute deleted %d", flag, self_deleted);
}

int main(int argc, char **argv)
{
    sigset_t set;
    MPI_Session own = MPI_SESSION_NULL;
    mt_options(argc, argv, 4, 50);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    MT_CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0, "cannot block a signal");
    last = mt_alloc(LARGE);
    session();
    for (int i = 0; i < 3; i++) {
        session();
        if (mt.rank == 1 && i == 0)
            own = open_session();
    }
    world();
    session();
    if (mt.rank == 1)
        MT_OK(MPI_Session_finalize(&own));
    session();
    free(last);
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

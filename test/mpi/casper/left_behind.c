/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages arrive although their sender no longer calls MPI: those of a process that has ended its last
 * session, twice (-n 1), one of two sessions (-n 2), or MPI_COMM_WORLD, after a session (-n 3), or that
 * has disconnected (-n 4). Their sends are complete, but the ghosts were stopped, so most of them still
 * wait for room in the ring. Process 0 hears by a signal that all have arrived. Two users. */
#include "ghost.h"
#include "../session.h"

enum { LAST_SESSION = 1, ONE_SESSION, WORLD, DISCONNECT };

#define MANY 3000               /* many times what a ring has room for */
#define LIMIT_MS 20000

static void await_call(const char *what)
{
    for (int ms = 0; !atomic_load(&mt_called_back); ms++) {
        MT_CHECK(ms < LIMIT_MS, "%s", what);
        usleep(1000);
    }
}

static void send_all(MPI_Comm comm)
{
    for (int i = 0; i < n_ghosts; i++) {
        ghost = ghosts[i];
        stop_asleep();
    }
    for (int i = 0; i < MANY; i++)
        MT_OK(MPI_Send(&i, 1, MPI_INT, 1, 0, comm));
    for (int i = 0; i < n_ghosts; i++)
        MT_CHECK(kill(ghosts[i], SIGCONT) == 0, "cannot let a ghost go on");
}

static void receive_all(MPI_Comm comm)
{
    for (int i = 0; i < MANY; i++) {
        int got = -1;
        MT_OK(MPI_Recv(&got, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
        MT_CHECK(got == i, "message %d comes as number %d", got, i);
    }
}

static void leave(MPI_Comm * comm, MPI_Session * s)
{
    if (mt.iters == DISCONNECT)
        MT_OK(MPI_Comm_disconnect(comm));
    else
        MT_OK(MPI_Comm_free(comm));
    if (mt.iters == WORLD)
        MT_OK(MPI_Finalize());
    else if (mt.iters != DISCONNECT)
        MT_OK(MPI_Session_finalize(s));
}

/* While one process sends the other one is not in MPI, where it would take messages out of the ring. */
static void send_and_leave(MPI_Comm * comm, MPI_Session * s)
{
    int pids[2], pid = (int) getpid();

    MT_OK(MPI_Comm_rank(*comm, &mt.rank));
    MT_OK(MPI_Comm_size(*comm, &mt.size));
    MT_CHECK(mt.size == 2, "run with two users");
    if (!ghost)
        find_ghost_of(*comm);
    MT_OK(MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, *comm));
    atomic_store(&mt_called_back, 0);
    MT_OK(MPI_Barrier(*comm));
    if (mt.rank == 0) {
        send_all(*comm);
        mt_call_back(pids[1]);
        leave(comm, s);
        await_call("messages have not arrived");
    } else {
        await_call("no messages are sent");
        receive_all(*comm);
        mt_call_back(pids[0]);
        leave(comm, s);
    }
}

static void use_session(void)
{
    MPI_Session s = open_session();
    MPI_Comm comm = comm_of_session(s, "mpi://WORLD");

    send_and_leave(&comm, &s);
}

static void use_world(void)
{
    int provided;
    MPI_Comm comm;

    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    send_and_leave(&comm, NULL);
}

int main(int argc, char **argv)
{
    MPI_Session s;

    mt_options(argc, argv, 1, LAST_SESSION);
    signal(SIGUSR2, mt_call_back_handler);
    if (mt.iters == ONE_SESSION || mt.iters == WORLD)
        s = open_session();
    if (mt.iters == WORLD)
        MT_OK(MPI_Session_finalize(&s));
    if (mt.iters >= WORLD)
        use_world();
    else
        use_session();
    if (mt.iters == LAST_SESSION)
        use_session();
    else if (mt.iters == ONE_SESSION)
        MT_OK(MPI_Session_finalize(&s));
    else if (mt.iters == DISCONNECT)
        MT_OK(MPI_Finalize());
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

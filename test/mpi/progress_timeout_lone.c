/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPIR_CVAR_PROGRESS_TIMEOUT below MPI_THREAD_MULTIPLE: a process whose one thread in MPI waits prints
 * that, too, and what it waits for. Another thread of process 0, outside MPI, reads what is printed and
 * then asks process 1 for the message; it does so in any case after LIMIT_SECONDS. */
#include "printed.h"

#define LIMIT_SECONDS 30

static int peer_pid;
static atomic_int reported;

static void *reader(void *arg)
{
    for (int i = 0; i < LIMIT_SECONDS * 100 && !is_reported(); i++)
        usleep(10000);
    atomic_store(&reported, is_reported());
    kill((pid_t) peer_pid, SIGUSR2);
    return arg;
}

static void wait_long(void)
{
    pthread_t thread;

    peer_pid = mt_peer_outside();
    MT_CHECK(pthread_create(&thread, NULL, reader, NULL) == 0, "cannot create a thread");
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    pthread_join(thread, NULL);
    restore_stderr();
    MT_CHECK(atomic_load(&reported), "no report of a wait of %d s", LIMIT_SECONDS);
    MT_CHECK(strstr(printed_text(), " waits in MPI_Wait"), "no wait in:\n%s", printed_text());
    /* the network matches itself, and global keeps no such fields */
    if (mt_has_shm() && !strstr(printed_text(), "queue none"))
        MT_CHECK(strstr(printed_text(), " for a receive from any rank, any tag, context id 0\n"),
                 "no receive in:\n%s", printed_text());
}

int main(void)
{
    int provided;

    redirect_stderr();
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided));
    MT_CHECK(provided == MPI_THREAD_FUNNELED, "the level is %d", provided);
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    if (mt.rank == 0) {
        wait_long();
    } else {
        mt_stay_outside();
        must_have_printed_nothing();
        MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
    }
    return mt_finish();
}

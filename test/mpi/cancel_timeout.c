/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPIR_CVAR_PROGRESS_TIMEOUT: the report has a thread that waits inside its first poll. Process 0 waits
 * for a receive from any source that has begun to take a long message of the other process, when a
 * message to itself comes for it through shared memory: the library then waits for the end of the long
 * one. The other process stays outside MPI until the report is printed. */
#include "printed.h"
#include "steps.h"

#include <unistd.h>

#define WORDS 100000            /* too many for libfabric to send at once */
#define TESTS 200               /* the receive has begun */

enum { SENT, REPORTED, STEPS };
enum { WAITER, READER, THREADS };

static int in[WORDS], out[WORDS];

static void wait_for_end(void)
{
    const int n = 7;
    MPI_Request recv, send;
    MPI_Status st;
    int done = 0;

    MT_OK(MPI_Irecv(in, WORDS, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &recv));
    step_wait(SENT, 1);
    for (int i = 0; i < TESTS && !done; i++)
        MT_OK(MPI_Test(&recv, &done, MPI_STATUS_IGNORE));
    MT_OK(MPI_Isend(&n, 1, MPI_INT, mt.rank, 1, MPI_COMM_WORLD, &send));
    MT_OK(MPI_Wait(&recv, &st));
    MT_CHECK(st.MPI_SOURCE == mt.peer && in[WORDS - 1] == 5, "%d from %d", in[WORDS - 1],
             st.MPI_SOURCE);
    MT_OK(MPI_Recv(in, 1, MPI_INT, mt.rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    if (((mt_thread_t *) arg)->id == WAITER) {
        wait_for_end();
    } else {
        while (!is_reported())
            usleep(10000);
        step_done(REPORTED, 1);
    }
    return NULL;
}

static void check_report(void)
{
    const char *text = printed_text();

    restore_stderr();
    MT_CHECK(count_of(text, REPORT) == 1, "%d reports instead of 1", count_of(text, REPORT));
    MT_CHECK(count_of(text, " waits in MPI_Wait") == 1, "%d threads wait in MPI_Wait:\n%s",
             count_of(text, " waits in MPI_Wait"), text);
}

int main(int argc, char **argv)
{
    MPI_Request send;

    redirect_stderr();
    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    steps_share(STEPS);
    if (mt.rank == 0) {
        mt_run(THREADS, worker);
        check_report();
    } else {
        out[WORDS - 1] = 5;
        MT_OK(MPI_Isend(out, WORDS, MPI_INT, mt.peer, 1, MPI_COMM_WORLD, &send));
        step_done(SENT, 1);
        step_wait(REPORTED, 1);
        must_have_printed_nothing();
        MT_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPIR_CVAR_PROGRESS_TIMEOUT: a process in which calls wait that long prints the waiting threads,
 * their calls and the state of each VCI to stderr, once, and goes on.  If progress is usc, all but
 * one of them sleep then.  Others wait in probes and for the lock of a window.  Each waiting thread has
 * its stack printed, and what it waits for as far as its request says.  A process in which no call
 * waits prints nothing.  Process 0 waits in all its threads but one, which reads what is printed and
 * then asks process 1, outside MPI until then, for the messages; so no time is assumed. */
#include "printed.h"

static int peer_pid;
static atomic_int answered;     /* messages that have arrived */
static MPI_Win win;             /* process 1 holds its own lock until it has been called back */

/* Calls that wait for no request: one thread in each. */
static const char *const others[] = { "MPI_Probe", "MPI_Mprobe", "MPI_Win_lock" };
#define OTHERS ((int) (sizeof(others) / sizeof(others[0])))

/* Whether threads that wait long sleep, all but the server: progress usc, the default except in the
 * model global. */
static int is_usc(const char *text)
{
    const char *env = getenv("MPIR_CVAR_CH4_THREAD_PROGRESS");

    if (strstr(text, "queue none"))
        return 0;
    return env && env[0] ? !strcmp(env, "usc") : !mt_library_has("--with-thread-progress=b");
}

static void check_sleepers(const char *text)
{
    char want[64];

    snprintf(want, sizeof(want), "sleepers %d, served", mt.threads - !has_server());
    MT_CHECK(strstr(text, want), "no '%s' in:\n%s", want, text);
}

/* One thread waits in the call, and the function, with or without a P, is in one stack. */
static void check_other(const char *text, const char *call)
{
    char waits[64], frame[64];

    snprintf(waits, sizeof(waits), " waits in %s for ", call);
    snprintf(frame, sizeof(frame), "%s+", call);
    MT_CHECK(count_of(text, waits) == 1, "%d threads wait in %s:\n%s", count_of(text, waits), call,
             text);
    MT_CHECK(count_of(text, frame) == 1, "%s is in %d stacks:\n%s", call, count_of(text, frame), text);
}

/* The device has tag and source of a receive that it matches itself, in shared memory. */
static void check_requests(const char *text)
{
    const char *remote = getenv("MPIR_CVAR_NOLOCAL");
    const int is_matched = (!remote || !strcmp(remote, "0")) && !strstr(text, "queue none") &&
        !getenv("MPIR_CVAR_ODD_EVEN_CLIQUES") && mt_has_shm();
    char want[64];

    for (int tag = 0; is_matched && tag < mt.threads; tag++) {
        snprintf(want, sizeof(want), " for a receive from rank 1, tag %d, context id 0\n", tag);
        MT_CHECK(count_of(text, want) == 1, "%d times '%s' in:\n%s", count_of(text, want), want, text);
    }
    MT_CHECK(count_of(text, " for a receive") == mt.threads &&
             count_of(text, ", context id 0\n") == mt.threads, "%d receives instead of %d:\n%s",
             count_of(text, " for a receive"), mt.threads, text);
}

static void check_report(void)
{
    const char *text = printed_text();

    restore_stderr();
    MT_CHECK(count_of(text, REPORT) == 1, "%d reports instead of 1", count_of(text, REPORT));
    MT_CHECK(count_of(text, " waits in ") == mt.threads + OTHERS,
             "%d waiting threads instead of %d:\n%s", count_of(text, " waits in "),
             mt.threads + OTHERS, text);
    MT_CHECK(count_of(text, " waits in MPI_Waitany") == mt.threads / 2,
             "%d threads in MPI_Waitany, not %d", count_of(text, " waits in MPI_Waitany"),
             mt.threads / 2);
    for (int i = 0; i < OTHERS; i++)
        check_other(text, others[i]);
    check_requests(text);
    if (is_usc(text))
        check_sleepers(text);
}

static void wait_for_message(int id)
{
    MPI_Request r;
    int i;

    MT_OK(MPI_Irecv(NULL, 0, MPI_INT, mt.peer, id, MPI_COMM_WORLD, &r));
    if (id % 2 == 0)
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    else
        MT_OK(MPI_Waitany(1, &r, &i, MPI_STATUS_IGNORE));
    atomic_fetch_add(&answered, 1);
}

static void wait_otherwise(int other)
{
    const int tag = mt.threads + other;
    MPI_Message m;

    if (other == 0) {
        MT_OK(MPI_Probe(mt.peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (other == 1) {
        MT_OK(MPI_Mprobe(mt.peer, tag, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
        MT_OK(MPI_Mrecv(NULL, 0, MPI_INT, &m, MPI_STATUS_IGNORE));
    } else {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.peer, 0, win));
        MT_OK(MPI_Win_unlock(mt.peer, win));
    }
}

static void stay_outside(void)
{
    int pid = (int) getpid(), done = 0;
    MPI_Request r;

    signal(SIGUSR2, mt_call_back_handler);
    MT_OK(MPI_Issend(&pid, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, &r));
    while (!done)
        MT_OK(MPI_Test(&r, &done, MPI_STATUS_IGNORE));
    while (!atomic_load(&mt_called_back))
        usleep(1000);
}

static void *worker(void *arg)
{
    const mt_thread_t *t = arg;

    if (t->id < mt.threads) {
        wait_for_message(t->id);
        return NULL;
    }
    if (t->id < mt.threads + OTHERS) {
        wait_otherwise(t->id - mt.threads);
        return NULL;
    }
    while (!is_reported())
        usleep(10000);
    mt_call_back(peer_pid);
    return NULL;
}

int main(int argc, char **argv)
{
    void *base;

    redirect_stderr();
    mt_init(argc, argv, 4, 1);
    MT_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    if (mt.rank == 0) {
        receive_without_wait(&peer_pid, 0);
        mt_run(mt.threads + OTHERS + 1, worker);
        check_report();
        MT_CHECK(answered == mt.threads, "%d messages instead of %d", answered, mt.threads);
    } else {
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.rank, 0, win));
        stay_outside();
        must_have_printed_nothing();
        for (int i = 0; i < mt.threads + 2; i++)
            MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, i, MPI_COMM_WORLD));
        MT_OK(MPI_Win_unlock(mt.rank, win));
    }
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}

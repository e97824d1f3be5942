/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPIR_CVAR_PROGRESS_TIMEOUT: a process in which calls wait that long prints the waiting threads,
 * their calls and the state of each VCI to stderr, once, and goes on.  If progress is usc, all but
 * one of them sleep then.  Others wait in probes and for the lock of a window.  Each waiting thread has
 * its stack printed.  A process in which no call waits prints nothing.  Process 0 waits in all its
 * threads but one, which reads what is printed and then asks process 1, outside MPI until then, for
 * the messages; so no time is assumed. */
#include "mt.h"

#define REPORT "an MPI call has waited for more than MPIR_CVAR_PROGRESS_TIMEOUT="

static FILE *printed;           /* stderr of this process */
static int saved_stderr;
static int peer_pid;
static atomic_int answered;     /* messages that have arrived */
static MPI_Win win;             /* process 1 holds its own lock until it has been called back */

/* Calls that wait for no request: one thread in each. */
static const char *const others[] = { "MPI_Probe", "MPI_Mprobe", "MPI_Win_lock" };
#define OTHERS ((int) (sizeof(others) / sizeof(others[0])))

static void redirect_stderr(void)
{
    printed = tmpfile();
    saved_stderr = dup(2);
    if (!printed || saved_stderr < 0 || dup2(fileno(printed), 2) < 0) {
        perror("cannot redirect stderr");
        exit(1);
    }
}

/* What was printed so far, from the start. */
static const char *printed_text(void)
{
    static char text[65536];
    ssize_t n = pread(fileno(printed), text, sizeof(text) - 1, 0);

    text[n < 0 ? 0 : n] = '\0';
    return text;
}

static int count_of(const char *text, const char *what)
{
    int n = 0;

    for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what))
        n++;
    return n;
}

/* The report ends with the line of the last VCI. */
static int is_reported(void)
{
    const char *vci = strstr(printed_text(), "  VCI 0: owner ");

    return vci && strchr(vci, '\n');
}

/* Failures of this test go to the real stderr. */
static void restore_stderr(void)
{
    fflush(stderr);
    dup2(saved_stderr, 2);
}

/* Whether threads that wait long sleep, all but the server: progress usc, the default except in the
 * model global. */
static int is_usc(const char *text)
{
    const char *env = getenv("MPIR_CVAR_CH4_THREAD_PROGRESS");
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;

    MT_OK(MPI_Get_library_version(version, &len));
    if (strstr(text, "queue none"))
        return 0;
    return env && env[0] ? !strcmp(env, "usc") : !strstr(version, "--with-thread-progress=b");
}

/* Whether the library has a server thread, so that no thread of ours must stay awake; set by run. */
static int has_server(void)
{
    const char *env = getenv("MT_SERVED");

    return env && !strcmp(env, "yes");
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

/* A receive that is no wait, however late the message is. */
static void receive_without_wait(int *value)
{
    int flag = 0;

    while (!flag)
        MT_OK(MPI_Iprobe(mt.peer, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    MT_OK(MPI_Recv(value, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
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

static void must_have_printed_nothing(void)
{
    restore_stderr();
    MT_CHECK(!printed_text()[0], "printed without a wait: %s", printed_text());
}

int main(int argc, char **argv)
{
    void *base;

    redirect_stderr();
    mt_init(argc, argv, 4, 1);
    MT_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    if (mt.rank == 0) {
        receive_without_wait(&peer_pid);
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

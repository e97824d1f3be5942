/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPIR_CVAR_PROGRESS_TIMEOUT: the report has the threads that wait for the lock of a VCI, in
 * whatever call, and names the thread that holds it. In process 0 a thread keeps the VCI: it
 * takes in a message by memcpy, which is a function of this program and does not return before
 * the report is printed. (With server threads it is such a thread.) Other threads are in
 * MPI_Iprobe, in MPI_Isend where the model makes that wait for the lock, and in MPI_Wait, which
 * waits for it with progress blocking only. A server that holds the lock has its stack printed, too. */
#include "printed.h"

enum { HOLDER, READER, WAITER, PROBER, SENDER, THREADS };
#define HELD_BYTES 1003

enum { HELD_TAG, WAIT_TAG, SEND_TAG, GO_TAG, NO_TAG };

static MPI_Request held_receive, waited_receive;
static char held[HELD_BYTES];
static atomic_ulong holder;     /* the thread that is called back */
static atomic_int is_over;

static void await_holder(void)
{
    while (!atomic_load(&holder))
        usleep(1000);
}

static void keep_vci(void)
{
    atomic_store(&holder, (unsigned long) pthread_self());
    while (!atomic_load(&is_over))
        usleep(1000);
}

/* The compiler would make a memcpy of it. */
static void *(*const volatile copy)(void *, const void *, size_t) = memmove;

/* The library calls this one. Process 0 copies so many bytes only when it takes in that message. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    if (bytes == HELD_BYTES && to == held)
        keep_vci();
    return copy(to, from, bytes);
}

/* MPI_Test, since a wait would have a time of its own. */
static void hold(void)
{
    int done = 0;

    while (!done)
        MT_OK(MPI_Test(&held_receive, &done, MPI_STATUS_IGNORE));
}

static int is_one_of(const char *list, const char *name)
{
    const char *found = name ? strstr(list, name) : NULL;

    return found && found[-1] == ' ' && found[strlen(name)] == ' ';
}

/* Whether MPI_Isend waits while another thread has the VCI, and whether MPI_Wait does. */
static int send_waits(void)
{
    return is_one_of(" per-vci hmcs-usc csync hybcomb ", getenv("MT_MODEL"));
}

static int wait_waits(void)
{
    const char *env = getenv("MPIR_CVAR_CH4_THREAD_PROGRESS");

    return env && env[0] ? is_one_of(" blocking ", env) :
        mt_library_has("--with-thread-progress=blocking");
}

static void send_once(void)
{
    const int n = 7;
    MPI_Request r;

    MT_OK(MPI_Isend(&n, 1, MPI_INT, mt.peer, SEND_TAG, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    int flag;

    if (id == HOLDER) {
        hold();
        return NULL;
    }
    await_holder();
    if (id == WAITER)
        MT_OK(MPI_Wait(&waited_receive, MPI_STATUS_IGNORE));
    if (id == PROBER)
        MT_OK(MPI_Iprobe(mt.peer, NO_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    if (id == SENDER && send_waits())
        send_once();
    if (id == READER) {
        while (!is_reported())
            usleep(10000);
        atomic_store(&is_over, 1);
        if (!send_waits())
            send_once();
    }
    return NULL;
}

static void check_report(void)
{
    const char *text = printed_text();
    const int locks = 1 + send_waits() + wait_waits();
    char want[128];

    restore_stderr();
    snprintf(want, sizeof(want), " waits for the lock of VCI 0 (held by thread %#lx) for ",
             atomic_load(&holder));
    MT_CHECK(count_of(text, REPORT) == 1, "%d reports instead of 1", count_of(text, REPORT));
    MT_CHECK(count_of(text, want) == locks, "%d threads instead of %d wait for the lock:\n%s",
             count_of(text, want), locks, text);
    MT_CHECK(count_of(text, " waits in MPI_Wait") == 1, "%d threads wait in MPI_Wait:\n%s",
             count_of(text, " waits in MPI_Wait"), text);
    MT_CHECK(count_of(text, "MPI_Iprobe+") == 1, "no stack of MPI_Iprobe:\n%s", text);
    if (has_server()) {
        snprintf(want, sizeof(want), " held by thread %#lx (LWP ", atomic_load(&holder));
        MT_CHECK(count_of(text, want) == 1 && strstr(text, "memcpy+"), "no stack of the server:\n%s",
                 text);
    }
}

/* Sends, when it is asked, what the holder awaits, and at last what the waiter does. Never waits long,
 * but is out of the other process's way: that could not answer it. */
static void answer(void)
{
    static char out[HELD_BYTES];
    int n;

    out[HELD_BYTES - 1] = 5;
    receive_without_wait(&n, GO_TAG);
    MT_OK(MPI_Send(out, HELD_BYTES, MPI_BYTE, mt.peer, HELD_TAG, MPI_COMM_WORLD));
    receive_without_wait(&n, SEND_TAG);
    must_have_printed_nothing();
    MT_OK(MPI_Send(&n, 1, MPI_INT, mt.peer, WAIT_TAG, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int waited = 0, go = 5;

    redirect_stderr();
    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    if (mt.rank == 0) {
        MT_OK(MPI_Irecv(&waited, 1, MPI_INT, mt.peer, WAIT_TAG, MPI_COMM_WORLD, &waited_receive));
        MT_OK(MPI_Irecv(held, HELD_BYTES, MPI_BYTE, mt.peer, HELD_TAG, MPI_COMM_WORLD, &held_receive));
        MT_OK(MPI_Send(&go, 1, MPI_INT, mt.peer, GO_TAG, MPI_COMM_WORLD));
        mt_run(THREADS, worker);
        check_report();
        MT_CHECK(held[HELD_BYTES - 1] == 5 && waited == 7, "messages have %d and %d",
                 held[HELD_BYTES - 1], waited);
    } else {
        answer();
    }
    return mt_finish();
}

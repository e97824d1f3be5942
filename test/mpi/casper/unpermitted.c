/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Memory that the system does not permit other processes to read and write. CSP_NG=1, an even number of
 * users. -n: messages. Without -s users cannot reach each other's memory, as between different users of
 * the machine or where a filter forbids it; their ghost can. -s 1: after MPI_Init no process can, so
 * the owners copy. For both, our own functions in place of those of the C library refuse. -s 2: as root
 * the users give up what they may do, else they hide their memory; the ghost may not read all memory.
 * -s 1 with four users on two nodes: who does not take in its messages holds up nobody. -s 1 and 2: in
 * the end one of each pair leaves without a receive, whose data is still to come. */
#define _GNU_SOURCE
#include "../latch.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define WORD  8                 /* what MPI_Init tries has so many bytes */
#define EARLY 6                 /* messages before a receive */
#define MOST  1000000
#define FETCHED 64              /* messages whose data a ghost asks for at a time */
#define HELD  (3 * FETCHED)
#define SMALL 5000              /* bytes that go along with an envelope */
#define LARGE 70000             /* bytes that do not */
#define LATE  (16 << 20)        /* bytes: 256 turns of their owners */

static atomic_int refusals;
static int mode;

/* The last process is the ghost. */
static int is_user(void)
{
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
    return rank && size && atoi(rank) != atoi(size) - 1;
}

static int is_refused(size_t bytes)
{
    if (mode == 2 || (mode == 1 ? bytes <= WORD : !is_user()))
        return 0;
    atomic_fetch_add(&refusals, 1);
    errno = EPERM;
    return 1;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n,
                         const struct iovec *there, unsigned long m, unsigned long flags)
{
    return is_refused(here->iov_len) ? -1 :
        syscall(SYS_process_vm_readv, pid, here, n, there, m, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long n,
                          const struct iovec *there, unsigned long m, unsigned long flags)
{
    return is_refused(here->iov_len) ? -1 :
        syscall(SYS_process_vm_writev, pid, here, n, there, m, flags);
}

/* By root, and by what becomes the ghost, before MPI_Init. */
static void renounce_ptrace(void)
{
    const uint32_t bit = 1u << CAP_SYS_PTRACE;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct cap[_LINUX_CAPABILITY_U32S_3];
    MT_CHECK(syscall(SYS_capget, &head, cap) == 0, "no capabilities");
    cap[0].effective &= ~bit;
    cap[0].permitted &= ~bit;
    MT_CHECK(syscall(SYS_capset, &head, cap) == 0, "cannot give up CAP_SYS_PTRACE");
}

static void hide(void)
{
    const int nobody = 65534;
    if (geteuid() == 0)
        MT_CHECK(setgid(nobody) == 0 && setuid(nobody) == 0, "cannot become user %d", nobody);
    else
        MT_CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "cannot hide memory");
}

static void check(const char *data, int bytes, int i)
{
    for (int k = 0; k < bytes; k += 1 + bytes / 7)
        MT_CHECK(data[k] == (char) (i + 1), "message %d of %d bytes: byte %d is %d", i, bytes, k,
                 data[k]);
}

static void ping_pong(char *data, int bytes, int n)
{
    const int is_first = mt.rank < mt.peer;
    for (int i = 0; i < n; i++) {
        if (is_first) {
            memset(data, i + 1, bytes);
            MT_OK(MPI_Send(data, bytes, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD));
            memset(data, 0, bytes);
        }
        MT_OK(MPI_Recv(data, bytes, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(data, bytes, i);
        if (!is_first)
            MT_OK(MPI_Send(data, bytes, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD));
    }
}

/* Sends of up to 64 KB are complete without a receive, or when it comes. */
static void send_early(char *out, char *in, int bytes)
{
    MPI_Request r[EARLY];
    MPI_Status status;
    for (int i = 0; i < EARLY; i++) {
        memset(out + i * bytes, i + 1, bytes);
        MT_OK(MPI_Isend(out + i * bytes, bytes, MPI_BYTE, mt.peer, i % 2, MPI_COMM_WORLD, &r[i]));
    }
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    MT_OK(MPI_Probe(mt.peer, 1, MPI_COMM_WORLD, &status));
    for (int i = 1; i < EARLY; i += 2) {
        MT_OK(MPI_Recv(in, bytes, MPI_BYTE, mt.peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(in, bytes, i);
    }
    for (int i = 0; i < EARLY; i += 2) {
        MT_OK(MPI_Recv(in, bytes, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(in, bytes, i);
    }
    MT_OK(MPI_Waitall(EARLY - 1, r + 1, MPI_STATUSES_IGNORE));
}

static int completed(MPI_Request * r, int n)
{
    int done = 0, flag;
    for (int i = 0; i < n; i++) {
        MT_OK(MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE));
        done += flag;
    }
    return done;
}

/* Process 0 is outside MPI until 2, of the same node, has a message that comes behind all these: their
 * data must not hold that up, nor gather in the ghost. */
static void send_many(char *data)
{
    MPI_Request r[HELD];
    for (int i = 0; i < HELD; i++) {
        memset(data + i * LARGE, i + 1, LARGE);
        MT_OK(MPI_Isend(data + i * LARGE, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r[i]));
    }
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 3, 0, MPI_COMM_WORLD));
    MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_CHECK(completed(r, HELD) <= FETCHED, "the ghost has %d messages", completed(r, HELD));
    open_latch();
    MT_OK(MPI_Waitall(HELD, r, MPI_STATUSES_IGNORE));
}

static void take_in_late(char *data)
{
    MPI_Request r[HELD];
    memset(data, 0, HELD * LARGE);
    for (int i = 0; i < HELD; i++)
        MT_OK(MPI_Irecv(data + i * LARGE, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r[i]));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    wait_latch();
    MT_OK(MPI_Waitall(HELD, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < HELD; i++)
        check(data + i * LARGE, LARGE, i);
}

static void pass_by(char *data)
{
    make_latch();
    if (mt.rank == 0) {
        take_in_late(data);
        return;
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 1) {
        send_many(data);
    } else if (mt.rank == 2) {
        MT_OK(MPI_Recv(data, LARGE, MPI_BYTE, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(data, LARGE, HELD);
        MT_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    } else {
        memset(data, HELD + 1, LARGE);
        MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Send(data, LARGE, MPI_BYTE, 2, 0, MPI_COMM_WORLD));
    }
}

/* The receiver is in MPI_Finalize by then, and leaves when the sender has come there. The small message
 * is complete, and nobody ever receives it. */
static void leave_behind(char *data)
{
    MPI_Request r;
    MT_OK(MPI_Send(data, SMALL, MPI_BYTE, mt.peer, 1, MPI_COMM_WORLD));
    if (mt.rank > mt.peer) {
        MT_OK(MPI_Irecv(data, LATE, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, &r));
    } else {
        usleep(100000);
        MT_OK(MPI_Isend(data, LATE, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, &r));
    }
    MT_OK(MPI_Request_free(&r));
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 1, 1000, 5000, 60000, 300000, MOST };
    for (int i = 1; i + 1 < argc; i++) {        /* MPI_Init copies already */
        if (strcmp(argv[i], "-s") == 0)
            mode = atoi(argv[i + 1]);
    }
    if (mode == 2 && geteuid() == 0)
        renounce_ptrace();
    mt_init(argc, argv, 1, 100);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of users");
    MT_CHECK(mode > 0 || atomic_load(&refusals) > 0, "the library does not call our functions");
    if (mode == 2)
        hide();
    char *data = mt_alloc(LATE);
    for (int i = 0; i < (mode == 0 ? 6 : 5); i++) {
        ping_pong(data, sizes[i], (int) mt.iters);
        if (sizes[i] <= 65536)
            send_early(data, data + MOST, sizes[i]);
    }
    MT_CHECK(mode != 1 || atomic_load(&refusals) > 0, "the library does not call our functions");
    if (mode == 1 && mt.size == 4)
        pass_by(data);
    if (mode > 0)
        leave_behind(data);
    return mt_finish();
}

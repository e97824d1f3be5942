/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages from and to memory that ghosts map (MPI_Alloc_mem, MPI_Win_allocate_shared,
 * MPI_Win_allocate) and memory that they do not, in all pairs, expected and unexpected, of all sizes,
 * from the middle of it too, and with gaps. Memory comes and goes; freed while a send still needs it,
 * it harms nobody else. Memory is shared with another process exactly if it should be. -n: rounds. */
#include "../mt.h"
#include <sys/statvfs.h>

enum { ORDINARY, ALLOC_MEM, SHARED, WINDOW, KINDS };
enum { ROOM = 1 << 20, SKEW = 24 };

static char *mem[KINDS][2];     /* to send from, to receive into */
static MPI_Win shared, window;
static const int sizes[] = { 0, 1, 64, 65, 4096, 65536, 65537, 300001, ROOM - SKEW };

/* Is the memory mapped so that other processes see it? */
static int is_shared(const void *addr)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long begin, end;
    char line[4096], mode[5] = "";
    int found = 0;
    MT_CHECK(maps, "no /proc/self/maps");
    while (!found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%lx-%lx %4s", &begin, &end, mode) == 3 &&
            begin <= (unsigned long) addr && (unsigned long) addr < end;
    fclose(maps);
    return found && mode[3] == 's';
}

static void make(void)
{
    char *base;
    for (int i = 0; i < 2; i++) {
        mem[ORDINARY][i] = mt_alloc(ROOM);
        MT_OK(MPI_Alloc_mem(ROOM, MPI_INFO_NULL, &mem[ALLOC_MEM][i]));
    }
    MPI_Comm node;
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MT_OK(MPI_Win_allocate_shared(2 * ROOM, 1, MPI_INFO_NULL, node, &base, &shared));
    mem[SHARED][0] = base;
    mem[SHARED][1] = base + ROOM;
    MT_OK(MPI_Comm_free(&node));
    MT_OK(MPI_Win_allocate(2 * ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window));
    mem[WINDOW][0] = base;
    mem[WINDOW][1] = base + ROOM;
    MT_CHECK(!is_shared(mem[ORDINARY][0]), "malloc gives shared memory");
    MT_CHECK(is_shared(mem[ALLOC_MEM][0]), "MPI_Alloc_mem gives no shared memory");
}

static void fill(char *buf, int n, int seed)
{
    for (int i = 0; i < n; i++)
        buf[i] = (char) (i * 7 + (i >> 8) + seed);
}

static void check(const char *buf, int n, int seed, const char *what)
{
    for (int i = 0; i < n; i++)
        MT_CHECK(buf[i] == (char) (i * 7 + (i >> 8) + seed), "%s: byte %d of %d", what, i, n);
}

/* late: the receive is posted when the message is there already. */
static void exchange(int from, int to, int bytes, int late, int round)
{
    char *out = mem[from][0] + SKEW, *in = mem[to][1] + SKEW;
    MPI_Request req[2];
    int seed = from + 10 * to + round;
    fill(out, bytes, seed + mt.rank);
    memset(in, -1, (size_t) bytes);
    if (!late)
        MT_OK(MPI_Irecv(in, bytes, MPI_CHAR, mt.peer, 1, MPI_COMM_WORLD, &req[0]));
    MT_OK(round % 2 ? MPI_Issend(out, bytes, MPI_CHAR, mt.peer, 1, MPI_COMM_WORLD, &req[1]) :
          MPI_Isend(out, bytes, MPI_CHAR, mt.peer, 1, MPI_COMM_WORLD, &req[1]));
    if (late) {
        MT_OK(MPI_Probe(mt.peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Irecv(in, bytes, MPI_CHAR, mt.peer, 1, MPI_COMM_WORLD, &req[0]));
    }
    MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
    check(in, bytes, seed + mt.peer, "contiguous");
}

static void all_pairs(int round)
{
    for (int from = 0; from < KINDS; from++)
        for (int to = 0; to < KINDS; to++)
            for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
                for (int late = 0; late < 2; late++)
                    exchange(from, to, sizes[i], late, round);
}

static void with_gaps(void)
{
    MPI_Datatype every_second;
    int *out = (int *) mem[ALLOC_MEM][0], *in = (int *) mem[ALLOC_MEM][1];
    MT_OK(MPI_Type_vector(50000, 1, 2, MPI_INT, &every_second));
    MT_OK(MPI_Type_commit(&every_second));
    for (int i = 0; i < 100000; i++) {
        out[i] = mt.rank + i;
        in[i] = -1;
    }
    MT_OK(MPI_Sendrecv(out, 1, every_second, mt.peer, 2, in, 1, every_second, mt.peer, 2,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 100000; i++)
        MT_CHECK(in[i] == (i % 2 ? -1 : mt.peer + i), "gaps: %d at %d", in[i], i);
    MT_OK(MPI_Type_free(&every_second));
}

/* Longer than the room: what fits is right, and what lies behind is left alone. */
static void truncated(void)
{
    char *out = mem[ALLOC_MEM][0], *in = mem[ALLOC_MEM][1];
    MPI_Request req;
    int class, rc;
    fill(out, 9000, mt.rank);
    in[8000] = 77;
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Isend(out, 9000, MPI_CHAR, mt.peer, 3, MPI_COMM_WORLD, &req));
    rc = MPI_Recv(in, 8000, MPI_CHAR, mt.peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MT_OK(MPI_Error_class(rc, &class));
    MT_CHECK(class == MPI_ERR_TRUNCATE, "class %d", class);
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    check(in, 8000, mt.peer, "truncated");
    MT_CHECK(in[8000] == 77, "written behind the end");
}

/* Many pieces at a time, freed in another order. */
static void come_and_go(uint64_t * rng)
{
    enum { PIECES = 40 };
    char *piece[PIECES];
    int bytes[PIECES];
    for (int i = 0; i < PIECES; i++) {
        bytes[i] = 1 + (int) (mt_rand(rng) % 200000);
        MT_OK(MPI_Alloc_mem(bytes[i], MPI_INFO_NULL, &piece[i]));
        fill(piece[i], bytes[i], i);
    }
    for (int i = 0; i < PIECES; i++) {
        int k = (i * 17) % PIECES;
        MPI_Request req;
        MT_OK(MPI_Irecv(mem[k % KINDS][1], bytes[k], MPI_CHAR, mt.rank, 4, MPI_COMM_WORLD, &req));
        MT_OK(MPI_Send(piece[k], bytes[k], MPI_CHAR, mt.rank, 4, MPI_COMM_WORLD));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        check(mem[k % KINDS][1], bytes[k], k, "piece");
        MT_OK(MPI_Free_mem(piece[k]));
    }
}

static double free_mb(void)
{
    struct statvfs fs;
    MT_CHECK(statvfs("/dev/shm", &fs) == 0, "no /dev/shm");
    return (double) fs.f_bfree * (double) fs.f_bsize / 1e6;
}

/* Memory that was sent from and received into is gone from the ghost, too, when that is idle after
 * MPI_Free_mem; else the test never ends. All processes together come and go with hundreds of
 * megabytes. */
static void gives_back(void)
{
    enum { BYTES = 8000000, TIMES = 40, SENT = 100000 };
    const double may_be_missing = 0.25 * BYTES * TIMES / 1e6;
    MPI_Request req;
    char *out, *in;

    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    const double before = free_mb();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < TIMES; i++) {
        MT_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &out));
        MT_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &in));
        MT_OK(MPI_Irecv(in, SENT, MPI_CHAR, mt.peer, 7, MPI_COMM_WORLD, &req));
        MT_OK(MPI_Send(out, SENT, MPI_CHAR, mt.peer, 7, MPI_COMM_WORLD));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        MT_OK(MPI_Free_mem(in));
        MT_OK(MPI_Free_mem(out));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    while (free_mb() < before - may_be_missing)
        usleep(10000);
}

/* A user's error: the data may be anything, but the ghost goes on. */
static void freed_too_early(void)
{
    MPI_Request req[2];
    char *early[2];
    int are_shared = 1;
    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Alloc_mem(ROOM, MPI_INFO_NULL, &early[i]));
        are_shared &= is_shared(early[i]);
    }
    MT_OK(MPI_Allreduce(MPI_IN_PLACE, &are_shared, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!are_shared) {          /* ordinary memory, which may be gone: then there is an error */
        for (int i = 0; i < 2; i++)
            MT_OK(MPI_Free_mem(early[i]));
        return;
    }
    MT_OK(MPI_Isend(early[0], ROOM, MPI_CHAR, mt.peer, 5, MPI_COMM_WORLD, &req[0]));
    MT_OK(MPI_Irecv(early[1], ROOM, MPI_CHAR, mt.peer, 6, MPI_COMM_WORLD, &req[1]));
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Free_mem(early[i]));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Recv(mem[ORDINARY][1], ROOM, MPI_CHAR, mt.peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Send(mem[ORDINARY][0], ROOM, MPI_CHAR, mt.peer, 6, MPI_COMM_WORLD));
    MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
}

/* With shmbuf_regist=false the window is MPICH's own, and works. */
static void unregistered(void)
{
    MPI_Comm node;
    MPI_Info info;
    MPI_Win win;
    char *base;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "shmbuf_regist", "false"));
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MT_OK(MPI_Win_allocate_shared(5000, 1, info, node, &base, &win));
    fill(base, 5000, mt.rank);
    MT_OK(MPI_Sendrecv(base, 5000, MPI_CHAR, mt.peer, 7, mem[SHARED][1], 5000, MPI_CHAR, mt.peer, 7,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(mem[SHARED][1], 5000, mt.peer, "without registration");
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Comm_free(&node));
    MT_OK(MPI_Info_free(&info));
}

/* What one process stores the others of the node load. */
static void is_one_window(void)
{
    MPI_Aint size;
    int unit, rank, n;
    char *base;
    MPI_Group group;
    MT_OK(MPI_Win_get_group(shared, &group));
    MT_OK(MPI_Group_size(group, &n));
    MT_OK(MPI_Group_rank(group, &rank));
    MT_OK(MPI_Group_free(&group));
    MT_OK(MPI_Win_fence(0, shared));
    mem[SHARED][0][5] = (char) (rank + 1);
    MT_OK(MPI_Win_fence(0, shared));
    for (int i = 0; i < n; i++) {
        MT_OK(MPI_Win_shared_query(shared, i, &size, &unit, &base));
        MT_CHECK(size == 2 * ROOM && base[5] == i + 1, "process %d of %d has %d", i, n, base[5]);
    }
    MT_OK(MPI_Win_fence(0, shared));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 2);
    make();
    uint64_t rng = mt_rng(mt.rank, 0);
    for (int round = 0; round < mt.iters; round++) {
        all_pairs(round);
        with_gaps();
        truncated();
        come_and_go(&rng);
        unregistered();
        is_one_window();
        freed_too_early();
    }
    gives_back();
    MT_OK(MPI_Win_free(&shared));
    MT_OK(MPI_Win_free(&window));
    for (int i = 0; i < 2; i++) {
        char *at = mem[ALLOC_MEM][i];
        MT_OK(MPI_Free_mem(at));
        MT_CHECK(!is_shared(at), "MPI_Free_mem leaves the memory mapped");
        free(mem[ORDINARY][i]);
    }
    return mt_finish();
}

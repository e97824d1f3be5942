/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Hints of communicators: a communicator with async_config=off is not offloaded, one with on, or with a
 * known wildcard_used alone, is; both work, MPI_Comm_get_info tells, what it tells may be given back,
 * and unknown values are ignored. Those of windows have the same values. */
#define _GNU_SOURCE
#include "../mt.h"
#include <fcntl.h>
#include <sys/statvfs.h>

static void use(MPI_Comm comm, int seed)
{
    static int out[30000], in[30000];
    for (int i = 0; i < 30000; i++)
        out[i] = seed + i + mt.rank;
    for (int n = 0; n <= 30000; n = n ? n * 10 : 3) {
        MT_OK(MPI_Sendrecv(out, n, MPI_INT, mt.peer, seed, in, n, MPI_INT, mt.peer, seed, comm,
                           MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++)
            MT_CHECK(in[i] == seed + i + mt.peer, "data");
    }
}

static MPI_Comm with_hint(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Comm comm;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, key, value));
    MT_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    MT_OK(MPI_Info_free(&info));
    return comm;
}

static void expect(MPI_Comm comm, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag;
    MT_OK(MPI_Comm_get_info(comm, &info));
    MT_OK(MPI_Info_get(info, "async_config", MPI_MAX_INFO_VAL, value, &flag));
    MT_CHECK(flag && strcmp(value, expected) == 0, "async_config is %s, not %s",
             flag ? value : "not there", expected);
    MT_OK(MPI_Info_free(&info));
}

/* Process 0 gets no communicator; with a hint that is ours, with one of MPI, with another one, and
 * without any. */
static void split_to_none(const char *key)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm;
    if (key) {
        MT_OK(MPI_Info_create(&info));
        MT_OK(MPI_Info_set(info, key, "on"));
    }
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, mt.rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0, info,
                              &comm));
    MT_CHECK((comm == MPI_COMM_NULL) == (mt.rank == 0), "a communicator for process %d", mt.rank);
    if (comm != MPI_COMM_NULL)
        MT_OK(MPI_Comm_free(&comm));
    if (key)
        MT_OK(MPI_Info_free(&info));
}

static MPI_Info info_with(const char *key, const char *value)
{
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, key, value));
    return info;
}

/* The two keys in both orders: async_config counts. */
static void both_keys(const char *value, const char *expected)
{
    for (int order = 0; order < 2; order++) {
        MPI_Comm comm;
        MPI_Info info = order ? info_with("async_config", value) : info_with("wildcard_used", "none");
        if (order)
            MT_OK(MPI_Info_set(info, "wildcard_used", "none"));
        else
            MT_OK(MPI_Info_set(info, "async_config", value));
        MT_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
        expect(comm, expected);
        MT_OK(MPI_Comm_free(&comm));
        MT_OK(MPI_Info_free(&info));
    }
}

/* What MPI_Comm_get_info tells changes nothing when it is given back, with an assertion more. So a
 * receive that waits meanwhile gets its message. */
static void give_back(MPI_Comm comm, const char *expected)
{
    MPI_Request req;
    MPI_Info info;
    int in = 0, out = mt.rank + 1;
    MT_OK(MPI_Irecv(&in, 1, MPI_INT, mt.peer, 5, comm, &req));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Comm_get_info(comm, &info));
    MT_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    MT_OK(MPI_Comm_set_info(comm, info));
    MT_OK(MPI_Send(&out, 1, MPI_INT, mt.peer, 5, comm));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_CHECK(in == mt.peer + 1, "data");
    expect(comm, expected);
    MT_OK(MPI_Info_free(&info));
}

static void told_and_given_back(const char *value, const char *expected)
{
    MPI_Comm comm = with_hint("async_config", value), dup;
    MPI_Info info;
    MT_OK(MPI_Comm_get_info(comm, &info));
    MT_OK(MPI_Comm_dup_with_info(comm, info, &dup));
    expect(dup, expected);
    use(dup, 10);
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Comm_free(&dup));
    give_back(comm, expected);
    use(comm, 11);
    MT_OK(MPI_Comm_free(&comm));
}

/* MPI_COMM_WORLD: as the setting says. */
static void world_given_back(void)
{
    const char *config = getenv("CSP_ASYNC_CONFIG");
    give_back(MPI_COMM_WORLD, config && strcmp(config, "off") == 0 ? "false" : "true");
}

/* Is a window offloaded with this value? */
static int is_offloaded(const char *value)
{
    MPI_Info info = info_with("async_config", value), used;
    MPI_Win win;
    char *base, text[MPI_MAX_INFO_VAL + 1];
    int flag;
    MT_OK(MPI_Win_allocate(4096, 1, info, MPI_COMM_WORLD, &base, &win));
    MT_OK(MPI_Win_get_info(win, &used));
    MT_OK(MPI_Info_get(used, "async_config", MPI_MAX_INFO_VAL, text, &flag));
    MT_CHECK(flag, "a window does not tell async_config");
    MT_OK(MPI_Info_free(&used));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Info_free(&info));
    return strcmp(text, "true") == 0;
}

/* Is it in the place of a file that had a name at no time? Only our files are such. */
static int is_direct(const void *addr)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long begin, end;
    char line[4096];
    int found = 0;
    MT_CHECK(maps, "no /proc/self/maps");
    while (!found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%lx-%lx", &begin, &end) == 2 &&
            begin <= (unsigned long) addr && (unsigned long) addr < end;
    fclose(maps);
    return found && strstr(line, "/dev/shm/#") != NULL;
}

#define ROOM (256L << 20)      /* more than must stay free for a few processes, and windows */

/* Can there be direct memory? Not without files that have no name, or room. */
static int has_files(void)
{
    struct statvfs fs;
#ifdef O_TMPFILE
    int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#else
    int fd = -1;
#endif
    if (fd >= 0)
        close(fd);
    return fd >= 0 && statvfs("/dev/shm", &fs) == 0 &&
        (long) fs.f_bavail >= ROOM / (long) fs.f_frsize;
}

/* Is a shared window direct memory with this value? */
static int is_registered(MPI_Comm node, const char *value)
{
    MPI_Info info = info_with("shmbuf_regist", value);
    MPI_Win win;
    char *base;
    int is;
    MT_OK(MPI_Win_allocate_shared(4096, 1, info, node, &base, &win));
    is = is_direct(base);
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Info_free(&info));
    return is;
}

/* A value that is not known is like none. */
static void windows(void)
{
    static const char *const on[] = { "on", "true", "1" }, *const off[] = { "off", "false", "0" };
    MPI_Comm node;
    int users, can_share;
    expect(MPI_COMM_WORLD, is_offloaded("perhaps") ? "true" : "false");
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MT_OK(MPI_Comm_size(node, &users));
    can_share = users > 1 && has_files();
    for (int i = 0; i < 3; i++) {
        MT_CHECK(is_offloaded(on[i]), "async_config=%s: not offloaded", on[i]);
        MT_CHECK(!is_offloaded(off[i]), "async_config=%s: offloaded", off[i]);
        MT_CHECK(!is_registered(node, off[i]), "shmbuf_regist=%s: direct", off[i]);
        MT_CHECK(!can_share || is_registered(node, on[i]), "shmbuf_regist=%s: not direct", on[i]);
    }
    MT_CHECK(!can_share || is_registered(node, "perhaps"), "an unknown shmbuf_regist counts");
    MT_OK(MPI_Comm_free(&node));
}

static void set_hint(MPI_Comm comm, const char *value)
{
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "async_config", value));
    MT_OK(MPI_Comm_set_info(comm, info));
    MT_OK(MPI_Info_free(&info));
}

/* A receive that a ghost has is cancelled, also if its communicator no longer uses ghosts. */
static void cancel_after_off(void)
{
    MPI_Comm comm = with_hint("async_config", "on");
    MPI_Request r;
    MPI_Status status;
    int in[30000], cancelled;
    MT_OK(MPI_Irecv(in, 30000, MPI_INT, mt.peer, 7, comm, &r));
    set_hint(comm, "off");
    MT_OK(MPI_Cancel(&r));
    MT_OK(MPI_Wait(&r, &status));
    MT_OK(MPI_Test_cancelled(&status, &cancelled));
    MT_CHECK(cancelled, "the receive is not cancelled");
    use(comm, 7);
    set_hint(comm, "on");
    use(comm, 7);
    MT_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    static const char *const hints[][3] = {
        {"async_config", "off", "false"}, {"async_config", "on", "true"},
        {"async_config", "false", "false"}, {"async_config", "true", "true"},
        {"wildcard_used", "none", "true"}, {"wildcard_used", "any_src|any_tag_same_tag", "true"}
    };
    mt_init(argc, argv, 1, 1);
    for (int i = 0; i < 6; i++) {
        MPI_Comm comm = with_hint(hints[i][0], hints[i][1]);
        expect(comm, hints[i][2]);
        use(comm, i);
        MT_OK(MPI_Comm_free(&comm));
    }
    MPI_Comm comm = with_hint("wildcard_used", "anysrc");
    use(comm, 8);
    use(MPI_COMM_WORLD, 9);
    MT_OK(MPI_Comm_free(&comm));
    split_to_none("async_config");
    split_to_none("mpi_assert_no_any_tag");
    split_to_none("nobody_knows");
    split_to_none(NULL);
    windows();
    both_keys("off", "false");
    both_keys("on", "true");
    both_keys("perhaps", "true");
    told_and_given_back("off", "false");
    told_and_given_back("on", "true");
    world_given_back();
    cancel_after_off();
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Processes that give different hints: all of them see the same communicator, not offloaded or without
 * a threshold, its messages arrive, and one line says so. Assertions may differ. Hints of
 * MPI_Comm_idup_with_info are ignored, with a line. */
#include "../printed.h"

static long lines_before;

/* Of all processes. */
static long lines(void)
{
    long n = count_of(printed_text(), "MPI ghost processes: "), all;
    MT_OK(MPI_Allreduce(&n, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    return all;
}

static void check(int is_right, const char *what, const char *text)
{
    if (!is_right)
        restore_stderr();
    MT_CHECK(is_right, "%s: %s", what, text);
}

static void expect_lines(const char *what, long n)
{
    long now = lines();
    char text[64];
    snprintf(text, sizeof(text), "%ld lines, not %ld", now - lines_before, n);
    check(now - lines_before == n, what, text);
    lines_before = now;
}

/* Some of two keys; NULL values: nothing. */
static MPI_Info info_of(const char *key, const char *value, const char *other, const char *other_value)
{
    MPI_Info info;
    if (!value && !other_value)
        return MPI_INFO_NULL;
    MT_OK(MPI_Info_create(&info));
    if (value)
        MT_OK(MPI_Info_set(info, key, value));
    if (other_value)
        MT_OK(MPI_Info_set(info, other, other_value));
    return info;
}

static void free_info(MPI_Info * info)
{
    if (*info != MPI_INFO_NULL)
        MT_OK(MPI_Info_free(info));
}

static void expect(const char *what, MPI_Comm comm, const char *key, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "not there";
    int flag;
    MT_OK(MPI_Comm_get_info(comm, &info));
    MT_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag));
    MT_OK(MPI_Info_free(&info));
    check(flag && strcmp(value, expected) == 0, what, value);
}

/* Messages of three sizes, with each other one or, on an intercommunicator, across. */
static void use(const char *what, MPI_Comm comm, int size, int rank)
{
    static int out[30000], in[30000];
    const int peer = (rank ^ 1) < size ? rank ^ 1 : rank;
    for (int n = 3; n <= 30000; n *= 100) {
        for (int i = 0; i < n; i++)
            out[i] = rank + i + n;
        MT_OK(MPI_Sendrecv(out, n, MPI_INT, peer, 5, in, n, MPI_INT, peer, 5, comm,
                           MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++)
            check(in[i] == peer + i + n, what, "wrong data");
    }
}

static MPI_Comm dup_with(const char *key, const char *value, const char *other, const char *other_value)
{
    MPI_Info info = info_of(key, value, other, other_value);
    MPI_Comm comm;
    MT_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    free_info(&info);
    return comm;
}

static void end(const char *what, MPI_Comm comm, const char *key, const char *expected, long n)
{
    expect(what, comm, key, expected);
    use(what, comm, mt.size, mt.rank);
    MT_OK(MPI_Comm_free(&comm));
    expect_lines(what, n);
}

/* ---- communicators ---- */

static void offload(void)
{
    const int first = mt.rank == 0;
    end("on and off", dup_with("async_config", first ? "on" : "off", NULL, NULL), "async_config",
        "false", 1);
    end("nothing and off", dup_with("async_config", first ? NULL : "off", NULL, NULL), "async_config",
        "false", 1);
    end("wildcards and off",
        dup_with(first ? "wildcard_used" : "async_config", first ? "none" : "off", NULL, NULL),
        "async_config", "false", 1);
    end("all off", dup_with("async_config", "off", NULL, NULL), "async_config", "false", 0);
    end("all on", dup_with("async_config", "on", NULL, NULL), "async_config", "true", 0);
}

static void set_later(void)
{
    MPI_Comm comm = dup_with("async_config", "on", NULL, NULL);
    MPI_Info info = info_of("async_config", mt.rank == 1 ? "off" : "on", NULL, NULL);
    use("before", comm, mt.size, mt.rank);
    MT_OK(MPI_Barrier(comm));
    MT_OK(MPI_Comm_set_info(comm, info));
    MT_OK(MPI_Info_free(&info));
    end("set later", comm, "async_config", "false", 1);
}

static void threshold(void)
{
    const char *const size = "offload_min_msgsz", *const exact = "mpi_assert_exact_length";
    const int first = mt.rank == 0;
    end("two thresholds", dup_with(size, first ? "1000" : "2000", exact, "true"), size, "0", 1);
    end("one asserts", dup_with(size, "1000", exact, first ? "true" : "false"), size, "0", 1);
    end("one threshold", dup_with(size, first ? "1000" : NULL, exact, "true"), size, "0", 1);
    end("the same", dup_with(size, "1000", exact, "true"), size, "1000", 0);
}

/* Process 0 makes no use of wildcards, the others may. */
static void assertions(void)
{
    MPI_Comm comm = dup_with("mpi_assert_no_any_tag", mt.rank == 0 ? "true" : "false",
                             "mpi_assert_no_any_source", mt.rank == 0 ? "true" : NULL);
    if (mt.rank == 0)
        MT_OK(MPI_Send(NULL, 0, MPI_CHAR, 1, 3, comm));
    if (mt.rank == 1)
        MT_OK(MPI_Recv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    end("assertions", comm, "async_config", "true", 0);
}

/* Some nodes may have one user: there is nothing to offload, and no line. */
static void on_nodes(void)
{
    MPI_Info info = info_of("async_config", mt.rank < 2 ? "off" : "on", NULL, NULL);
    MPI_Comm node;
    int size, rank;
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, mt.rank, info, &node));
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Comm_size(node, &size));
    MT_OK(MPI_Comm_rank(node, &rank));
    expect("split", node, "async_config", "false");
    use("split", node, size, rank);
    MT_OK(MPI_Comm_free(&node));
    lines_before = lines();
}

static MPI_Comm from_group(const char *key, const char *value, const char *other,
                           const char *other_value)
{
    MPI_Info info = info_of(key, value, other, other_value);
    MPI_Group all;
    MPI_Comm comm;
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MT_OK(MPI_Comm_create_from_group(all, "casper/differ", info, MPI_ERRORS_ARE_FATAL, &comm));
    MT_OK(MPI_Group_free(&all));
    free_info(&info);
    return comm;
}

static void from_groups(void)
{
    const char *const size = "offload_min_msgsz", *const exact = "mpi_assert_exact_length";
    end("group, on and off", from_group("async_config", mt.rank == 0 ? "on" : "off", NULL, NULL),
        "async_config", "false", 1);
    end("group, all off", from_group("async_config", "off", NULL, NULL), "async_config", "false", 0);
    end("group, two thresholds", from_group(size, mt.rank == 0 ? "1000" : "2000", exact, "true"), size,
        "0", 1);
    end("group, the same", from_group(size, "1000", exact, "true"), size, "1000", 0);
}

/* Of processes with even ranks and those with odd ones. */
static void end_between(const char *what, MPI_Comm inter, const char *key, const char *expected, long n)
{
    int size, rank, value = mt.rank, got = -1;
    expect(what, inter, key, expected);
    MT_OK(MPI_Comm_remote_size(inter, &size));
    MT_OK(MPI_Comm_rank(inter, &rank));
    if (rank < size) {
        MT_OK(MPI_Sendrecv(&value, 1, MPI_INT, rank, 5, &got, 1, MPI_INT, rank, 5, inter,
                           MPI_STATUS_IGNORE));
        check(got == (mt.rank ^ 1), what, "wrong data");
    }
    MT_OK(MPI_Comm_free(&inter));
    expect_lines(what, n);
}

/* The groups differ. */
static void between_groups(void)
{
    MPI_Info info = info_of("async_config", mt.rank % 2 ? "off" : "on", NULL, NULL);
    MPI_Comm half, plain, inter;
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, 0, &half));
    MT_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mt.rank % 2, 9, &plain));
    MT_OK(MPI_Comm_dup_with_info(plain, info, &inter));
    MT_OK(MPI_Info_free(&info));
    end_between("intercommunicator", inter, "async_config", "false", 1);
    MT_OK(MPI_Comm_free(&plain));
    MT_OK(MPI_Comm_free(&half));
}

static MPI_Comm inter_from_groups(const char *key, const char *value, const char *other,
                                  const char *other_value)
{
    int ranges[2][1][3] = { {{0, mt.size - 1, 2}}, {{1, mt.size - 1, 2}} };
    MPI_Info info = info_of(key, value, other, other_value);
    MPI_Group all, mine, theirs;
    MPI_Comm inter;
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MT_OK(MPI_Group_range_incl(all, 1, ranges[mt.rank % 2], &mine));
    MT_OK(MPI_Group_range_incl(all, 1, ranges[1 - mt.rank % 2], &theirs));
    MT_OK(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "casper/differ", info,
                                           MPI_ERRORS_ARE_FATAL, &inter));
    MT_OK(MPI_Group_free(&theirs));
    MT_OK(MPI_Group_free(&mine));
    MT_OK(MPI_Group_free(&all));
    free_info(&info);
    return inter;
}

/* One line, too, if a value is not known, and not one for each group. */
static void between_groups_at_once(void)
{
    const char *const async = "async_config", *const exact = "mpi_assert_exact_length";
    const char *const size = "offload_min_msgsz";
    end_between("groups, nothing", inter_from_groups(async, NULL, NULL, NULL), async, "true", 0);
    end_between("groups, all off", inter_from_groups(async, "off", NULL, NULL), async, "false", 0);
    end_between("groups, on and off", inter_from_groups(async, mt.rank % 2 ? "off" : "on", NULL, NULL),
                async, "false", 1);
    end_between("groups, unknown", inter_from_groups(async, "perhaps", NULL, NULL), async, "true", 1);
    end_between("groups, one threshold",
                inter_from_groups(size, mt.rank == 0 ? "1000" : NULL, exact, "true"), size, "0", 1);
    end_between("groups, the same", inter_from_groups(size, "1000", exact, "true"), size, "1000", 0);
}

static void at_once(void)
{
    MPI_Info info = info_of("async_config", mt.rank == 0 ? "off" : "on", NULL, NULL);
    MPI_Request req;
    MPI_Comm comm;
    MT_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Info_free(&info));
    end("MPI_Comm_idup_with_info", comm, "async_config", "true", 1);
}

/* ---- windows ---- */

static void windows(void)
{
    MPI_Info info = info_of("async_config", mt.rank == 0 ? "off" : "on", NULL, NULL), used;
    MPI_Win win;
    int *base, flag;
    char text[MPI_MAX_INFO_VAL + 1] = "not there";
    MT_OK(MPI_Win_allocate(sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &base, &win));
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Win_get_info(win, &used));
    MT_OK(MPI_Info_get(used, "async_config", MPI_MAX_INFO_VAL, text, &flag));
    MT_OK(MPI_Info_free(&used));
    check(strcmp(text, "false") == 0, "a window", text);
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(&mt.rank, 1, MPI_INT, (mt.rank + 1) % mt.size, 0, 1, MPI_INT, win));
    MT_OK(MPI_Win_fence(0, win));
    check(*base == (mt.rank + mt.size - 1) % mt.size, "a window", "wrong data");
    MT_OK(MPI_Win_free(&win));
    expect_lines("a window", 1);
}

/* ---- CSP_MATCHING=tag ---- */

/* Offloaded only if no process uses wildcards. */
static void without_wildcards(void)
{
    const char *const source = "mpi_assert_no_any_source", *const tag = "mpi_assert_no_any_tag";
    end("all assert", dup_with(source, "true", tag, "true"), "async_config", "true", 0);
    end("one asserts", dup_with(source, "true", tag, mt.rank == 0 ? "true" : "false"), "async_config",
        "false", 1);
}

int main(int argc, char **argv)
{
    const char *matching = getenv("CSP_MATCHING");
    redirect_stderr();
    mt_init(argc, argv, 1, 1);
    lines_before = lines();
    if (matching && strcmp(matching, "tag") == 0) {
        without_wildcards();
        restore_stderr();
        return mt_finish();
    }
    offload();
    set_later();
    threshold();
    assertions();
    on_nodes();
    from_groups();
    between_groups();
    between_groups_at_once();
    at_once();
    windows();
    restore_stderr();
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Hints of communicators: a communicator with async_config=off is not offloaded, one with on, or with a
 * known wildcard_used, is; both work, MPI_Comm_get_info tells, and unknown values are ignored. */
#include "../mt.h"

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

/* Process 0 gets no communicator; with a hint that is ours, with one that is not, and without any. */
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
    split_to_none("nobody_knows");
    split_to_none(NULL);
    return mt_finish();
}

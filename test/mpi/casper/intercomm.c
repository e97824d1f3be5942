/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Intercommunicators beside ghosts: those of users are offloaded, those with spawned processes are not,
 * and all members of both sides do the same. Messages of all sizes to all remote processes, by source
 * and by wildcards, on one that is made, duplicated, split, switched off and on, merged; between
 * processes that connect; and on those made from spawned ones. Needs 3 processes. */
#include "../mt.h"

enum { KINDS = 5, MOST = 60000, CHILDREN = 2 };

static int me;                  /* no two processes have the same */

static int size_of(int kind)
{
    static const int sizes[KINDS] = { 1, 0, 300, MOST, 16 };
    return sizes[kind];
}

static int remote_size(MPI_Comm comm)
{
    int is_inter, size;
    MT_OK(MPI_Comm_test_inter(comm, &is_inter));
    MT_OK(is_inter ? MPI_Comm_remote_size(comm, &size) : MPI_Comm_size(comm, &size));
    return size;
}

static void check(const int *data, const MPI_Status *status, const int *ids, int kind)
{
    int count, id = ids[status->MPI_SOURCE];
    MT_OK(MPI_Get_count(status, MPI_INT, &count));
    MT_CHECK(count == size_of(kind) && status->MPI_TAG == kind, "kind %d: %d ints, tag %d", kind, count,
             status->MPI_TAG);
    for (int i = 0; i < count; i++)
        MT_CHECK(data[i] == id * 100000 + kind + i, "kind %d of %d differs at %d", kind, id, i);
}

/* The last kind is probed for, when nothing else is on its way. */
static void receive_kind(MPI_Comm comm, int n, const int *ids, int kind, int is_exact)
{
    int *data = mt_alloc(MOST * sizeof(int));
    MPI_Status status, probed;
    for (int i = 0; i < n; i++) {
        int source = kind % 2 && !is_exact ? MPI_ANY_SOURCE : i, tag = kind;
        if (kind == KINDS - 1) {
            tag = is_exact ? kind : MPI_ANY_TAG;
            MT_OK(MPI_Probe(is_exact ? i : MPI_ANY_SOURCE, tag, comm, &probed));
            source = probed.MPI_SOURCE;
        }
        MT_OK(MPI_Recv(data, MOST, MPI_INT, source, tag, comm, &status));
        check(data, &status, ids, kind);
    }
    free(data);
}

/* Everybody to everybody on the other side. */
static void use(MPI_Comm comm, int is_exact)
{
    int n = remote_size(comm), *ids = mt_alloc((size_t) n * sizeof(int));
    int *data = mt_alloc(MOST * sizeof(int));
    MPI_Request *reqs = mt_alloc((size_t) n * sizeof(*reqs));
    MT_OK(MPI_Allgather(&me, 1, MPI_INT, ids, 1, MPI_INT, comm));
    for (int kind = 0; kind < KINDS; kind++) {
        MT_OK(MPI_Barrier(comm));
        for (int i = 0; i < size_of(kind); i++)
            data[i] = me * 100000 + kind + i;
        for (int i = 0; i < n; i++) {
            if (kind == 2)
                MT_OK(MPI_Issend(data, size_of(kind), MPI_INT, i, kind, comm, &reqs[i]));
            else
                MT_OK(MPI_Isend(data, size_of(kind), MPI_INT, i, kind, comm, &reqs[i]));
        }
        receive_kind(comm, n, ids, kind, is_exact);
        MT_OK(MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE));
    }
    MT_OK(MPI_Barrier(comm));
    free(reqs);
    free(data);
    free(ids);
}

static int is_offloaded(MPI_Comm comm)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag;
    MT_OK(MPI_Comm_get_info(comm, &info));
    MT_OK(MPI_Info_get(info, "async_config", MPI_MAX_INFO_VAL, value, &flag));
    MT_OK(MPI_Info_free(&info));
    return flag && strcmp(value, "true") == 0;
}

/* expected: -1 if either will do, if all agree; a hang in `use` says that they do not. */
static void use_as(MPI_Comm comm, int expected, const char *what)
{
    MT_CHECK(expected < 0 || is_offloaded(comm) == expected, "%s: offloaded: %d", what,
             is_offloaded(comm));
    use(comm, 0);
}

static void set_hint(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, key, value));
    MT_OK(MPI_Comm_set_info(comm, info));
    MT_OK(MPI_Info_free(&info));
}

static void among_users(int offloads, int is_tag)
{
    MPI_Comm half, inter, dup, merged, alone;
    int rank;
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, -mt.rank, &half));
    MT_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD,
                               mt.rank % 2 ? (mt.size - 1) / 2 * 2 : (mt.size - 2) / 2 * 2 + 1, 7,
                               &inter));
    use_as(inter, offloads, "made");
    MT_OK(MPI_Comm_dup(inter, &dup));
    use_as(dup, offloads, "duplicate");
    set_hint(dup, "async_config", "off");
    use_as(dup, 0, "switched off");
    set_hint(dup, "async_config", "on");
    use_as(dup, !is_tag, "switched on");
    set_hint(dup, "wildcard_used", "none");
    MT_CHECK(is_offloaded(dup), "not offloaded, without wildcards");
    use(dup, 1);
    MT_OK(MPI_Intercomm_merge(inter, mt.rank % 2, &merged));
    use_as(merged, offloads, "merged");
    MT_OK(MPI_Comm_rank(inter, &rank));
    MT_OK(MPI_Comm_split(inter, rank == 0 ? 0 : MPI_UNDEFINED, 0, &alone));
    if (alone != MPI_COMM_NULL) {
        use_as(alone, offloads, "one on each side");
        MT_OK(MPI_Comm_free(&alone));
    }
    MT_OK(MPI_Comm_free(&merged));
    MT_OK(MPI_Comm_free(&dup));
    MT_OK(MPI_Comm_free(&inter));
    MT_OK(MPI_Comm_free(&half));
}

static void connected(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (mt.rank == 0)
        MT_OK(MPI_Open_port(MPI_INFO_NULL, port));
    MT_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (mt.rank == 0)
        MT_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    if (mt.rank == 1)
        MT_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    if (mt.rank < 2) {
        use_as(inter, -1, "connected");
        MT_OK(MPI_Comm_disconnect(&inter));
    }
    if (mt.rank == 0)
        MT_OK(MPI_Close_port(port));
}

/* By parents and children, on the communicator between them. The first parent is one side of `odd`, all
 * others are the other one. */
static void with_children(MPI_Comm inter, int is_parent, int offloads)
{
    MPI_Comm merged, parents, side, odd;
    int rank;
    use_as(inter, 0, "spawned");
    MT_OK(MPI_Intercomm_merge(inter, !is_parent, &merged));
    use_as(merged, 0, "merged with spawned");
    MT_OK(MPI_Comm_split(merged, is_parent, 0, &parents));
    use_as(parents, is_parent ? offloads : 0, "split from merged");
    MT_OK(MPI_Comm_rank(merged, &rank));
    MT_OK(MPI_Comm_split(merged, rank == 0, 0, &side));
    MT_OK(MPI_Intercomm_create(side, 0, merged, rank == 0, 9, &odd));
    use_as(odd, 0, "a parent and the others");
    MT_OK(MPI_Comm_free(&odd));
    MT_OK(MPI_Comm_free(&side));
    MT_OK(MPI_Comm_free(&parents));
    MT_OK(MPI_Comm_free(&merged));
    MT_OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv)
{
    const char *config = getenv("CSP_ASYNC_CONFIG"), *matching = getenv("CSP_MATCHING");
    int is_tag = matching && strcmp(matching, "tag") == 0;
    MPI_Comm inter = mt_init_spawned(argc, argv, 1, 1);
    int is_parent = inter == MPI_COMM_NULL;
    int offloads = !(config && strcmp(config, "off") == 0) && !is_tag;
    me = is_parent ? mt.rank : 100 + mt.rank;
    if (is_parent) {
        MT_OK(MPI_Comm_size(MPI_COMM_WORLD, &mt.size));
        MT_CHECK(mt.size >= 3, "needs three processes");
        among_users(offloads, is_tag);
        connected();
        MT_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                             MPI_ERRCODES_IGNORE));
    }
    with_children(inter, is_parent, offloads);
    return mt_finish();
}

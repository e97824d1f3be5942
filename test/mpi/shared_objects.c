/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Objects that all threads of a process use at the same time. They commit one datatype, each for
 * itself, and use it at once. They set and get the name of a communicator, a datatype and a window,
 * and get whole names. One makes windows from an info whose keys the others set and delete; the info
 * keeps the rest. */
#include "mt.h"

#define BLOCKS 256
#define NAME (MPI_MAX_OBJECT_NAME - 1)
#define ORDER "rar,war"

static pthread_barrier_t all;
static MPI_Datatype type;
static MPI_Comm comm;
static MPI_Win win;
static MPI_Info info;

/* Every second int of BLOCKS blocks. */
static void make_type(void)
{
    int lengths[BLOCKS], places[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = 1 + i % 2;
        places[i] = 4 * i;
    }
    MT_OK(MPI_Type_indexed(BLOCKS, lengths, places, MPI_INT, &type));
}

static void commit(int id)
{
    static int data[4 * BLOCKS + 4];
    int packed[2 * BLOCKS], at;

    for (int i = 0; i < (int) mt.iters; i++) {
        if (id == 0)
            make_type();
        pthread_barrier_wait(&all);
        MT_OK(MPI_Type_commit(&type));
        at = 0;
        MT_OK(MPI_Pack(data, 1, type, packed, (int) sizeof(packed), &at, MPI_COMM_SELF));
        MT_CHECK(at == (int) sizeof(int) * BLOCKS * 3 / 2, "%d bytes are packed", at);
        pthread_barrier_wait(&all);
        if (id == 0)
            MT_OK(MPI_Type_free(&type));
    }
}

static void check_name(const char *name, int n)
{
    MT_CHECK(n == NAME, "a name of %d characters", n);
    for (int i = 1; i < n; i++)
        MT_CHECK(name[i] == name[0], "a name of two: %s", name);
}

static void names(int id)
{
    char mine[MPI_MAX_OBJECT_NAME] = "", name[MPI_MAX_OBJECT_NAME];
    int n;

    memset(mine, 'a' + id, NAME);
    MT_OK(MPI_Comm_set_name(comm, mine));
    MT_OK(MPI_Type_set_name(type, mine));
    MT_OK(MPI_Win_set_name(win, mine));
    pthread_barrier_wait(&all);
    for (int i = 0; i < 20 * (int) mt.iters; i++) {
        MT_OK(MPI_Comm_set_name(comm, mine));
        MT_OK(MPI_Comm_get_name(comm, name, &n));
        check_name(name, n);
        MT_OK(MPI_Type_set_name(type, mine));
        MT_OK(MPI_Type_get_name(type, name, &n));
        check_name(name, n);
        MT_OK(MPI_Win_set_name(win, mine));
        MT_OK(MPI_Win_get_name(win, name, &n));
        check_name(name, n);
    }
}

/* Thread 0 of each process makes the windows, the others change the info. */
static void infos(int id)
{
    char key[32], value[32];
    MPI_Win made;
    void *base;
    int flag;

    snprintf(key, sizeof(key), "key of %d", id);
    for (int i = 0; i < (int) mt.iters / 5; i++) {
        if (id == 0) {
            MT_OK(MPI_Win_allocate(8, 1, info, MPI_COMM_SELF, &base, &made));
            MT_OK(MPI_Win_free(&made));
            MT_OK(MPI_Info_get(info, "accumulate_ordering", sizeof(value) - 1, value, &flag));
            MT_CHECK(flag && !strcmp(value, ORDER), "the order became %s", value);
            MT_OK(MPI_Alloc_mem(8, info, &base));
            MT_OK(MPI_Free_mem(base));
        } else {
            for (int j = 0; j < 20; j++) {
                MT_OK(MPI_Info_set(info, key, "value"));
                MT_OK(MPI_Info_delete(info, key));
            }
        }
    }
}

static void *run(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;

    pthread_barrier_wait(&all);
    commit(id);
    if (id == 0)
        make_type();
    pthread_barrier_wait(&all);
    names(id);
    infos(id);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 6, 1000);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "accumulate_ordering", ORDER));
    pthread_barrier_init(&all, NULL, (unsigned) mt.threads);
    mt_run(mt.threads, run);
    pthread_barrier_destroy(&all);
    MT_OK(MPI_Type_free(&type));
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

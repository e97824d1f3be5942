/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What all threads of a process share besides communicators. They add error classes and codes, and
 * each has its own and its own string. They set, get and delete keys of one info. They look at one new
 * group. They make the first communicators with a topology. */
#include "mt.h"

#define CLASSES 3               /* of each thread; a process has room for some 70 in all */
#define CODES 8                 /* of each class */
#define GROUPS 200

static pthread_barrier_t all;
static MPI_Info info;
static MPI_Group world, shared;

static void check_string(int code, const char *want)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    MT_OK(MPI_Error_string(code, text, &n));
    MT_CHECK(!strcmp(text, want), "error %d is '%s', not '%s'", code, text, want);
}

static void errors(int id)
{
    int class[CLASSES], code[CLASSES][CODES];
    char text[64];
    for (int i = 0; i < CLASSES; i++) {
        MT_OK(MPI_Add_error_class(&class[i]));
        snprintf(text, sizeof(text), "thread %d class %d", id, i);
        MT_OK(MPI_Add_error_string(class[i], text));
        for (int j = 0; j < CODES; j++) {
            MT_OK(MPI_Add_error_code(class[i], &code[i][j]));
            snprintf(text, sizeof(text), "thread %d class %d code %d", id, i, j);
            MT_OK(MPI_Add_error_string(code[i][j], text));
        }
    }
    pthread_barrier_wait(&all);
    for (int i = 0; i < CLASSES; i++) {
        snprintf(text, sizeof(text), "thread %d class %d", id, i);
        check_string(class[i], text);
        for (int j = 0; j < CODES; j++) {
            snprintf(text, sizeof(text), "thread %d class %d code %d", id, i, j);
            check_string(code[i][j], text);
        }
    }
}

static void keys(int id)
{
    char key[32], value[32], found[32];
    int flag, n;
    snprintf(key, sizeof(key), "key of %d", id);
    for (long i = 0; i < mt.iters; i++) {
        snprintf(value, sizeof(value), "value %ld", i);
        MT_OK(MPI_Info_set(info, key, value));
        MT_OK(MPI_Info_set(info, "key of all", value));
        MT_OK(MPI_Info_get(info, key, sizeof(found) - 1, found, &flag));
        MT_CHECK(flag && !strcmp(found, value), "%s is '%s', not '%s'", key, found, value);
        MT_OK(MPI_Info_get(info, "key of all", sizeof(found) - 1, found, &flag));
        MT_CHECK(flag, "the key of all threads is gone");
        MT_OK(MPI_Info_get_nkeys(info, &n));
        MT_CHECK(n >= 2 && n <= mt.threads + 1, "%d keys", n);
        MT_OK(MPI_Info_delete(info, key));
    }
}

static void groups(int id)
{
    int *ranks = mt_alloc((size_t) mt.size * sizeof(int));
    int *found = mt_alloc((size_t) mt.size * sizeof(int));
    for (int r = 0; r < mt.size; r++)
        ranks[r] = mt.size - 1 - r;
    for (int n = 0; n < GROUPS; n++) {
        if (id == 0)
            MT_OK(MPI_Group_incl(world, mt.size, ranks, &shared));
        pthread_barrier_wait(&all);
        MT_OK(MPI_Group_translate_ranks(world, mt.size, ranks, shared, found));
        for (int r = 0; r < mt.size; r++)
            MT_CHECK(found[r] == r, "rank %d became %d, not %d", ranks[r], found[r], r);
        pthread_barrier_wait(&all);
        if (id == 0)
            MT_OK(MPI_Group_free(&shared));
    }
    free(found);
    free(ranks);
}

static void topology(void)
{
    const int one = 1, no = 0;
    int kind;
    MPI_Comm comm;
    MT_OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &no, 0, &comm));
    pthread_barrier_wait(&all);
    MT_OK(MPI_Topo_test(comm, &kind));
    MT_CHECK(kind == MPI_CART, "a communicator has lost its topology");
    MT_OK(MPI_Comm_free(&comm));
}

static void *run(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    pthread_barrier_wait(&all);
    topology();
    errors(id);
    keys(id);
    groups(id);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 2000);
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    pthread_barrier_init(&all, NULL, (unsigned) mt.threads);
    mt_run(mt.threads, run);
    pthread_barrier_destroy(&all);
    MT_OK(MPI_Group_free(&world));
    MT_OK(MPI_Info_free(&info));
    return mt_finish();
}

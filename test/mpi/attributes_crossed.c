/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Two threads are in the delete functions of two attributes at the same time, each of which deletes, or
 * sets, the attribute of the other: neither waits for the other. With one object, and with two. What is
 * deleted is gone in the end, and what is set can be deleted. If only one of them changes the attribute
 * of the other, it waits: the function is called once for the old value, and the new one stays. Two
 * copy functions that set or delete each other's attribute do not wait for each other either; nor does
 * one that deletes all attributes get lost in the list. */
#include "mt.h"

static int keys[2], sets;
static MPI_Comm comms[2];       /* the attribute of keys[i] is one of comms[i] */
static pthread_barrier_t both;
static __thread int depth;
static atomic_int wrong;
static int slow_key, replace_key;
static atomic_int slow_calls;

static int delete_other(MPI_Comm comm, int key, void *value, void *extra)
{
    const int other = key == keys[0];

    (void) comm, (void) extra;
    if (value != &keys[!other])
        atomic_fetch_add(&wrong, 1);
    if (depth++ == 0) {
        pthread_barrier_wait(&both);
        if (sets)
            MT_OK(MPI_Comm_set_attr(comms[other], keys[other], &keys[other]));
        else
            MT_OK(MPI_Comm_delete_attr(comms[other], keys[other]));
    }
    depth--;
    return MPI_SUCCESS;
}

static void *worker(void *arg)
{
    const int i = ((mt_thread_t *) arg)->id;

    MT_OK(MPI_Comm_delete_attr(comms[i], keys[i]));
    return NULL;
}

static void cross(MPI_Comm first, MPI_Comm second, int is_set)
{
    void *value;
    int flag;

    comms[0] = first;
    comms[1] = second;
    sets = is_set;
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Comm_set_attr(comms[i], keys[i], &keys[i]));
    mt_run(2, worker);
    depth = 1;                  /* now the functions do nothing */
    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Comm_get_attr(comms[i], keys[i], &value, &flag));
        MT_CHECK(!flag || is_set, "attribute %d is still there", i);
        if (flag)
            MT_OK(MPI_Comm_delete_attr(comms[i], keys[i]));
    }
    depth = 0;
}

/* For the attribute that thread 1 deletes, which takes a while. */
static int delete_slowly(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) extra;
    if (value == &slow_key) {
        atomic_fetch_add(&slow_calls, 1);
        pthread_barrier_wait(&both);
        usleep(5000);
    }
    return MPI_SUCCESS;
}

/* For the attribute of thread 0, which sets that of thread 1 meanwhile. */
static int replace_slow(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) key, (void) value, (void) extra;
    pthread_barrier_wait(&both);
    MT_OK(MPI_Comm_set_attr(comm, slow_key, &both));
    return MPI_SUCCESS;
}

static void *one_waits_worker(void *arg)
{
    MT_OK(MPI_Comm_delete_attr(comms[0], ((mt_thread_t *) arg)->id ? slow_key : replace_key));
    return NULL;
}

static void one_waits(void)
{
    void *value;
    int flag;

    atomic_store(&slow_calls, 0);
    MT_OK(MPI_Comm_set_attr(comms[0], slow_key, &slow_key));
    MT_OK(MPI_Comm_set_attr(comms[0], replace_key, &replace_key));
    mt_run(2, one_waits_worker);
    MT_CHECK(atomic_load(&slow_calls) == 1, "%d calls for the old value", atomic_load(&slow_calls));
    MT_OK(MPI_Comm_get_attr(comms[0], slow_key, &value, &flag));
    MT_CHECK(flag && value == &both, "the new value is lost");
    MT_OK(MPI_Comm_delete_attr(comms[0], slow_key));
}

/* Two threads copy a datatype; the copy function of each sets or deletes the attribute that the other
 * copies, or deletes both. */
enum { SET, DELETE, DELETE_ALL } change;
static MPI_Datatype type;
static int copied[2];
static __thread int copies;

static int change_other(MPI_Datatype old, int key, void *extra, void *value, void *copy, int *flag)
{
    (void) extra, (void) value, (void) copy;
    *flag = 0;
    if (key != copied[copies])
        return MPI_SUCCESS;
    pthread_barrier_wait(&both);
    if (change == SET)
        MT_OK(MPI_Type_set_attr(old, copied[!copies], copied));
    else
        MT_OK(MPI_Type_delete_attr(old, copied[!copies]));
    if (change == DELETE_ALL)
        MT_OK(MPI_Type_delete_attr(old, key));
    return MPI_SUCCESS;
}

static void *copy_worker(void *arg)
{
    MPI_Datatype copy;

    copies = ((mt_thread_t *) arg)->id;
    MT_OK(MPI_Type_dup(type, &copy));
    MT_OK(MPI_Type_free(&copy));
    return NULL;
}

static void check_copied(void)
{
    for (int i = 0; i < 2; i++) {
        void *value;
        int flag;
        MT_OK(MPI_Type_get_attr(type, copied[i], &value, &flag));
        if (change == SET)
            MT_CHECK(flag && value == copied, "attribute %d is not the new one", i);
        else
            MT_CHECK(!flag, "attribute %d is still there", i);
    }
}

static void cross_copies(void)
{
    MT_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Type_create_keyval(change_other, MPI_TYPE_NULL_DELETE_FN, &copied[i], NULL));
    for (int round = 0; round < 300; round++) {
        change = round % 3;
        for (int i = 0; i < 2; i++)
            MT_OK(MPI_Type_set_attr(type, copied[i], &type));
        mt_run(2, copy_worker);
        check_copied();
    }
    MT_OK(MPI_Type_free(&type));
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Type_free_keyval(&copied[i]));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    mt_init(argc, argv, 2, 200);
    pthread_barrier_init(&both, NULL, 2);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_other, &keys[i], NULL));
    for (long i = 0; i < mt.iters; i++)
        cross(comm, i % 4 < 2 ? comm : MPI_COMM_WORLD, i % 2);
    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_slowly, &slow_key, NULL));
    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, replace_slow, &replace_key, NULL));
    for (int i = 0; i < 10; i++)
        one_waits();
    cross_copies();
    MT_OK(MPI_Comm_free_keyval(&slow_key));
    MT_OK(MPI_Comm_free_keyval(&replace_key));
    MT_CHECK(!atomic_load(&wrong), "a function got the value of another attribute");
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Comm_free_keyval(&keys[i]));
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads set, replace, get and delete attributes of one communicator, one type and one window at the
 * same time, each thread its own: none is lost, none comes back, and each value is deleted once. The
 * delete function may look up other attributes of the same object. Then they all replace the same
 * attribute: each of its values is deleted once, too. */
#include "mt.h"

#include <sched.h>

enum { COMM, TYPE, WIN, KINDS };

static int keys[KINDS][MT_MAX_THREADS], order[KINDS][2];
static MPI_Comm comm;
static MPI_Win win;
static atomic_long deleted[KINDS];

static void set(int kind, int key, void *value)
{
    switch (kind) {
        case COMM: MT_OK(MPI_Comm_set_attr(comm, key, value)); break;
        case TYPE: MT_OK(MPI_Type_set_attr(MPI_INT, key, value)); break;
        default: MT_OK(MPI_Win_set_attr(win, key, value)); break;
    }
}

static void *get(int kind, int key)
{
    void *value = NULL;
    int flag = 0;

    switch (kind) {
        case COMM: MT_OK(MPI_Comm_get_attr(comm, key, &value, &flag)); break;
        case TYPE: MT_OK(MPI_Type_get_attr(MPI_INT, key, &value, &flag)); break;
        default: MT_OK(MPI_Win_get_attr(win, key, &value, &flag)); break;
    }
    return flag ? value : NULL;
}

static void delete(int kind, int key)
{
    switch (kind) {
        case COMM: MT_OK(MPI_Comm_delete_attr(comm, key)); break;
        case TYPE: MT_OK(MPI_Type_delete_attr(MPI_INT, key)); break;
        default: MT_OK(MPI_Win_delete_attr(win, key)); break;
    }
}

/* Each looks up the first attribute of thread 0, which may be there or not. */
static int delete_comm(MPI_Comm c, int key, void *value, void *extra)
{
    (void) c, (void) key, (void) value, (void) extra;
    atomic_fetch_add(&deleted[COMM], 1);
    get(COMM, keys[COMM][0]);
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype t, int key, void *value, void *extra)
{
    (void) t, (void) key, (void) value, (void) extra;
    atomic_fetch_add(&deleted[TYPE], 1);
    get(TYPE, keys[TYPE][0]);
    return MPI_SUCCESS;
}

static int delete_win(MPI_Win w, int key, void *value, void *extra)
{
    (void) w, (void) key, (void) value, (void) extra;
    atomic_fetch_add(&deleted[WIN], 1);
    get(WIN, keys[WIN][0]);
    return MPI_SUCCESS;
}

/* Of the attribute that all threads replace: value is where its deletions are counted. */
static int same[KINDS];
static atomic_int *times;       /* [kind][thread][round] */

/* Now and then another thread runs meanwhile. On a busy machine a yield costs a time slice of all. */
static int count_comm(MPI_Comm c, int key, void *value, void *extra)
{
    static _Thread_local int calls;

    (void) c, (void) key, (void) extra;
    if (++calls % 8 == 0)
        sched_yield();
    atomic_fetch_add((atomic_int *) value, 1);
    return MPI_SUCCESS;
}

static int count_type(MPI_Datatype t, int key, void *value, void *extra)
{
    (void) t;
    return count_comm(comm, key, value, extra);
}

static int count_win(MPI_Win w, int key, void *value, void *extra)
{
    (void) w;
    return count_comm(comm, key, value, extra);
}

static void create_same(void)
{
    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_comm, &same[COMM], NULL));
    MT_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_type, &same[TYPE], NULL));
    MT_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_win, &same[WIN], NULL));
    times = mt_alloc((size_t) (KINDS * mt.threads * mt.iters) * sizeof(*times));
}

static void *replacer(void *arg)
{
    mt_thread_t *t = arg;

    for (int kind = 0; kind < KINDS; kind++) {
        for (long i = 0; i < mt.iters; i++)
            set(kind, same[kind], &times[(kind * mt.threads + t->id) * mt.iters + i]);
    }
    return NULL;
}

static void check_same(void)
{
    for (int kind = 0; kind < KINDS; kind++)
        delete(kind, same[kind]);
    for (long i = 0; i < KINDS * mt.threads * mt.iters; i++)
        MT_CHECK(atomic_load(&times[i]) == 1, "a value of kind %ld was deleted %d times",
                 i / mt.iters / mt.threads, atomic_load(&times[i]));
    MT_OK(MPI_Comm_free_keyval(&same[COMM]));
    MT_OK(MPI_Type_free_keyval(&same[TYPE]));
    MT_OK(MPI_Win_free_keyval(&same[WIN]));
    free(times);
}

static void create_keys(int *comm_key, int *type_key, int *win_key)
{
    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, comm_key, NULL));
    MT_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, type_key, NULL));
    MT_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, win_key, NULL));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    for (long i = 0; i < mt.iters; i++) {
        int kind = (int) (i % KINDS), key = keys[kind][t->id];
        char values[2];
        for (int k = 0; k < 2; k++) {
            set(kind, key, &values[k]);
            MT_CHECK(get(kind, key) == &values[k], "kind %d: thread %d has lost value %d", kind, t->id,
                     k);
        }
        delete(kind, key);
        MT_CHECK(get(kind, key) == NULL, "kind %d: thread %d sees a deleted value", kind, t->id);
    }
    return NULL;
}

/* The larger key first, then the smaller one twice: it is replaced. */
static void replaced(int kind)
{
    char values[3];
    int larger = order[kind][0] < order[kind][1];
    long before = atomic_load(&deleted[kind]);

    set(kind, order[kind][larger], &values[0]);
    set(kind, order[kind][!larger], &values[1]);
    set(kind, order[kind][!larger], &values[2]);
    MT_CHECK(atomic_load(&deleted[kind]) == before + 1, "kind %d: the old value was not deleted", kind);
    delete(kind, order[kind][!larger]);
    MT_CHECK(get(kind, order[kind][!larger]) == NULL, "kind %d: the old value is back", kind);
    delete(kind, order[kind][larger]);
}

int main(int argc, char **argv)
{
    int *memory;

    mt_init(argc, argv, 4, 30000);
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, comm, &memory, &win));
    for (int k = 0; k < 2; k++)
        create_keys(&order[COMM][k], &order[TYPE][k], &order[WIN][k]);
    for (int i = 0; i < mt.threads; i++)
        create_keys(&keys[COMM][i], &keys[TYPE][i], &keys[WIN][i]);
    for (int kind = 0; kind < KINDS; kind++)
        replaced(kind);
    for (int kind = 0; kind < KINDS; kind++)
        atomic_store(&deleted[kind], 0);
    mt_run(mt.threads, worker);
    create_same();
    mt_run(mt.threads, replacer);
    check_same();
    for (int kind = 0; kind < KINDS; kind++) {
        long rounds = (mt.iters + KINDS - 1 - kind) / KINDS * mt.threads;
        MT_CHECK(atomic_load(&deleted[kind]) == 2 * rounds,
                 "kind %d: %ld values deleted, not %ld", kind,
                 atomic_load(&deleted[kind]), 2 * rounds);
    }

    /* the window and the communicator delete what is left; each delete function looks at the rest */
    for (int i = 0; i < mt.threads; i++) {
        set(COMM, keys[COMM][i], memory);
        set(WIN, keys[WIN][i], memory);
    }
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Comm_free(&comm));
    return mt_finish();
}

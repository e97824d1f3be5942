/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The events of MPI_T agree with the performance variables: a thread that has waited for a VCI, and one
 * that has got a lock again while others waited. Threads of two processes exchange messages on one
 * communicator, while one more thread allocates and frees handles of the same events. -t threads,
 * -n messages. */
#include "mt.h"
#include "pvars.h"

#define EVENTS 2

static const char *const names[EVENTS] = { "ch4_threads_lock_waited", "ch4_threads_lock_kept" };
static const int elements[EVENTS] = { 3, 2 };
static atomic_long seen[EVENTS], freed, bad, late;
static atomic_int running;

/* The third number of lock_waited is of another type than the others. */
static void on_event(MPI_T_event_instance event, MPI_T_event_registration handle,
                     MPI_T_cb_safety safety, void *data)
{
    int kind = (int) (size_t) data, vci = -1, second = -1, source = -1;
    unsigned long long ns = 1ull << 63;
    MPI_Count when = -1;

    (void) handle;
    atomic_fetch_add(&seen[kind], 1);
    if (safety != MPI_T_CB_REQUIRE_THREAD_SAFE || MPI_T_event_read(event, 0, &vci) ||
        MPI_T_event_read(event, 1, &second) || MPI_T_event_get_source(event, &source) ||
        MPI_T_event_get_timestamp(event, &when) || vci != 0 || source < 0 || when < 0)
        atomic_fetch_add(&bad, 1);
    if (kind == 0 && (MPI_T_event_read(event, 2, &ns) || ns >= 1ull << 40 || second < 0 || second > 1))
        atomic_fetch_add(&bad, 1);
    if (kind == 1 && (second < 2 || MPI_T_event_read(event, 2, &ns) == MPI_SUCCESS))
        atomic_fetch_add(&bad, 1);
}

/* Of a handle that may be freed at any moment. */
static void on_event_of_other(MPI_T_event_instance event, MPI_T_event_registration handle,
                              MPI_T_cb_safety safety, void *data)
{
    (void) event, (void) handle, (void) safety;
    if (atomic_load((atomic_int *) data) == 0)
        atomic_fetch_add(&late, 1);
}

static void on_free(MPI_T_event_registration handle, MPI_T_cb_safety safety, void *data)
{
    (void) handle, (void) safety, (void) data;
    atomic_fetch_add(&freed, 1);
}

static int index_of(int kind)
{
    int index, verbosity, bind, num = 4, in_category[8], category, n;
    char name[64], text[256];
    int length = sizeof(name), text_length = sizeof(text);
    MPI_Datatype types[4];
    MPI_Aint at[4];
    MPI_T_enum values;

    MT_OK(MPI_T_event_get_index(names[kind], &index));
    MT_OK(MPI_T_event_get_info(index, name, &length, &verbosity, types, at, &num, &values, NULL, text,
                               &text_length, &bind));
    MT_CHECK(!strcmp(name, names[kind]) && num == elements[kind], "%s has %d elements", name, num);
    MT_CHECK(values == MPI_T_ENUM_NULL && strlen(text) > 10, "%s has no description", name);
    MT_OK(MPI_T_category_get_index("CH4_THREADS", &category));
    MT_OK(MPI_T_category_get_num_events(category, &n));
    MT_CHECK(n == EVENTS, "%d events in CH4_THREADS", n);
    MT_OK(MPI_T_category_get_events(category, 8, in_category));
    MT_CHECK(in_category[0] == index || in_category[1] == index, "%s is not in the category", name);
    return index;
}

static void *exchange(mt_thread_t * t)
{
    for (long i = 0; i < mt.iters; i++) {
        MPI_Request r[2];
        long out = i, in = -1;
        MT_OK(MPI_Irecv(&in, 1, MPI_LONG, mt.peer, t->id, MPI_COMM_WORLD, &r[0]));
        MT_OK(MPI_Isend(&out, 1, MPI_LONG, mt.peer, t->id, MPI_COMM_WORLD, &r[1]));
        MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        MT_CHECK(in == i, "message %ld came instead of %ld", in, i);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void *come_and_go(void)
{
    atomic_int is_there;
    long n = 0;

    for (; atomic_load(&running) || n == 0; n++) {
        MPI_T_event_registration h;
        atomic_store(&is_there, 1);
        MT_OK(MPI_T_event_handle_alloc(index_of(0), NULL, MPI_INFO_NULL, &h));
        MT_OK(MPI_T_event_register_callback(h, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &is_there,
                                            on_event_of_other));
        usleep(100);
        MT_OK(MPI_T_event_handle_free(h, NULL, on_free));
        atomic_store(&is_there, 0);
    }
    MT_CHECK(atomic_load(&freed) == n, "%ld of %ld handles freed", atomic_load(&freed), n);
    return NULL;
}

static void *exchange_or_register(void *arg)
{
    mt_thread_t *t = arg;
    return t->id == mt.threads ? come_and_go() : exchange(t);
}

int main(int argc, char **argv)
{
    MPI_T_event_registration h[EVENTS];
    pv_set_t *set;

    mt_init(argc, argv, 4, 2000);
    MT_CHECK(mt.size == 2 && mt.threads < MT_MAX_THREADS, "run with 2 processes");
    pv_find();
    for (int i = 0; i < EVENTS; i++) {
        MT_OK(MPI_T_event_handle_alloc(index_of(i), NULL, MPI_INFO_NULL, &h[i]));
        MT_OK(MPI_T_event_register_callback(h[i], MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                            (void *) (size_t) i, on_event));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    set = pv_start();
    long before[EVENTS] = { atomic_load(&seen[0]), atomic_load(&seen[1]) };
    atomic_store(&running, mt.threads);
    mt_run(mt.threads + 1, exchange_or_register);
    PV_IS(set, "lock_waits_main", (double) (atomic_load(&seen[0]) - before[0]) -
          pv(set, "lock_waits_progress"));
    PV_IS(set, "monopolization_thread", atomic_load(&seen[1]) - before[1]);
    MT_CHECK(atomic_load(&bad) == 0, "%ld bad events", atomic_load(&bad));
    MT_CHECK(atomic_load(&late) == 0, "%ld events of a freed handle", atomic_load(&late));
    for (int i = 0; i < EVENTS; i++)
        MT_OK(MPI_T_event_handle_free(h[i], NULL, NULL));
    pv_free(set);
    MT_OK(MPI_T_finalize());
    return mt_finish();
}

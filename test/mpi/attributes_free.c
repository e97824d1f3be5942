/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Comm_free and MPI_Comm_disconnect call the delete functions of all attributes before they
 * return, in the calling thread, once, also while requests still use the communicator; the
 * functions may call MPI, and delete the attribute themselves. So does MPI_Type_free, for types. If
 * one of them fails, the call fails and the communicator stays. MPI_Finalize deletes the attributes
 * of MPI_COMM_SELF while the program can still communicate, and those of MPI_COMM_WORLD. Each
 * thread has its own communicator, of both processes. */
#include "mt.h"

typedef struct {
    int calls, fails, tag;
    pthread_t caller;
} attr_t;

static int key;
static MPI_Comm parents[MT_MAX_THREADS];
static attr_t of_self = {.tag = 90 }, of_world = {.tag = 91 };

/* A thread that completes a message for another one must not get here: it holds what this needs. */
static int delete_it(MPI_Comm comm, int keyval, void *value, void *extra)
{
    attr_t *a = value;
    int out = a->tag, in = -1;

    (void) comm, (void) keyval, (void) extra;
    a->calls++;
    a->caller = pthread_self();
    MT_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, a->tag, &in, 1, MPI_INT, 0, a->tag, MPI_COMM_SELF,
                       MPI_STATUS_IGNORE));
    MT_CHECK(in == out, "the delete function got %d", in);
    return a->fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int copy_it(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    attr_t *a = mt_alloc(sizeof(attr_t));

    (void) comm, (void) keyval, (void) extra;
    a->tag = ((attr_t *) in)->tag;
    *(attr_t **) out = a;
    *flag = 1;
    return MPI_SUCCESS;
}

static attr_t *dup_with_attr(MPI_Comm parent, MPI_Comm * comm)
{
    attr_t *a;
    int flag;

    MT_OK(MPI_Comm_dup(parent, comm));
    MT_OK(MPI_Comm_get_attr(*comm, key, &a, &flag));
    MT_CHECK(flag && a->calls == 0, "the attribute was not copied");
    return a;
}

static void check(const attr_t * a, const char *when)
{
    MT_CHECK(a->calls == 1, "%s the delete function has been called %d times", when, a->calls);
    MT_CHECK(pthread_equal(a->caller, pthread_self()), "%s another thread deleted", when);
}

/* A receive that nobody answers, and a persistent one, use the communicator when it is freed. */
static void pending(MPI_Comm parent, int tag)
{
    int in[2];
    MPI_Comm comm;
    MPI_Request r[2];
    attr_t *a = dup_with_attr(parent, &comm);

    MT_OK(MPI_Irecv(&in[0], 1, MPI_INT, mt.peer, tag, comm, &r[0]));
    MT_OK(MPI_Recv_init(&in[1], 1, MPI_INT, mt.peer, tag, comm, &r[1]));
    MT_OK(MPI_Comm_free(&comm));
    check(a, "after MPI_Comm_free");
    MT_OK(MPI_Request_free(&r[1]));
    MT_OK(MPI_Cancel(&r[0]));
    MT_OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    check(a, "after the last request");
    free(a);
}

/* The thread that completes the messages may still be about to let go of the communicator. */
static void complete(MPI_Comm parent, int tag, int disconnect)
{
    int in = -1, out = tag, flag = 0;
    MPI_Comm comm;
    MPI_Request r[2];
    attr_t *a = dup_with_attr(parent, &comm);

    MT_OK(MPI_Irecv(&in, 1, MPI_INT, mt.peer, tag, comm, &r[0]));
    MT_OK(MPI_Isend(&out, 1, MPI_INT, mt.peer, tag, comm, &r[1]));
    while (!flag)
        MT_OK(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
    MT_CHECK(in == tag, "got %d", in);
    if (disconnect)
        MT_OK(MPI_Comm_disconnect(&comm));
    else
        MT_OK(MPI_Comm_free(&comm));
    check(a, disconnect ? "after MPI_Comm_disconnect" : "after MPI_Comm_free");
    free(a);
}

/* The attribute that was set last is deleted first: its error must not get lost. */
static void failing(MPI_Comm parent, int tag)
{
    int other, out = tag, in = -1;
    attr_t second = {.fails = 1,.tag = tag };
    MPI_Comm comm;
    attr_t *a = dup_with_attr(parent, &comm);

    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_it, &other, NULL));
    MT_OK(MPI_Comm_set_attr(comm, other, &second));
    MT_CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS, "a delete function failed, MPI_Comm_free did not");
    MT_CHECK(comm != MPI_COMM_NULL, "MPI_Comm_free failed, but the communicator is null");
    check(&second, "after an error");
    MT_OK(MPI_Sendrecv(&out, 1, MPI_INT, mt.peer, tag, &in, 1, MPI_INT, mt.peer, tag, comm,
                       MPI_STATUS_IGNORE));
    MT_CHECK(in == tag, "after an error, got %d", in);
    MT_OK(MPI_Comm_free(&comm));
    check(a, "in the end");
    check(&second, "in the end");
    MT_OK(MPI_Comm_free_keyval(&other));
    free(a);
}

/* Deletes the attribute that it is called for, which calls it once more. */
static int delete_itself(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) extra;
    if (((attr_t *) value)->calls++ == 0)
        MT_OK(MPI_Comm_delete_attr(comm, keyval));
    return MPI_SUCCESS;
}

/* Such a function runs in MPI_Comm_set_attr, which replaces a value, and in MPI_Comm_free. */
static void deleted_before(MPI_Comm parent)
{
    int other, flag;
    attr_t first = {.calls = 0 }, second = {.calls = 0 }, *found;
    MPI_Comm comm;
    attr_t *a = dup_with_attr(parent, &comm);

    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_itself, &other, NULL));
    MT_OK(MPI_Comm_set_attr(comm, other, &first));
    MT_OK(MPI_Comm_set_attr(comm, other, &second));
    MT_CHECK(first.calls == 2, "the delete function has been called %d times", first.calls);
    MT_OK(MPI_Comm_get_attr(comm, other, &found, &flag));
    MT_CHECK(flag && found == &second, "the new value is lost");
    MT_OK(MPI_Comm_free(&comm));
    MT_CHECK(second.calls == 2, "in the end it has been called %d times", second.calls);
    MT_OK(MPI_Comm_free_keyval(&other));
    free(a);
}

static int delete_of_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void) type;
    return delete_it(MPI_COMM_NULL, keyval, value, extra);
}

/* A receive that waits and a send use the type when it is freed. */
static void of_type(MPI_Comm parent, int tag)
{
    int other, in[2] = { -1, -1 }, out[2] = { tag, tag };
    attr_t a = {.fails = 1,.tag = tag };
    MPI_Datatype type;
    MPI_Request r[2];

    MT_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_of_type, &other, NULL));
    MT_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    MT_OK(MPI_Type_commit(&type));
    MT_OK(MPI_Type_set_attr(type, other, &a));
    MT_OK(MPI_Irecv(in, 1, type, mt.peer, tag, parent, &r[0]));
    MT_CHECK(MPI_Type_free(&type) != MPI_SUCCESS, "a delete function failed, MPI_Type_free did not");
    MT_CHECK(type != MPI_DATATYPE_NULL, "MPI_Type_free failed, but the type is null");
    check(&a, "after an error");
    a = (attr_t) {.tag = tag};
    MT_OK(MPI_Type_set_attr(type, other, &a));
    MT_OK(MPI_Isend(out, 1, type, mt.peer, tag, parent, &r[1]));
    MT_OK(MPI_Type_free(&type));
    check(&a, "after MPI_Type_free");
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    MT_CHECK(in[1] == tag, "got %d", in[1]);
    check(&a, "after the last use of the type");
    MT_OK(MPI_Type_free_keyval(&other));
}

/* MPI_Type_get_contents returns another handle of a type that has attributes. The type keeps them when
 * one of the two is freed. */
static void of_contents(int tag, int keeps_first)
{
    int other, flag, ints[1];
    attr_t a = {.tag = tag };
    void *found;
    MPI_Datatype inner, outer, content;

    MT_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_of_type, &other, NULL));
    MT_OK(MPI_Type_vector(4, 1, 2, MPI_INT, &inner));
    MT_OK(MPI_Type_set_attr(inner, other, &a));
    MT_OK(MPI_Type_contiguous(2, inner, &outer));
    MT_OK(MPI_Type_get_contents(outer, 1, 0, 1, ints, NULL, &content));
    MT_OK(MPI_Type_free(keeps_first ? &content : &inner));
    MT_OK(MPI_Type_get_attr(keeps_first ? inner : content, other, &found, &flag));
    MT_CHECK(flag && found == &a && a.calls == 0, "the attribute went with another handle");
    MT_OK(MPI_Type_free(&outer));
    MT_OK(MPI_Type_free(keeps_first ? &inner : &content));
    check(&a, "after the last handle");
    MT_OK(MPI_Type_free_keyval(&other));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Comm parent = parents[t->id];

    pending(parent, t->id);
    failing(parent, t->id);
    deleted_before(parent);
    of_type(parent, t->id);
    of_contents(t->id, 0);
    of_contents(t->id, 1);
    for (long i = 0; i < mt.iters; i++)
        complete(parent, t->id, i % 8 == 0);
    return NULL;
}

/* in MPI_Finalize; its peer is here, too */
static int delete_self(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int in = -1, finalized = 1;

    MT_OK(MPI_Finalized(&finalized));
    MT_CHECK(!finalized, "the attributes of MPI_COMM_SELF are deleted after MPI_Finalize");
    MT_OK(MPI_Sendrecv(&mt.rank, 1, MPI_INT, mt.peer, 0, &in, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    MT_CHECK(in == mt.peer, "in MPI_Finalize, got %d", in);
    return delete_it(comm, keyval, value, extra);
}

static int delete_world(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm, (void) keyval, (void) extra;
    ((attr_t *) value)->calls++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int self_key, world_key;
    attr_t of_parent[MT_MAX_THREADS];

    mt_init(argc, argv, 4, 500);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_create_keyval(copy_it, delete_it, &key, NULL));
    for (int i = 0; i < mt.threads; i++) {
        of_parent[i] = (attr_t) {.tag = i};
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]));
        MT_OK(MPI_Comm_set_attr(parents[i], key, &of_parent[i]));
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MT_CHECK(of_parent[i].calls == 0, "the attribute of a parent was deleted");
        MT_OK(MPI_Comm_free(&parents[i]));
        check(&of_parent[i], "in the main thread");
    }
    MT_OK(MPI_Comm_free_keyval(&key));

    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_self, &self_key, NULL));
    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_world, &world_key, NULL));
    MT_OK(MPI_Comm_set_attr(MPI_COMM_SELF, self_key, &of_self));
    MT_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, world_key, &of_world));
    MPI_Finalize();
    if (of_self.calls != 1 || of_world.calls != 1) {
        fprintf(stderr, "MPI_Finalize deleted %d attributes of MPI_COMM_SELF, %d of MPI_COMM_WORLD\n",
                of_self.calls, of_world.calls);
        return 1;
    }
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Errors under contention: a truncated message is reported by MPI_Wait and in MPI_Waitall's
 * statuses, invalid arguments at the call, and the error handler called is the one of the
 * communicator concerned. */
#include "mt.h"

#define SMALL 32
#define LARGE 200000

static MPI_Comm comm[MT_MAX_THREADS];
static atomic_long handled[MT_MAX_THREADS];
static int key;

/* MPICH keeps the texts of the latest 128 errors of a process only and takes an older code for a
 * damaged one, so the threads make errors together in small portions. */
static pthread_barrier_t portion;

/* The communicator carries its thread number as an attribute. */
static void handler(MPI_Comm * c, int *code, ...)
{
    int *id, flag = 0;
    (void) code;
    MPI_Comm_get_attr(*c, key, &id, &flag);
    MT_CHECK(flag, "error handler called for another communicator");
    atomic_fetch_add(&handled[*id], 1);
}

/* A request beside the failed one: complete, or still active and said to be so. */
static void untouched(MPI_Request * r, MPI_Status * st)
{
    if (st->MPI_ERROR == MPI_SUCCESS)
        return;
    mt_fails(st->MPI_ERROR, MPI_ERR_PENDING, "status of another request");
    MT_OK(MPI_Wait(r, MPI_STATUS_IGNORE));
}

static void truncated(int id, int bytes, char *out, char *in)
{
    MPI_Request r[3];
    MPI_Status st[3];
    MPI_Irecv(in, bytes - 1, MPI_BYTE, mt.peer, 0, comm[id], &r[0]);
    MPI_Isend(out, bytes, MPI_BYTE, mt.peer, 0, comm[id], &r[1]);
    mt_fails(MPI_Wait(&r[0], &st[0]), MPI_ERR_TRUNCATE, "MPI_Wait");
    MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));

    MPI_Irecv(in, bytes, MPI_BYTE, mt.peer, 1, comm[id], &r[0]);
    MPI_Irecv(in + bytes, bytes / 2, MPI_BYTE, mt.peer, 2, comm[id], &r[1]);
    MPI_Irecv(in + 2 * bytes, bytes, MPI_BYTE, mt.peer, 3, comm[id], &r[2]);
    for (int tag = 1; tag <= 3; tag++)
        MT_OK(MPI_Send(out, SMALL, MPI_BYTE, mt.peer, tag, comm[id]));
    if (bytes == SMALL) {
        mt_fails(MPI_Waitall(3, r, st), MPI_ERR_IN_STATUS, "MPI_Waitall");
        mt_fails(st[1].MPI_ERROR, MPI_ERR_TRUNCATE, "status of the truncated one");
        untouched(&r[0], &st[0]);
        untouched(&r[2], &st[2]);
    } else {
        MT_OK(MPI_Waitall(3, r, st));
    }
}

/* For a receive without room one byte is too long. */
static MPI_Datatype gaps;

static void without_room(int id, int bytes, MPI_Datatype type, char *out)
{
    MPI_Request r[2];
    MPI_Message m;

    MPI_Irecv(NULL, 0, type, mt.peer, 4, comm[id], &r[0]);
    MPI_Issend(out, bytes, MPI_BYTE, mt.peer, 4, comm[id], &r[1]);
    mt_fails(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "MPI_Wait without room");
    MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));

    MPI_Isend(out, bytes, MPI_BYTE, mt.peer, 5, comm[id], &r[1]);
    MPI_Mprobe(mt.peer, 5, comm[id], &m, MPI_STATUS_IGNORE);
    MPI_Imrecv(NULL, 0, type, &m, &r[0]);
    mt_fails(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "MPI_Imrecv without room");
    MT_OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
}

static int bad_arguments(int id)
{
    int b = 0;
    MPI_Request r;
    mt_fails(MPI_Isend(&b, 1, MPI_INT, mt.peer, -5, comm[id], &r), MPI_ERR_TAG, "send tag");
    mt_fails(MPI_Isend(&b, 1, MPI_INT, mt.size, 0, comm[id], &r), MPI_ERR_RANK, "send rank");
    mt_fails(MPI_Isend(&b, -1, MPI_INT, mt.peer, 0, comm[id], &r), MPI_ERR_COUNT, "send count");
    mt_fails(MPI_Isend(&b, 1, MPI_DATATYPE_NULL, mt.peer, 0, comm[id], &r), MPI_ERR_TYPE,
           "send type");
    pthread_barrier_wait(&portion);
    mt_fails(MPI_Irecv(&b, 1, MPI_INT, mt.peer, -5, comm[id], &r), MPI_ERR_TAG, "receive tag");
    mt_fails(MPI_Irecv(&b, 1, MPI_INT, mt.size, 0, comm[id], &r), MPI_ERR_RANK, "receive rank");
    mt_fails(MPI_Irecv(&b, -1, MPI_INT, mt.peer, 0, comm[id], &r), MPI_ERR_COUNT, "receive count");
    mt_fails(MPI_Send(&b, 1, MPI_INT, mt.peer, -5, comm[id]), MPI_ERR_TAG, "blocking send tag");
    return 8;
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    char *out = mt_alloc(LARGE), *in = mt_alloc(3 * LARGE);
    int own_handler = t->id % 2;
    long bad = 0;
    for (long i = 0; i < mt.iters; i++) {
        truncated(t->id, i % 8 ? SMALL : LARGE, out, in);
        pthread_barrier_wait(&portion);
        without_room(t->id, i % 8 ? 1 : LARGE, i % 2 ? gaps : MPI_BYTE, out);
        pthread_barrier_wait(&portion);
        bad += bad_arguments(t->id);
        pthread_barrier_wait(&portion);
    }
    /* at least one call of the handler for each bad call; completions add their own */
    if (own_handler)
        MT_CHECK(atomic_load(&handled[t->id]) >= bad + mt.iters, "handler called %ld times only",
                 atomic_load(&handled[t->id]));
    else
        MT_CHECK(atomic_load(&handled[t->id]) == 0, "handler called for another communicator");
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    static int ids[MT_MAX_THREADS];
    MPI_Errhandler h;
    mt_init(argc, argv, 4, 100);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    /* Waitall belongs to no communicator: its error goes to the world's handler */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Type_vector(2, 1, 2, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < mt.threads; i++) {
        ids[i] = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Comm_set_attr(comm[i], key, &ids[i]);
        MPI_Comm_set_errhandler(comm[i], i % 2 ? h : MPI_ERRORS_RETURN);
    }
    pthread_barrier_init(&portion, NULL, (unsigned) mt.threads);
    mt_run(mt.threads, worker);
    pthread_barrier_destroy(&portion);
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_free(&comm[i]);
    mt_type_free(&gaps);
    MPI_Errhandler_free(&h);
    MPI_Comm_free_keyval(&key);
    return mt_finish();
}

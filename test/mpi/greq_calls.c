/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The program's functions of generalized requests call MPI: each sends a message to its own process,
 * and cancel_fn completes its request, while other threads do the same. */
#include "mt.h"

typedef struct {
    int tag;                    /* of the thread */
    MPI_Request request;        /* what cancel_fn completes */
    int queried, freed, canceled;
} state_t;

static void send_to_self(int tag)
{
    int sent = tag, received = -1;

    MT_OK(MPI_Sendrecv(&sent, 1, MPI_INT, 0, tag, &received, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
                       MPI_STATUS_IGNORE));
    MT_CHECK(received == tag, "thread %d got the message of thread %d", tag, received);
}

static int query(void *state, MPI_Status * status)
{
    state_t *s = state;

    send_to_self(s->tag);
    s->queried++;
    MT_OK(MPI_Status_set_elements(status, MPI_BYTE, 0));
    MT_OK(MPI_Status_set_cancelled(status, s->canceled));
    return MPI_SUCCESS;
}

static int freed(void *state)
{
    state_t *s = state;

    send_to_self(s->tag);
    s->freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_complete)
{
    state_t *s = state;

    MT_CHECK(!is_complete, "the request is complete");
    s->canceled = 1;
    return MPI_Grequest_complete(s->request);
}

static MPI_Request start(state_t * s)
{
    MPI_Request r;

    s->queried = s->freed = s->canceled = 0;
    MT_OK(MPI_Grequest_start(query, freed, cancel, s, &r));
    s->request = r;
    return r;
}

static void canceled(state_t * s)
{
    MPI_Request r = start(s);
    MPI_Status status;
    int is_canceled;

    MT_OK(MPI_Cancel(&r));
    MT_OK(MPI_Wait(&r, &status));
    MT_OK(MPI_Test_cancelled(&status, &is_canceled));
    MT_CHECK(is_canceled && s->queried == 1 && s->freed == 1, "canceled %d, queried %d, freed %d",
             is_canceled, s->queried, s->freed);
}

static void tested(state_t * s)
{
    MPI_Request r = start(s);
    int is_done;

    MT_OK(MPI_Grequest_complete(s->request));
    MT_OK(MPI_Test(&r, &is_done, MPI_STATUS_IGNORE));
    MT_CHECK(is_done && s->queried == 1 && s->freed == 1, "done %d, queried %d, freed %d", is_done,
             s->queried, s->freed);
}

static void freed_first(state_t * s)
{
    MPI_Request r = start(s);

    MT_OK(MPI_Request_free(&r));
    MT_OK(MPI_Grequest_complete(s->request));
    MT_CHECK(s->freed == 1, "freed %d times", s->freed);
}

static void freed_last(state_t * s)
{
    MPI_Request r = start(s);

    MT_OK(MPI_Grequest_complete(s->request));
    MT_OK(MPI_Request_free(&r));
    MT_CHECK(s->freed == 1, "freed %d times", s->freed);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    state_t s = {.tag = t->id };

    for (long i = 0; i < mt.iters; i++) {
        canceled(&s);
        tested(&s);
        freed_first(&s);
        freed_last(&s);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 200);
    mt_run(mt.threads, worker);
    return mt_finish();
}

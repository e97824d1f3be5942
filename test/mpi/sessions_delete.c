/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Finalize calls the delete functions of MPI_COMM_SELF's attributes, last set first: one waits for
 * a thread that has a session, one ends the program's session, one has another session and leaves a
 * third open, and one fails, which MPI_Finalize returns although it ends. With -n 1 the first session
 * of the process begins in MPI_Finalize. */
#include "session.h"

enum { FAILS, BEGINS, ENDS, WAITS, NUM };

static MPI_Session own = MPI_SESSION_NULL, left = MPI_SESSION_NULL;
static int called;

static void add_up(MPI_Comm c)
{
    int one = 1, sum = 0, size;
    MT_OK(MPI_Comm_size(c, &size));
    MT_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c));
    MT_CHECK(sum == size, "the sum of %d processes is %d", size, sum);
}

static void *one_session(void *pset)
{
    MPI_Session s = open_session();
    MPI_Comm c = comm_of_session(s, pset);
    add_up(c);
    MT_OK(MPI_Comm_free(&c));
    MT_OK(MPI_Session_finalize(&s));
    return NULL;
}

static void wait_for_session(void)
{
    pthread_t thread;
    MT_CHECK(pthread_create(&thread, NULL, one_session, (char *) "mpi://SELF") == 0,
             "cannot create a thread");
    pthread_join(thread, NULL);
}

static void end_own(void)
{
    int finalized;
    if (own != MPI_SESSION_NULL)
        MT_OK(MPI_Session_finalize(&own));
    MT_OK(MPI_Finalized(&finalized));
    MT_CHECK(!finalized, "a session's end finalizes the world");
    add_up(MPI_COMM_WORLD);
}

static void begin(void)
{
    one_session((char *) "mpi://WORLD");
    left = open_session();
}

static int on_delete(MPI_Comm c, int keyval, void *value, void *extra)
{
    const int what = (int) (intptr_t) value;
    (void) c, (void) keyval, (void) extra;
    MT_CHECK(what == NUM - 1 - called, "function %d is called as number %d", what, called);
    called++;
    if (what == WAITS)
        wait_for_session();
    else if (what == ENDS)
        end_own();
    else if (what == BEGINS)
        begin();
    return what == FAILS ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void world(void)
{
    int provided, key, finalized;
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_CHECK(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int what = 0; what < NUM; what++) {
        MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL));
        MT_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *) (intptr_t) what));
        MT_OK(MPI_Comm_free_keyval(&key));
    }
    if (mt.iters > 1)
        own = open_session();
    MT_CHECK(MPI_Finalize() != MPI_SUCCESS, "the error of a delete function is lost");
    MT_OK(MPI_Finalized(&finalized));
    MT_CHECK(finalized && called == NUM, "finalized %d, %d functions called", finalized, called);
}

int main(int argc, char **argv)
{
    mt_options(argc, argv, 1, 2);
    world();
    one_session((char *) "mpi://WORLD");
    MT_OK(MPI_Session_finalize(&left));
    one_session((char *) "mpi://WORLD");
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

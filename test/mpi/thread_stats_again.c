/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A second session after the first has ended: the counters go on, and so the rates are those since the
 * first began. -n messages of the first session. */
#include "session.h"
#include "pvars.h"

#define PAUSE_US 500000
#define OTHERS 1000             /* messages of the library itself, at most */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static MPI_Session begin(MPI_Comm * comm)
{
    MPI_Session s = open_session();

    *comm = comm_of_session(s, "mpi://WORLD");
    MT_OK(MPI_Comm_rank(*comm, &mt.rank));
    mt.peer = mt.rank ^ 1;
    return s;
}

static void end(MPI_Session * s, MPI_Comm * comm)
{
    MT_OK(MPI_Comm_free(comm));
    MT_OK(MPI_Session_finalize(s));
}

static void exchange(MPI_Comm comm)
{
    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Sendrecv(NULL, 0, MPI_INT, mt.peer, 0, NULL, 0, MPI_INT, mt.peer, 0, comm,
                           MPI_STATUS_IGNORE));
}

/* The first session began between the two times. */
static void check_rate(pv_set_t * set, const char *name, double before, double after)
{
    const double messages = (double) mt.iters, least_time = seconds() - after;
    const double rate = pv(set, name), most_time = seconds() - before;

    MT_CHECK(rate * most_time >= messages && rate * least_time <= messages + OTHERS,
             "%s is %g: %g messages in %g to %g s", name, rate, messages, least_time, most_time);
}

int main(int argc, char **argv)
{
    int provided;
    double before, after;
    MPI_Session s;
    MPI_Comm comm;
    pv_set_t *set;

    mt_options(argc, argv, 1, 5000);
    MT_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    before = seconds();
    s = begin(&comm);
    after = seconds();
    exchange(comm);
    end(&s, &comm);
    usleep(PAUSE_US);
    s = begin(&comm);
    pv_find();
    set = pv_start();
    check_rate(set, "send_rate", before, after);
    check_rate(set, "receive_rate", before, after);
    pv_free(set);
    MT_OK(MPI_T_finalize());
    end(&s, &comm);
    MT_OK(MPI_T_finalize());
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

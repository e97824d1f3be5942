/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A second session after the first has ended: the counters go on, and so the rates are those since the
 * first began. -n messages of the first session. */
#include "mt.h"
#include "pvars.h"

#define PAUSE_US 500000
#define OTHERS 1000             /* messages of the library itself, at most */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static MPI_Session open_session(MPI_Comm * comm)
{
    MPI_Session s;
    MPI_Group group;
    MPI_Info info;

    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    MT_OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &s));
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    MT_OK(MPI_Comm_create_from_group(group, "tsm-test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm));
    MT_OK(MPI_Group_free(&group));
    MT_OK(MPI_Comm_rank(*comm, &mt.rank));
    mt.peer = mt.rank ^ 1;
    return s;
}

static void close_session(MPI_Session * s, MPI_Comm * comm)
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
    s = open_session(&comm);
    after = seconds();
    exchange(comm);
    close_session(&s, &comm);
    usleep(PAUSE_US);
    s = open_session(&comm);
    pv_find();
    set = pv_start();
    check_rate(set, "send_rate", before, after);
    check_rate(set, "receive_rate", before, after);
    pv_free(set);
    MT_OK(MPI_T_finalize());
    close_session(&s, &comm);
    MT_OK(MPI_T_finalize());
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}

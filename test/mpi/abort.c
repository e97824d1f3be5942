/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Abort by one thread ends all processes, and the job with its exit status, while the other
 * threads of each process wait, sleep and test, and so do ghosts and server threads. Starts itself:
 * this process alone starts two jobs by the mpirun of its own job and, without ghosts, a process
 * without mpirun, which nothing else would end. */
#include "mpirun.h"
#include "mt.h"

#define ENV "env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID MPIR_CVAR_CH4_NUM_VCIS=%d " \
    "timeout -k 5 20 %s %s %s 2>/dev/null"
#define STATUS 3

enum { RECV, WAITALL, TEST, PROBE, ABORTS, THREADS };

static int of_world;            /* MPI_Abort has MPI_COMM_WORLD, else another communicator */

static MPI_Comm comm[THREADS];

/* For a message that nobody sends. */
static void wait_in(int how, MPI_Comm c)
{
    MPI_Request r[2];
    int in[2], flag = 0;

    switch (how) {
        case WAITALL:
        case TEST:
            for (int i = 0; i < 2; i++)
                MPI_Irecv(&in[i], 1, MPI_INT, i ? mt.peer : MPI_ANY_SOURCE, how, c, &r[i]);
            if (how == WAITALL)
                MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
            while (!flag)
                MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
            break;
        case PROBE:
            MPI_Probe(mt.peer, how, c, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Recv(in, 1, MPI_INT, mt.peer, how, c, MPI_STATUS_IGNORE);
    }
}

static void *worker(void *arg)
{
    const mt_thread_t *t = arg;

    if (t->id == ABORTS) {
        MPI_Barrier(comm[ABORTS]);
        usleep(20000);          /* so long that the others sleep */
        if (mt.rank == 0)
            MPI_Abort(of_world ? MPI_COMM_WORLD : comm[ABORTS], STATUS);
    }
    wait_in(t->id, comm[t->id]);
    return NULL;
}

static int in_job(const char *of)
{
    int provided;

    of_world = !strcmp(of, "world");
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt.size);
    mt.peer = mt.size - 1 - mt.rank;
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    mt_run(THREADS, worker);
    return 0;
}

/* Of another communicator, processes are told to end one by one. Then mpirun may lose their exit
 * status: it may see that one has ended before it sees its connection closed (4.0.2 as well). */
static int is_status(int status, int is_exact)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

    return code == STATUS || (!is_exact && code && code != 124 && code != 137);
}

static int ends(const char *program, const char *start, int vcis, const char *of, int is_exact)
{
    char command[2 * PATH_MAX + 1024];
    int status;

    snprintf(command, sizeof(command), ENV, vcis, start, program, of);
    status = system(command);
    if (!is_status(status, is_exact))
        printf("%s: status %x\n", command, (unsigned) status);
    return is_status(status, is_exact);
}

int main(int argc, char **argv)
{
    const char *ghosts = getenv("CSP_NG");
    char start[PATH_MAX + 64];

    if (argc == 2)
        return in_job(argv[1]);
    snprintf(start, sizeof(start), "%s -n %d", mpirun(), ghosts ? 3 : 2);
    if (!ends(argv[0], start, 1, "world", 1) || !ends(argv[0], start, 4, "other", 0) ||
        (!ghosts && !ends(argv[0], "", 1, "other", 1)))
        return 1;
    printf(" No Errors\n");
    return 0;
}

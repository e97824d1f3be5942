/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_T may be initialized and finalized at any time, also more than once, and leaves the library as it
 * is. The argument says when: before (MPI_Init), after (MPI_Finalize), during, session (as long as a
 * session), twice (without MPI), threads (of several tools at once, in new processes without MPI and
 * beside MPI_Init). */
#include "mt.h"

#include <sys/wait.h>
#include <unistd.h>

#undef MT_CHECK                 /* MPI need not be up */
#define MT_CHECK(cond_, ...) \
    do { \
        if (!(cond_)) { \
            printf(__VA_ARGS__); \
            exit(1); \
        } \
    } while (0)

#define NAME "MPIR_CVAR_DEFAULT_THREAD_LEVEL"

/* A tool looks at a control variable that is a string, and leaves. Returns how many control variables
 * there are. */
static int visit(void)
{
    int provided, cvars = -1, index, length;
    char value[4096] = "";
    MPI_T_cvar_handle handle;

    MT_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MT_OK(MPI_T_cvar_get_num(&cvars));
    MT_OK(MPI_T_cvar_get_index(NAME, &index));
    MT_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &length));
    MT_OK(MPI_T_cvar_read(handle, value));
    MT_OK(MPI_T_cvar_handle_free(&handle));
    MT_CHECK(!strcmp(value, "MPI_THREAD_SINGLE"), NAME " is '%s'\n", value);
    MT_OK(MPI_T_finalize());
    return cvars;
}

/* A communicator is where the strings of collectives are read. */
static int in_session(void)
{
    int cvars;
    MPI_Session s;
    MPI_Group group;
    MPI_Comm comm;

    MT_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s));
    cvars = visit();
    MT_OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    MT_OK(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    MT_OK(MPI_Barrier(comm));
    MT_OK(MPI_Group_free(&group));
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
    return cvars;
}

static int in_world(const char *when)
{
    int cvars = 0;
    MPI_Comm comm;

    if (!strcmp(when, "before"))
        cvars = visit();
    MT_OK(MPI_Init(NULL, NULL));
    if (!strcmp(when, "during"))
        cvars = visit();
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Barrier(comm));
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Finalize());
    return cvars;
}

#define TOOLS 4
#define AGAIN 2000
#define PROCESSES 30            /* the tables are made once in each */

static pthread_barrier_t start;

static void *tool(void *arg)
{
    int provided, cvars = 0, index;

    (void) arg;
    pthread_barrier_wait(&start);
    MT_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    MT_OK(MPI_T_cvar_get_num(&cvars));
    MT_OK(MPI_T_cvar_get_index(NAME, &index));
    MT_CHECK(index < cvars, "%d variables, of which " NAME " is number %d\n", cvars, index);
    for (int i = 0; i < AGAIN; i++) {
        MT_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
        MT_OK(MPI_T_finalize());
    }
    MT_OK(MPI_T_finalize());
    return NULL;
}

static void tools(int have_mpi)
{
    pthread_t thread[TOOLS];

    pthread_barrier_init(&start, NULL, TOOLS + 1);
    for (int i = 0; i < TOOLS; i++)
        MT_CHECK(!pthread_create(&thread[i], NULL, tool, NULL), "no thread\n");
    pthread_barrier_wait(&start);
    if (have_mpi)
        MT_OK(MPI_Init(NULL, NULL));
    for (int i = 0; i < TOOLS; i++)
        pthread_join(thread[i], NULL);
    MT_CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED, "it is initialized once too often\n");
    if (have_mpi)
        MT_OK(MPI_Finalize());
}

static int in_threads(void)
{
    int status = 1;

    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            tools(0);
            _exit(0);
        }
        MT_CHECK(wait(&status) > 0 && status == 0, "process %d ended with status %x\n", i, status);
    }
    tools(1);
    return 0;
}

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "twice";
    int cvars;

    if (!strcmp(when, "session"))
        cvars = in_session();
    else if (!strcmp(when, "threads"))
        cvars = in_threads();
    else if (!strcmp(when, "twice"))
        cvars = visit();
    else
        cvars = in_world(when);
    MT_CHECK(visit() >= cvars, "variables are lost\n");
    printf(" No Errors\n");
    return 0;
}

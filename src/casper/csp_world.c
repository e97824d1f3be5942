/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <stdarg.h>
#include "csp.h"
#include "csp_world.h"

/* Time for the process manager to pass the line on; it drops what is in its pipes when it aborts. */
#define FORWARD_NS 200000000

csp_world_t csp_world;

int csp_ghosts(void)
{
    return csp_world.ghosts;
}

void csp_fail(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "MPI ghost processes: %s\n", text);
    fflush(stderr);
    nanosleep(&(struct timespec) {0, FORWARD_NS}, NULL);
    MPIR_pmi_abort(1, text);
    _exit(1);
}

/* One process tells what is wrong; the others wait until they are killed. */
static void fail_together(const char *problem)
{
    if (MPIR_Process.rank == 0)
        csp_fail("%s", problem);
    for (;;)
        MPIR_pmi_barrier();
}

static void settings_key(char key[32], int rank)
{
    snprintf(key, 32, "csp-%d", rank);
}

/* Process 0 compares the settings of all processes; the others wait for it in the next barrier. */
static int compare_settings(void)
{
    char key[32], mine[CSP_SETTINGS_TEXT], theirs[CSP_SETTINGS_TEXT];
    int mpi_errno = MPI_SUCCESS;

    csp_settings_text(mine);
    settings_key(key, MPIR_Process.rank);
    mpi_errno = MPIR_pmi_kvs_put(key, mine);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_pmi_barrier();
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 1; MPIR_Process.rank == 0 && i < MPIR_Process.size; i++) {
        settings_key(key, i);
        mpi_errno = MPIR_pmi_kvs_get(i, key, theirs, sizeof(theirs));
        MPIR_ERR_CHECK(mpi_errno);
        if (strcmp(mine, theirs) != 0)
            csp_fail("CSP_NG and CSP_ASYNC_CONFIG are %s in process 0, but %s in process %d", mine,
                     theirs, i);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Fill count[] with the processes of each node. */
static void count_nodes(int *count)
{
    memset(count, 0, MPIR_Process.num_nodes * sizeof(*count));
    for (int i = 0; i < MPIR_Process.size; i++)
        count[MPIR_Process.node_map[i]]++;
}

static void check_nodes(const int *count)
{
    char problem[128];

    for (int i = 0; i < MPIR_Process.num_nodes; i++) {
        if (count[i] <= csp_world.settings.ghosts) {
            snprintf(problem, sizeof(problem),
                     "CSP_NG=%d, but a node has %d process%s: there must be more than ghosts",
                     csp_world.settings.ghosts, count[i], count[i] == 1 ? "" : "es");
            fail_together(problem);
        }
    }
}

/* The last CSP_NG processes of each node become ghosts: number[i] is the new number of process i. */
static void number_processes(int *number, const int *count)
{
    int *seen = MPL_calloc(MPIR_Process.num_nodes, sizeof(int), MPL_MEM_OTHER);
    int user = 0, ghost = 0, users = 0;

    MPIR_Assert(seen);
    for (int i = 0; i < MPIR_Process.num_nodes; i++)
        users += count[i] - csp_world.settings.ghosts;
    for (int i = 0; i < MPIR_Process.size; i++) {
        int node = MPIR_Process.node_map[i];
        int is_user = seen[node]++ < count[node] - csp_world.settings.ghosts;
        number[i] = is_user ? user++ : users + ghost++;
    }
    csp_world.users = user;
    csp_world.ghosts = ghost;
    MPL_free(seen);
}

static void apply_numbers(const int *number)
{
    int *map = MPL_malloc(MPIR_Process.size * sizeof(int), MPL_MEM_ADDRESS);

    MPIR_Assert(map);
    for (int i = 0; i < MPIR_Process.size; i++)
        map[number[i]] = MPIR_Process.node_map[i];
    memcpy(MPIR_Process.node_map, map, MPIR_Process.size * sizeof(int));
    MPL_free(map);
    MPIR_Process.rank = number[MPIR_Process.rank];
    csp_world.is_ghost = MPIR_Process.rank >= csp_world.users;
}

/* The users of a node are dealt to its ghosts in blocks of equal size, up to one. */
static void assign_ghosts(const int *count)
{
    const int per_node = csp_world.settings.ghosts;
    int *seen = MPL_calloc(MPIR_Process.num_nodes, sizeof(int), MPL_MEM_OTHER);
    int *first = MPL_malloc(MPIR_Process.num_nodes * per_node * sizeof(int), MPL_MEM_OTHER);

    csp_world.ghost_of = MPL_malloc(csp_world.users * sizeof(int), MPL_MEM_OTHER);
    MPIR_Assert(seen && first && csp_world.ghost_of);
    for (int i = csp_world.users; i < MPIR_Process.size; i++) {
        int node = MPIR_Process.node_map[i];
        first[node * per_node + seen[node]++] = i - csp_world.users;
    }
    memset(seen, 0, MPIR_Process.num_nodes * sizeof(int));
    for (int i = 0; i < csp_world.users; i++) {
        int node = MPIR_Process.node_map[i];
        int block = seen[node]++ * per_node / (count[node] - per_node);
        csp_world.ghost_of[i] = first[node * per_node + block];
    }
    MPL_free(seen);
    MPL_free(first);
}

/* By all processes at once, in MPI_Init. */
int csp_choose(void)
{
    int mpi_errno = MPI_SUCCESS;
    int *count = NULL, *number = NULL;
    const char *problem;

    mpi_errno = MPIR_Process.size > 1 ? compare_settings() : MPI_SUCCESS;
    MPIR_ERR_CHECK(mpi_errno);
    problem = csp_settings_read(&csp_world.settings);
    if (problem)
        fail_together(problem);
    if (csp_world.settings.ghosts == 0 || MPIR_Process.has_parent)
        goto fn_exit;   /* spawned processes have no ghosts */
    count = MPL_malloc(MPIR_Process.num_nodes * sizeof(int), MPL_MEM_OTHER);
    number = MPL_malloc(MPIR_Process.size * sizeof(int), MPL_MEM_OTHER);
    MPIR_Assert(count && number);
    count_nodes(count);
    check_nodes(count);
    mpi_errno = MPIR_pmi_barrier();     /* process 0 has found no fault */
    MPIR_ERR_CHECK(mpi_errno);
    number_processes(number, count);
    apply_numbers(number);
    assign_ghosts(count);
    csp_comm_register_hint();

  fn_exit:
    MPL_free(count);
    MPL_free(number);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The map of MPI_COMM_WORLD when it is made for the second time; the device is up already. */
int csp_comm_map(MPIR_Comm * comm)
{
    if (comm != MPIR_Process.comm_world || !csp_world.is_split)
        return 0;
    MPIDI_COMM(comm, map).mode = csp_world.is_ghost ? MPIDI_RANK_MAP_OFFSET_INTRA :
        MPIDI_RANK_MAP_DIRECT_INTRA;
    MPIDI_COMM(comm, map).avtid = 0;
    MPIDI_COMM(comm, map).size = comm->local_size;
    MPIDI_COMM(comm, map).reg.offset = csp_world.is_ghost ? csp_world.users : 0;
    MPIDI_COMM(comm, local_map).mode = MPIDI_RANK_MAP_NONE;
    MPIDIU_avt_add_ref(0);
    return 1;
}

/* Free the communicator of all processes, but not its context id, which the next one has again. */
static int drop_world(void)
{
    MPIR_Comm *world = MPIR_Process.comm_world;
    int mpi_errno;

    world->recvcontext_id |= MPIR_CONTEXT_INTRANODE_OFFSET;
    mpi_errno = MPIR_Comm_release_always(world);
    MPIR_Process.comm_world = NULL;
    return mpi_errno;
}

static int make_world(void)
{
    MPIR_Comm *world = MPIR_Comm_builtin + 0;
    int mpi_errno;

    MPIR_Process.comm_world = world;
    MPII_Comm_init(world);
    world->handle = MPI_COMM_WORLD;
    world->context_id = 0;
    world->recvcontext_id = 0;
    world->comm_kind = MPIR_COMM_KIND__INTRACOMM;
    world->rank = MPIR_Process.rank - (csp_world.is_ghost ? csp_world.users : 0);
    world->local_size = csp_world.is_ghost ? csp_world.ghosts : csp_world.users;
    world->remote_size = world->local_size;
    mpi_errno = MPIR_Comm_commit(world);
    MPIR_ERR_CHECK(mpi_errno);
    MPL_strncpy(world->name, "MPI_COMM_WORLD", MPI_MAX_OBJECT_NAME);
    MPII_COMML_REMEMBER(world);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_world_split(void)
{
    int mpi_errno = drop_world();

    MPIR_ERR_CHECK(mpi_errno);
    csp_world.is_split = 1;
    mpi_errno = make_world();
    MPIR_ERR_CHECK(mpi_errno);
    if (csp_world.is_ghost)
        MPIR_ThreadInfo.thread_provided = MPI_THREAD_SINGLE;
    else
        csp_world_show_users();

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

void csp_world_show_all(void)
{
    if (csp_world.is_split)
        MPIR_Process.size = csp_world.users + csp_world.ghosts;
}

void csp_world_show_users(void)
{
    MPIR_Process.size = csp_world.users;
}

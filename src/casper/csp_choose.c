/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_domain.h"
#include "csp_place.h"
#include "csp_world.h"

/* The choice of the ghosts, by all processes at once, in MPI_Init. All have the same settings and know
 * the domains of all, so all come to the same result without asking. */

/* One process prints what is wrong; the others wait until they are killed. */
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
            csp_fail("CSP_NG, CSP_ASYNC_CONFIG, CSP_PLACEMENT and CSP_MATCHING are %s in process 0, "
                     "but %s in process %d", mine, theirs, i);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Each node has more processes than ghosts. */
static void check_nodes(void)
{
    int *count = csp_must_calloc(MPIR_Process.num_nodes, sizeof(int));
    char problem[128];

    for (int i = 0; i < MPIR_Process.size; i++)
        count[MPIR_Process.node_map[i]]++;
    for (int i = 0; i < MPIR_Process.num_nodes; i++) {
        if (count[i] <= csp_world.settings.ghosts) {
            snprintf(problem, sizeof(problem),
                     "CSP_NG=%d, but a node has %d process%s: there must be more than ghosts",
                     csp_world.settings.ghosts, count[i], count[i] == 1 ? "" : "es");
            fail_together(problem);
        }
    }
    MPL_free(count);
}

/* ---- domains ---- */

static void domain_key(char key[32], int rank)
{
    snprintf(key, 32, "csp-domain-%d", rank);
}

/* Before the barrier that ends the comparison. */
static int tell_domain(void)
{
    char key[32], value[16];

    if (csp_world.settings.placement == CSP_MACHINE)
        return MPI_SUCCESS;
    domain_key(key, MPIR_Process.rank);
    snprintf(value, sizeof(value), "%d", csp_domain_of_self(csp_world.settings.placement));
    return MPIR_pmi_kvs_put(key, value);
}

/* Fill in domain[] of all processes; after that barrier. */
static int hear_domains(int *domain)
{
    char key[32], value[16];
    int mpi_errno = MPI_SUCCESS;

    for (int i = 0; i < MPIR_Process.size && mpi_errno == MPI_SUCCESS; i++) {
        domain[i] = 0;
        if (csp_world.settings.placement == CSP_MACHINE)
            continue;
        domain_key(key, i);
        mpi_errno = MPIR_pmi_kvs_get(i, key, value, sizeof(value));
        domain[i] = atoi(value);
    }
    return mpi_errno;
}

/* ---- numbers ---- */

/* owner[i]: CSP_IS_GHOST, or which of the ghosts of its node process i has. */
static void place_processes(const int *domain, int *owner)
{
    int *some = csp_must_malloc(MPIR_Process.size * sizeof(int));
    int *owners = csp_must_malloc(MPIR_Process.size * sizeof(int));

    for (int node = 0; node < MPIR_Process.num_nodes; node++) {
        int n = 0;
        for (int i = 0; i < MPIR_Process.size; i++) {
            if (MPIR_Process.node_map[i] == node)
                some[n++] = domain[i];
        }
        if (!csp_place(some, n, csp_world.settings.ghosts, owners))
            csp_fail("process %d is out of memory", MPIR_Process.rank);
        n = 0;
        for (int i = 0; i < MPIR_Process.size; i++) {
            if (MPIR_Process.node_map[i] == node)
                owner[i] = owners[n++];
        }
    }
    MPL_free(some);
    MPL_free(owners);
}

/* number[i] is the new number of process i: users first, each kind in the order of the start. */
static void number_processes(const int *owner, int *number)
{
    int user = 0, ghost = 0;

    for (int i = 0; i < MPIR_Process.size; i++)
        user += owner[i] != CSP_IS_GHOST;
    csp_world.users = user;
    user = 0;
    for (int i = 0; i < MPIR_Process.size; i++)
        number[i] = owner[i] == CSP_IS_GHOST ? csp_world.users + ghost++ : user++;
    csp_world.ghosts = ghost;
}

/* Fill in ghost_of[]. The processes still have their old numbers. */
static void assign_ghosts(const int *owner, const int *number)
{
    const int per_node = csp_world.settings.ghosts;
    int *seen = csp_must_calloc(MPIR_Process.num_nodes, sizeof(int));
    int *ghosts = csp_must_malloc(MPIR_Process.num_nodes * per_node * sizeof(int));

    csp_world.ghost_of = csp_must_malloc(csp_world.users * sizeof(int));
    for (int i = 0; i < MPIR_Process.size; i++) {
        int node = MPIR_Process.node_map[i];
        if (owner[i] == CSP_IS_GHOST)
            ghosts[node * per_node + seen[node]++] = number[i] - csp_world.users;
    }
    for (int i = 0; i < MPIR_Process.size; i++) {
        if (owner[i] != CSP_IS_GHOST)
            csp_world.ghost_of[number[i]] = ghosts[MPIR_Process.node_map[i] * per_node + owner[i]];
    }
    MPL_free(seen);
    MPL_free(ghosts);
}

static void apply_numbers(const int *number)
{
    int *map = csp_must_malloc(MPIR_Process.size * sizeof(int));

    for (int i = 0; i < MPIR_Process.size; i++)
        map[number[i]] = MPIR_Process.node_map[i];
    memcpy(MPIR_Process.node_map, map, MPIR_Process.size * sizeof(int));
    MPL_free(map);
    MPIR_Process.rank = number[MPIR_Process.rank];
    csp_world.is_ghost = MPIR_Process.rank >= csp_world.users;
    csp_world.pid = getpid();
}

/* ---- all of it ---- */

static int choose(int *domain, int *owner, int *number)
{
    int mpi_errno = hear_domains(domain);

    if (mpi_errno)
        return mpi_errno;
    place_processes(domain, owner);
    number_processes(owner, number);
    assign_ghosts(owner, number);
    apply_numbers(number);
    return MPI_SUCCESS;
}

int csp_choose(void)
{
    int mpi_errno = MPI_SUCCESS;
    int *space = NULL;
    const char *problem;

    mpi_errno = MPIR_Process.size > 1 ? compare_settings() : MPI_SUCCESS;
    MPIR_ERR_CHECK(mpi_errno);
    problem = csp_settings_read(&csp_world.settings);
    if (problem)
        fail_together(problem);
    if (csp_world.settings.ghosts == 0 || MPIR_Process.has_parent)
        goto fn_exit;   /* spawned processes have no ghosts */
    check_nodes();
    mpi_errno = tell_domain();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_pmi_barrier();     /* process 0 has found no fault */
    MPIR_ERR_CHECK(mpi_errno);
    space = csp_must_malloc(3 * MPIR_Process.size * sizeof(int));
    mpi_errno = choose(space, space + MPIR_Process.size, space + 2 * MPIR_Process.size);
    MPIR_ERR_CHECK(mpi_errno);
    csp_comm_register_hint();

  fn_exit:
    MPL_free(space);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

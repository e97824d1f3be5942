/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_agree.h"
#include "csp_envelope.h"
#include "csp_hint.h"
#include "csp_world.h"

/* What a communicator's hints ask for, in comm->hints. */
static int async;               /* index: 1 to offload it, 0 not to, CSP_HINT_UNSET */
static int threshold;           /* index: messages of fewer bytes stay with MPICH */
static int wildcards;           /* index: 0, or 1 + the wildcards that are used, CSP_HINT_ANY_... */
static int asks;                /* index: 1 if the last info said anything on offload */

/* MPICH would read our values in its own way, so it is told that this does it. */
static int leave(MPIR_Comm * comm, int index, int value)
{
    return 0;
}

void csp_comm_register_hint(void)
{
    async = MPIR_Comm_register_hint(0, "async_config", leave, MPIR_COMM_HINT_TYPE_BOOL, 0,
                                    CSP_HINT_UNSET);
    threshold = MPIR_Comm_register_hint(0, "offload_min_msgsz", leave, MPIR_COMM_HINT_TYPE_INT, 0, 0);
    wildcards = MPIR_Comm_register_hint(0, NULL, NULL, MPIR_COMM_HINT_TYPE_INT, 0, 0);
    asks = MPIR_Comm_register_hint(0, NULL, NULL, MPIR_COMM_HINT_TYPE_BOOL, 0, 0);
}

/* 1 if all processes of the map are of our MPI_COMM_WORLD. */
static int is_in_world(const MPIDI_rank_map_t * map)
{
    return map->mode != MPIDI_RANK_MAP_MLUT && map->avtid == 0;
}

static int is_of_users(MPIR_Comm * comm)
{
    if (!is_in_world(&MPIDI_COMM(comm, map)))
        return 0;
    return comm->comm_kind == MPIR_COMM_KIND__INTRACOMM ? comm->local_size > 1 :
        is_in_world(&MPIDI_COMM(comm, local_map));
}

/* Can the communicator be offloaded? The answer is the same in all its processes, on both sides of an
 * intercommunicator. Communicators that MPICH makes for itself, inside another one, never are; nor are
 * those with processes of another MPI_COMM_WORLD. */
int csp_comm_is_possible(MPIR_Comm * comm)
{
    return csp_world.is_split && csp_world.offloads && !csp_world.is_ghost &&
        !MPIR_CONTEXT_READ_FIELD(SUBCOMM, comm->context_id) &&
        !MPIR_CONTEXT_READ_FIELD(IS_LOCALCOMM, comm->context_id) &&
        !MPIR_CONTEXT_READ_FIELD(DYNAMIC_PROC, comm->context_id) && is_of_users(comm);
}

/* Where the program does not say which wildcards it uses, the assertions of MPI do. */
static int used_wildcards(const MPIR_Comm * comm)
{
    int used = CSP_HINT_ANY_SRC | CSP_HINT_ANY_TAG;

    if (comm->hints[wildcards])
        used = comm->hints[wildcards] - 1;
    if (comm->hints[MPIR_COMM_HINT_NO_ANY_SOURCE])
        used &= ~CSP_HINT_ANY_SRC;
    if (comm->hints[MPIR_COMM_HINT_NO_ANY_TAG])
        used &= ~CSP_HINT_ANY_TAG;
    return used;
}

/* One process prints, of an intercommunicator in one of the two groups. */
static int is_teller(const MPIR_Comm * comm)
{
    return comm->rank == 0 &&
        (comm->comm_kind == MPIR_COMM_KIND__INTRACOMM || comm->is_low_group);
}

/* A message below the threshold takes another way than one above. The two ends agree only if the
 * receiver knows the size, so the program must have asserted that it does. If it takes that back, the
 * threshold stays, because receives may wait on their way; csp_recv.c refuses what no longer works. */
static int wished_threshold(const MPIR_Comm * comm)
{
    if (comm->hints[threshold] == 0 ||
        comm->hints[threshold] == MPIDI_COMM(comm, casper_least) ||
        comm->hints[MPIR_COMM_HINT_EXACT_LENGTH])
        return comm->hints[threshold];
    if (is_teller(comm))
        fprintf(stderr, "MPI ghost processes: hint offload_min_msgsz=%d needs "
                "mpi_assert_exact_length=true and is ignored\n", comm->hints[threshold]);
    return 0;
}

static int wished_offload(const MPIR_Comm * comm)
{
    int wish = comm->hints[async] == CSP_HINT_UNSET ? csp_world.settings.all_comms : comm->hints[async];

    return wish && csp_envelope_permits(used_wildcards(comm));
}

/* Without hints; those of the program count once its processes have compared them. */
void csp_comm_commit(MPIR_Comm * comm)
{
    MPIDI_COMM(comm, casper) = csp_world.ghosts > 0 && csp_world.settings.all_comms &&
        csp_envelope_permits(CSP_HINT_ANY_SRC | CSP_HINT_ANY_TAG) && csp_comm_is_possible(comm);
    MPIDI_COMM(comm, casper_least) = 0;
}

/* The threshold does not matter to a communicator that is not offloaded. */
static void tell_differences(const int *is_same, int is_offloaded)
{
    if (!is_same[0])
        fprintf(stderr, "MPI ghost processes: a communicator is not offloaded, because its processes "
                "differ in async_config, wildcard_used or, with CSP_MATCHING=tag, in assertions\n");
    if (!is_same[1] && is_offloaded)
        fprintf(stderr, "MPI ghost processes: hint offload_min_msgsz is ignored, because the processes "
                "of a communicator differ in it or in mpi_assert_exact_length\n");
}

/* If processes want different things, the communicator is not offloaded, or has no threshold.
 * Assertions on which neither depends may differ: each is about one process. */
static int agree(MPIR_Comm * comm, int offload)
{
    int wish[2] = { offload, wished_threshold(comm) }, is_same[2];
    int mpi_errno = MPI_SUCCESS;

    mpi_errno = csp_agree(comm, 2, wish, is_same);
    MPIR_ERR_CHECK(mpi_errno);
    if (is_teller(comm))
        tell_differences(is_same, wish[0]);
    comm->hints[threshold] = is_same[1] ? wish[1] : 0;
    MPIDI_COMM(comm, casper) = wish[0];
    MPIDI_COMM(comm, casper_least) = comm->hints[threshold];

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static int has_choice(MPIR_Comm * comm)
{
    return csp_world.ghosts > 0 && comm && csp_comm_is_possible(comm);
}

int csp_comm_agree(MPIR_Comm * comm)
{
    return has_choice(comm) ? agree(comm, wished_offload(comm)) : MPI_SUCCESS;
}

/* Assertions alone leave a communicator, and messages of each size, on their path: MPI lets a program
 * give them, or take them back, while receives wait there. */
int csp_comm_change(MPIR_Comm * comm)
{
    if (!has_choice(comm))
        return MPI_SUCCESS;
    return agree(comm, comm->hints[asks] ? wished_offload(comm) : MPIDI_COMM(comm, casper));
}

static void forget(MPIR_Comm * comm)
{
    comm->hints[async] = CSP_HINT_UNSET;
    comm->hints[threshold] = 0;
    comm->hints[wildcards] = 0;
}

/* The call returns at once, so the processes cannot compare. */
void csp_comm_forget(MPIR_Comm * comm)
{
    if (csp_world.ghosts == 0 || !comm)
        return;
    if (is_teller(comm) && (comm->hints[async] != CSP_HINT_UNSET || comm->hints[threshold]))
        fprintf(stderr, "MPI ghost processes: hints of MPI_Comm_idup_with_info are ignored: give them "
                "with MPI_Comm_set_info\n");
    forget(comm);
}

/* Returns 1, 0 if the value is none of the key's. */
static int take_hint(MPIR_Comm * comm, const MPIR_Info * item)
{
    int value = csp_hint_read(item->key, item->value);

    if (value == CSP_HINT_UNSET)
        return 0;
    if (strcmp(item->key, "async_config") == 0) {
        comm->hints[async] = value;
    } else if (strcmp(item->key, "offload_min_msgsz") == 0) {
        comm->hints[threshold] = value;
    } else {
        comm->hints[wildcards] = 1 + value;
    }
    return 1;
}

static void tell_unknown(const MPIR_Comm * comm, const char *key, const char *value)
{
    if (is_teller(comm))
        fprintf(stderr, "MPI ghost processes: hint %s=%s is unknown and is ignored\n", key, value);
}

/* They count from csp_comm_agree on. comm is NULL where MPI_Comm_split_type makes none. wildcard_used
 * asks for offload only if async_config does not say otherwise, wherever it comes in the info: that of
 * MPI_Comm_get_info has both, and to give it back must change nothing. */
void csp_comm_hints(MPIR_Comm * comm, MPIR_Info * info)
{
    int says_async = 0, says_wildcards = 0;
    MPIR_Info *item;

    if (csp_world.ghosts == 0 || !comm)
        return;
    LL_FOREACH(info, item) {
        if (!item->key || !csp_hint_is_known(item->key))
            continue;
        if (!take_hint(comm, item)) {
            tell_unknown(comm, item->key, item->value);
            continue;
        }
        says_async |= strcmp(item->key, "async_config") == 0;
        says_wildcards |= strcmp(item->key, "wildcard_used") == 0;
    }
    comm->hints[asks] = says_async || says_wildcards;
    if (says_wildcards && !says_async)
        comm->hints[async] = 1;
}

int csp_comm_info(MPIR_Comm * comm, MPIR_Info * info)
{
    int mpi_errno;

    if (csp_world.ghosts == 0)
        return MPI_SUCCESS;
    mpi_errno = MPIR_Info_set_impl(info, "async_config",
                                   MPIDI_COMM(comm, casper) ? "true" : "false");
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Info_set_impl(info, "wildcard_used", csp_hint_wildcards(used_wildcards(comm)));
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Info_set_impl(info, "csp_matching", csp_envelope_mode());
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_comm_wish(MPIR_Comm * comm, MPIR_Info * info, const char *key)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int is_there = 0, wish;

    if (info)           /* another thread may change it */
        MPIR_Info_get_impl(info, key, MPI_MAX_INFO_VAL, value, &is_there);
    if (!is_there)
        return CSP_HINT_UNSET;
    wish = csp_hint_read(key, value);
    if (wish == CSP_HINT_UNSET)
        tell_unknown(comm, key, value);
    return wish;
}

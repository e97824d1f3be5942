/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_envelope.h"
#include "csp_hint.h"
#include "csp_world.h"

/* What a communicator's hints ask for, in comm->hints. */
static int async;               /* index: 1 to offload it, 0 not to, CSP_HINT_UNSET */
static int threshold;           /* index: messages of fewer bytes stay with MPICH */
static int wildcards;           /* index: 0, or 1 + the wildcards that are used, CSP_HINT_ANY_... */

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

/* A message below the threshold takes another way than one above. The two ends agree only if the
 * receiver knows the size, so the program must have asserted that it does. */
static void decide_threshold(MPIR_Comm * comm)
{
    if (comm->hints[threshold] > 0 && !comm->hints[MPIR_COMM_HINT_EXACT_LENGTH]) {
        if (comm->rank == 0)
            fprintf(stderr, "MPI ghost processes: hint offload_min_msgsz=%d needs "
                    "mpi_assert_exact_length=true and is ignored\n", comm->hints[threshold]);
        comm->hints[threshold] = 0;
    }
    MPIDI_COMM(comm, casper_least) = comm->hints[threshold];
}

static void decide(MPIR_Comm * comm)
{
    int wish = comm->hints[async] == CSP_HINT_UNSET ? csp_world.settings.all_comms : comm->hints[async];

    MPIDI_COMM(comm, casper) = wish && csp_comm_is_possible(comm) &&
        csp_envelope_permits(used_wildcards(comm));
    decide_threshold(comm);
}

void csp_comm_commit(MPIR_Comm * comm)
{
    MPIDI_COMM(comm, casper) = 0;
    MPIDI_COMM(comm, casper_least) = 0;
    if (csp_world.ghosts > 0)
        decide(comm);
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
        comm->hints[async] = 1;
    }
    return 1;
}

/* One process tells. */
static void tell_unknown(const MPIR_Comm * comm, const char *key, const char *value)
{
    if (comm->rank == 0)
        fprintf(stderr, "MPI ghost processes: hint %s=%s is not known and ignored\n", key, value);
}

/* A new communicator may get its hints before it is complete; csp_comm_commit then decides again. It is
 * NULL where MPI_Comm_split_type makes none. */
void csp_comm_hints(MPIR_Comm * comm, MPIR_Info * info)
{
    MPIR_Info *item;

    if (csp_world.ghosts == 0 || !comm)
        return;
    LL_FOREACH(info, item) {
        if (item->key && csp_hint_is_known(item->key) && !take_hint(comm, item))
            tell_unknown(comm, item->key, item->value);
    }
    decide(comm);
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

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_world.h"

#define UNSET (-1)

static int hint;                /* index in hints[] of a communicator: 1 offloaded, 0 not, UNSET */

void csp_comm_register_hint(void)
{
    hint = MPIR_Comm_register_hint(0, "async_config", NULL, MPIR_COMM_HINT_TYPE_BOOL, 0, UNSET);
}

/* Can the communicator be offloaded? The answer is the same in all its processes. Communicators that
 * MPICH makes for itself, inside another one, never are; nor, yet, are intercommunicators and those
 * with processes of another MPI_COMM_WORLD. */
int csp_comm_is_possible(MPIR_Comm * comm)
{
    return csp_world.is_split && csp_world.offloads && !csp_world.is_ghost &&
        comm->comm_kind == MPIR_COMM_KIND__INTRACOMM && comm->local_size > 1 &&
        !MPIR_CONTEXT_READ_FIELD(SUBCOMM, comm->context_id) &&
        !MPIR_CONTEXT_READ_FIELD(IS_LOCALCOMM, comm->context_id) &&
        !MPIR_CONTEXT_READ_FIELD(DYNAMIC_PROC, comm->context_id) &&
        MPIDI_COMM(comm, map).mode != MPIDI_RANK_MAP_MLUT && MPIDI_COMM(comm, map).avtid == 0;
}

/* MPI_Comm_get_info then tells what is in force. */
void csp_comm_commit(MPIR_Comm * comm)
{
    int wanted;

    MPIDI_COMM(comm, casper) = 0;
    if (csp_world.ghosts == 0)
        return;
    wanted = comm->hints[hint] == UNSET ? csp_world.settings.all_comms : comm->hints[hint];
    MPIDI_COMM(comm, casper) = wanted && csp_comm_is_possible(comm);
    comm->hints[hint] = MPIDI_COMM(comm, casper);
}

static int is_among(const char *text, const char *const *list)
{
    while (*list && strcmp(text, *list) != 0)
        list++;
    return *list != NULL;
}

/* What the hint asks for: 1 or 0, or UNSET if it is none of ours, or its value is none. Every kind of
 * wildcard works, so the values of wildcard_used do not differ. */
static int wish_of(const MPIR_Info * info)
{
    static const char *const on[] = { "on", "true", "1", NULL };
    static const char *const off[] = { "off", "false", "0", NULL };
    static const char *const wildcards[] = { "none", "any_src", "any_tag_same_tag",
        "any_src|any_tag_same_tag", "any_tag_same_tag|any_src", NULL
    };

    if (strcmp(info->key, "async_config") == 0)
        return is_among(info->value, on) ? 1 : is_among(info->value, off) ? 0 : UNSET;
    if (strcmp(info->key, "wildcard_used") == 0)
        return is_among(info->value, wildcards) ? 1 : UNSET;
    return UNSET;
}

int csp_comm_wish(MPIR_Info * info)
{
    MPIR_Info *item;
    int wish = UNSET;

    LL_FOREACH(info, item) {
        if (item->key && strcmp(item->key, "async_config") == 0)
            wish = wish_of(item);
    }
    return wish;
}

static int is_ours(const MPIR_Info * info)
{
    return info->key && (strcmp(info->key, "async_config") == 0 ||
                         strcmp(info->key, "wildcard_used") == 0);
}

/* A new communicator gets its hints before it is complete; csp_comm_commit then decides. */
void csp_comm_hints(MPIR_Comm * comm, MPIR_Info * info)
{
    MPIR_Info *item;

    if (csp_world.ghosts == 0)
        return;
    LL_FOREACH(info, item) {
        if (!is_ours(item))
            continue;
        int wish = wish_of(item);
        if (wish == UNSET) {
            if (comm->rank == 0)
                fprintf(stderr, "MPI ghost processes: hint %s=%s is not known and ignored\n",
                        item->key, item->value);
            continue;
        }
        MPIDI_COMM(comm, casper) = wish && csp_comm_is_possible(comm);
        comm->hints[hint] = wish;
    }
}

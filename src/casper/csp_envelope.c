/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_envelope.h"

/* Context ids of MPICH have fewer bits. */
#define PLACE_SHIFT 16

/* The least MPI_TAG_UB that MPI permits. */
#define LEAST_TAG_UB 32767

static int *places;             /* of all users, at their ghosts */
static int place_bits;          /* of a place in a tag */

static int is_mode(csp_matching_t mode)
{
    return csp_world.settings.matching == mode;
}

/* Returns the highest place of any user. */
static int fill_places(void)
{
    int *users_of = csp_must_calloc(csp_world.ghosts, sizeof(int));
    int highest = 0;

    places = csp_must_malloc(csp_world.users * sizeof(int));
    for (int i = 0; i < csp_world.users; i++) {
        places[i] = users_of[csp_world.ghost_of[i]]++;
        highest = MPL_MAX(highest, places[i]);
    }
    MPL_free(users_of);
    return highest;
}

/* All processes find the same; one prints. */
static void refuse_tag(int tag_ub)
{
    if (MPIR_Process.rank > 0)
        nanosleep(&(struct timespec) {1, 0}, NULL);
    csp_fail("CSP_MATCHING=tag: so many users of a ghost leave only tags up to %d", tag_ub);
}

void csp_envelope_start(void)
{
    int highest;

    if (is_mode(CSP_MASKED))
        return;
    highest = fill_places();
    while (highest >> place_bits)
        place_bits++;
    if (is_mode(CSP_TAG)) {
        int tag_ub = MPIR_Process.attrs.tag_ub >> MPL_MIN(2 * place_bits, 31);
        if (tag_ub < LEAST_TAG_UB)
            refuse_tag(tag_ub);
        MPIR_Process.attrs.tag_ub = tag_ub;
    }
}

void csp_envelope_end(void)
{
    MPL_free(places);
    places = NULL;
}

int csp_envelope_permits(int wildcards)
{
    return !is_mode(CSP_TAG) || wildcards == 0;
}

const char *csp_envelope_mode(void)
{
    return csp_settings_matching(csp_world.settings.matching);
}

/* The number of the process that has this rank. */
static int number_of(MPIR_Comm * comm, int rank)
{
    int number = 0, avtid;

    MPIDIU_comm_rank_to_pid(comm, rank, &number, &avtid);
    return number;
}

static uint32_t context_at(uint32_t context, int receiver)
{
    return is_mode(CSP_DUP) ? context | (uint32_t) (1 + places[receiver]) << PLACE_SHIFT : context;
}

static int tag_between(int tag, int sender, int receiver)
{
    return (tag << place_bits | places[sender]) << place_bits | places[receiver];
}

void csp_envelope_send(MPIR_Comm * comm, int rank, int tag, csp_post_t * post)
{
    int me = MPIR_Process.rank;

    post->dest = number_of(comm, rank);
    post->context = context_at(comm->context_id, post->dest);
    post->rank = is_mode(CSP_TAG) ? csp_world.ghost_of[me] : comm->rank;
    post->tag = is_mode(CSP_TAG) ? tag_between(tag, me, post->dest) : tag;
}

static int name_exactly(MPIR_Comm * comm, int rank, int tag, csp_post_t * post)
{
    int mpi_errno = MPI_SUCCESS, sender;

    MPIR_ERR_CHKANDJUMP2(rank == MPI_ANY_SOURCE, mpi_errno, MPI_ERR_RANK, "**rank", "**rank %d %d",
                         rank, comm->remote_size);
    MPIR_ERR_CHKANDJUMP1(tag == MPI_ANY_TAG, mpi_errno, MPI_ERR_TAG, "**tag", "**tag %d", tag);
    sender = number_of(comm, rank);
    post->rank = csp_world.ghost_of[sender];
    post->tag = tag_between(tag, sender, MPIR_Process.rank);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_envelope_recv(MPIR_Comm * comm, int rank, int tag, csp_post_t * post)
{
    post->context = context_at(comm->recvcontext_id, MPIR_Process.rank);
    post->rank = rank;
    post->tag = tag;
    return is_mode(CSP_TAG) ? name_exactly(comm, rank, tag, post) : MPI_SUCCESS;
}

/* A name without wildcards has one sender. */
void csp_envelope_read(int rank, csp_answer_t * answer)
{
    if (is_mode(CSP_TAG)) {
        answer->source = rank;
        answer->tag >>= 2 * place_bits;
    }
}

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Makes a communicator from the lane's own (dup, idup, split, intercommunicator), plays scenes on
 * it and frees it, sometimes while messages are still under way. */
#include "fuzz.h"

enum { DUP, IDUP, SPLIT, INTER, KINDS };

static void split(fz_lane_t * l, fz_comm_t * c)
{
    int colour[FZ_MAX_PROCS], me = l->own.me;

    c->n = c->me = 0;
    memset(colour, 0, sizeof(colour));
    for (int m = 0; m < l->own.n; m++)
        colour[m] = fz_draw(l, 2);
    for (int m = 0; m < l->own.n; m++) {
        c->n += colour[m] == colour[me];
        c->me += m < me && colour[m] == colour[me];
    }
    MPI_Comm_split(l->own.comm, colour[me], me, &c->comm);
}

void fz_make_inter(fz_lane_t * l, fz_comm_t * c)
{
    int second = 1 + fz_draw(l, l->own.n - 1), first_group = l->own.me < second;
    MPI_Comm half;

    MPI_Comm_split(l->own.comm, first_group, l->own.me, &half);
    MPI_Intercomm_create(half, 0, l->own.comm, first_group ? second : 0, fz_tag(l, 5), &c->comm);
    MPI_Comm_free(&half);
    c->second = second;
}

/* A hint of libraries with ghost processes; others ignore it. */
static void dup(fz_lane_t * l, fz_comm_t * c)
{
    MPI_Info info;

    if (fz_draw(l, 2)) {
        MPI_Comm_dup(l->own.comm, &c->comm);
        return;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "async_config", fz_draw(l, 2) ? "on" : "off");
    MPI_Comm_dup_with_info(l->own.comm, info, &c->comm);
    MPI_Info_free(&info);
}

static void make(fz_lane_t * l, fz_comm_t * c, int kind)
{
    MPI_Request req;

    *c = l->own;
    if (kind == INTER && c->n < 2)
        kind = DUP;
    switch (kind) {
        case DUP:
            dup(l, c);
            break;
        case IDUP:
            MPI_Comm_idup(l->own.comm, &c->comm, &req);
            fz_complete(l, 1, &req, fz_completed_nothing, NULL);
            break;
        case SPLIT:
            split(l, c);
            break;
        case INTER:
            fz_make_inter(l, c);
            break;
    }
}

static void check_comm(fz_lane_t * l, const fz_comm_t * c)
{
    int rank, n, remote = 0, is_inter;

    MPI_Comm_rank(c->comm, &rank);
    MPI_Comm_size(c->comm, &n);
    MPI_Comm_test_inter(c->comm, &is_inter);
    if (is_inter)
        MPI_Comm_remote_size(c->comm, &remote);
    FZ_CHECK(l, is_inter == (c->second > 0) && n + remote == c->n && rank == fz_rank(c, c->me),
             "new communicator: rank %d, size %d + %d", rank, n, remote);
}

void fz_comms(fz_lane_t * l)
{
    int kind = fz_draw(l, KINDS), scenes = fz_draw(l, 3);
    uint64_t key = fz_next(&l->rng);
    fz_comm_t c;

    make(l, &c, kind);
    check_comm(l, &c);
    for (int i = 0; i <= scenes; i++) {
        /* the scenes use the same tags: any-source must not take a later one's message */
        if (i > 0)
            MPI_Barrier(l->ctl);
        /* parts of a split communicator use up different numbers of draws */
        l->rng = fz_mix(key, 4, (uint64_t) i);
        if (i == scenes || fz_draw(l, 2))
            fz_exchange(l, &c, i == scenes);
        else if (c.second)
            fz_intercoll(l, &c);
        else
            fz_collective(l, &c);
    }
    if (c.comm != MPI_COMM_NULL)
        MPI_Comm_free(&c.comm);
}

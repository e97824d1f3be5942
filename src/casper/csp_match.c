/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_expose.h"
#include "csp_match.h"
#include "csp_wire.h"

static int accepts(const csp_recv_t * recv, const csp_msg_t * msg)
{
    return recv->context == msg->context &&
        (recv->rank == msg->rank || recv->rank == MPI_ANY_SOURCE) &&
        (recv->tag == msg->tag || recv->tag == MPI_ANY_TAG);
}

static void add_recv(const csp_recv_t * recv)
{
    csp_recv_t *copy = csp_must_malloc(sizeof(*copy));

    *copy = *recv;
    copy->next = NULL;
    *recv->client->last_recv = copy;
    recv->client->last_recv = &copy->next;
}

static csp_recv_t *unlink_recv(csp_client_t * client, csp_recv_t ** link)
{
    csp_recv_t *recv = *link;

    *link = recv->next;
    if (!*link)
        client->last_recv = link;
    return recv;
}

static csp_recv_t *take_recv(const csp_msg_t * msg)
{
    for (csp_recv_t ** link = &msg->client->first_recv; *link; link = &(*link)->next) {
        if (accepts(*link, msg))
            return unlink_recv(msg->client, link);
    }
    return NULL;
}

static csp_msg_t **find_msg(const csp_recv_t * recv)
{
    csp_msg_t **link = &recv->client->first_msg;

    while (*link && !accepts(recv, *link))
        link = &(*link)->next;
    return link;
}

static csp_msg_t *unlink_msg(csp_client_t * client, csp_msg_t ** link)
{
    csp_msg_t *msg = *link;

    *link = msg->next;
    if (!*link)
        client->last_msg = link;
    return msg;
}

static int class_of(int error)
{
    return error ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

void csp_match_received(const csp_recv_t * recv, int rank, int tag, uint64_t bytes, int error)
{
    csp_answer_t answer = {
        .op = recv->op,.bytes = bytes,.source = rank,.tag = tag,.error = class_of(error)
    };

    if (!error && bytes > recv->bytes)
        answer.error = MPI_ERR_TRUNCATE;
    csp_expose_release(recv->spot.segment);
    csp_answer(recv->client, &answer);
}

void csp_match_sent(csp_client_t * client, uint64_t op, const csp_spot_t * spot, int error)
{
    csp_answer_t answer = {.op = op,.error = class_of(error) };

    csp_expose_release(spot->segment);
    csp_answer(client, &answer);
}

/* Bring a message and its receive together, and free the message. */
static void deliver(csp_msg_t * msg, const csp_recv_t * recv)
{
    const uint64_t bytes = MPL_MIN(msg->bytes, recv->bytes);
    int error;

    if (msg->place == CSP_ELSEWHERE) {
        csp_wire_fetch(msg, recv);
    } else {
        if (msg->error)
            error = msg->error;
        else if (msg->place == CSP_IN_USER)
            error = csp_copy_between(&msg->spot, &recv->spot, bytes);
        else
            error = csp_copy_to(&recv->spot, 0, msg->data, bytes);
        csp_match_received(recv, msg->rank, msg->tag, msg->bytes, error);
        if (msg->sender)
            csp_match_sent(msg->sender, msg->op, &msg->spot, error);
    }
    MPL_free(msg->owned);
}

/* A message that has to wait: keep its data if it is small, so that its send completes. */
static void keep_data(csp_msg_t * msg)
{
    msg->owned = csp_must_malloc(msg->bytes);
    msg->error = csp_copy_from(&msg->spot, 0, msg->owned, msg->bytes);
    csp_match_sent(msg->sender, msg->op, &msg->spot, msg->error);
    msg->data = msg->owned;
    msg->place = CSP_IN_GHOST;
    msg->sender = NULL;
    memset(&msg->spot, 0, sizeof(msg->spot));
}

static void add_msg(const csp_msg_t * msg)
{
    csp_msg_t *copy = csp_must_malloc(sizeof(*copy));

    *copy = *msg;
    copy->next = NULL;
    if (copy->place == CSP_IN_GHOST && !copy->owned) {
        copy->owned = csp_must_malloc(copy->bytes);
        memcpy(copy->owned, msg->data, copy->bytes);
        copy->data = copy->owned;
    }
    *msg->client->last_msg = copy;
    msg->client->last_msg = &copy->next;
}

void csp_match_msg(const csp_msg_t * msg)
{
    csp_recv_t *recv = take_recv(msg);
    csp_msg_t now = *msg;

    if (recv) {
        deliver(&now, recv);
        MPL_free(recv);
    } else {
        if (now.place == CSP_IN_USER && !now.is_synchronous && now.bytes <= CSP_EAGER)
            keep_data(&now);
        add_msg(&now);
    }
}

void csp_match_recv(const csp_recv_t * recv)
{
    csp_msg_t **link = find_msg(recv);

    if (*link) {
        csp_msg_t *msg = unlink_msg(recv->client, link);
        deliver(msg, recv);
        MPL_free(msg);
    } else {
        add_recv(recv);
    }
}

void csp_match_mrecv(const csp_recv_t * recv, uint64_t name)
{
    csp_msg_t *msg = (csp_msg_t *) (uintptr_t) name;

    deliver(msg, recv);
    MPL_free(msg);
}

void csp_match_probe(const csp_recv_t * recv, int is_matched)
{
    csp_msg_t **link = find_msg(recv);
    const csp_msg_t *msg = *link;
    csp_answer_t answer = {.op = recv->op };

    if (msg) {
        answer.flags = CSP_ANSWER_FOUND;
        answer.source = msg->rank;
        answer.tag = msg->tag;
        answer.bytes = msg->bytes;
        if (is_matched)
            answer.object = (uint64_t) (uintptr_t) unlink_msg(recv->client, link);
    }
    csp_answer(recv->client, &answer);
}

void csp_match_cancel(csp_client_t * client, uint64_t op, uint64_t serial)
{
    csp_answer_t answer = {.op = op,.flags = CSP_ANSWER_CANCELLED };

    for (csp_recv_t ** link = &client->first_recv; *link; link = &(*link)->next) {
        if ((*link)->op == op && (*link)->serial == serial) {
            csp_expose_release((*link)->spot.segment);
            MPL_free(unlink_recv(client, link));
            csp_answer(client, &answer);
            return;
        }
    }
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_answer.h"
#include "csp_keep.h"
#include "csp_pair.h"
#include "csp_stage.h"

/* Messages of a list whose data the ghost takes over before it looks for other work. */
#define KEEP_AT_ONCE 4

/* With more bytes of sends of its users in its memory than this the ghost keeps no more: sends to a
 * process that receives nothing then wait, as MPI says, unless their data went along with the post. */
#define MOST_KEPT 268435456

static csp_desk_t *desk(void)
{
    return &csp_node.my_ghost->desk;
}

int csp_keep_is_due(const csp_item_t * msg)
{
    return msg->place == CSP_IN_USER && !msg->is_synchronous && msg->bytes <= CSP_EAGER;
}

/* The data of a message is with us, or cannot be read. At the desk. */
static void end_send(csp_item_t * msg, int error)
{
    const csp_answer_t answer = {.op = msg->op,.error = csp_answer_class(error) };

    msg->error = error;
    csp_answer_put(msg->sender, &answer);
    msg->sender = -1;
}

/* A receive may have come meanwhile. */
static void kept(void *arg, int error)
{
    csp_ref_t ref = (csp_ref_t) (uintptr_t) arg;
    csp_item_t *msg = csp_item_of(ref);

    csp_desk_lock();
    msg->is_asked = 0;
    end_send(msg, error);
    if (msg->partner && error)
        csp_pair_end(ref);
    else if (msg->partner)
        csp_pair_make(ref, msg->partner);
    csp_desk_unlock();
}

static void keep(csp_ref_t ref)
{
    csp_item_t *msg = csp_item_of(ref);
    char *memory = csp_must_malloc(msg->bytes);

    msg->is_asked = csp_copy_from(&msg->spot, 0, memory, msg->bytes) != 0;
    if (msg->spot.segment)      /* counted by copy_of; the item loses it now */
        desk()->holds[msg->spot.segment % CSP_SEGMENTS]--;
    csp_pair_put_in_ghost(msg, memory);
    desk()->kept--;
    if (msg->is_asked)
        csp_stage_fetch(msg->sender, msg->op, 0, memory, msg->bytes, kept, (void *) (uintptr_t) ref);
    else
        end_send(msg, 0);
}

/* A few of the list, for the desk is held. Those before the fresh ones are kept already, if they are to
 * be. */
static int keep_some(csp_list_t * list)
{
    csp_ref_t ref;
    int n = 0;

    while (n < KEEP_AT_ONCE && (ref = csp_list_see(list)) != 0) {
        if (csp_keep_is_due(csp_item_of(ref))) {
            keep(ref);
            n++;
        }
    }
    return n;
}

int csp_keep(void)
{
    int n = 0;

    if (desk()->kept == 0 || csp_pair_bytes_of_users() >= MOST_KEPT)
        return 0;
    for (int i = 0; i < csp_node.users; i++) {
        if (csp_node_is_mate(i))
            n += keep_some(&csp_node.user[i].msgs);
    }
    return n + keep_some(&desk()->probed);
}

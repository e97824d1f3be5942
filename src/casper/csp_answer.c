/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_answer.h"

/* 0 if there is no room. */
static int put(int user, const csp_answer_t * answer)
{
    csp_user_t *u = &csp_node.user[user];
    csp_answer_t *entry = &u->answer[csp_ring_write(&u->answers)];

    if (!csp_ring_has_room(&u->answers))
        return 0;
    memcpy(entry, answer, answer->flags & CSP_ANSWER_INLINE ? sizeof(*answer) :
           offsetof(csp_answer_t, data));
    if (csp_world.is_ghost)
        entry->flags |= CSP_ANSWER_GHOST;
    csp_ring_publish(&u->answers);
    return 1;
}

/* ---- answers that wait for room, in the ghost ---- */

typedef struct late {
    csp_answer_t answer;
    struct late *next;
} late_t;

static struct queue {
    late_t *first, **last;
} *queues;                      /* [users] */
static int n_late;

static void make_queues(void)
{
    queues = csp_must_malloc((size_t) csp_node.users * sizeof(*queues));
    for (int i = 0; i < csp_node.users; i++) {
        queues[i].first = NULL;
        queues[i].last = &queues[i].first;
    }
}

static void keep_late(int user, const csp_answer_t * answer)
{
    late_t *late = csp_must_malloc(sizeof(*late));

    if (!queues)
        make_queues();
    late->answer = *answer;
    late->next = NULL;
    *queues[user].last = late;
    queues[user].last = &late->next;
    n_late++;
}

static late_t *take_late(struct queue *queue)
{
    late_t *late = queue->first;

    queue->first = late->next;
    if (!queue->first)
        queue->last = &queue->first;
    n_late--;
    return late;
}

int csp_answer_late(int user)
{
    int n = 0;

    while (n_late > 0 && queues[user].first && csp_ring_has_room(&csp_node.user[user].answers)) {
        late_t *late = take_late(&queues[user]);
        put(user, &late->answer);
        MPL_free(late);
        n++;
    }
    return n;
}

int csp_answer_owes(void)
{
    return n_late > 0;
}

/* ---- answers ---- */

static void leave_answer(csp_ref_t ref, int user, const csp_answer_t * answer)
{
    csp_item_t *item = csp_item_of(ref);

    item->user = user;
    item->answer = *answer;
    csp_desk_leave(ref, CSP_LEFT_ANSWER, 1);
}

void csp_answer_put(int user, const csp_answer_t * answer)
{
    csp_ref_t ref;

    if (answer->op == 0 || put(user, answer))
        return;
    if (csp_world.is_ghost) {
        keep_late(user, answer);
    } else {
        csp_item_t *item = csp_item_new(&ref);
        MPIR_Assert(item);      /* CSP_DESK_RESERVE */
        leave_answer(ref, user, answer);
    }
}

/* The same at the end of a pair: the item is no longer needed, and takes the answer if it has to. */
void csp_answer_put_and_free(csp_ref_t ref, int user, const csp_answer_t * answer)
{
    if (csp_world.is_ghost)
        csp_answer_put(user, answer);
    else if (answer->op != 0 && !put(user, answer)) {
        leave_answer(ref, user, answer);
        return;
    }
    csp_item_free(ref);
}

int csp_answer_class(int error)
{
    return error ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

csp_answer_t csp_answer_of_recv(const csp_item_t * recv, int rank, int tag, uint64_t bytes, int error)
{
    const csp_answer_t answer = {
        .op = recv->op,.bytes = bytes,.source = rank,.tag = tag,
        .error = !error && bytes > recv->bytes ? MPI_ERR_TRUNCATE : csp_answer_class(error)
    };

    return answer;
}

csp_answer_t csp_answer_of_send(const csp_item_t * msg, int error)
{
    const csp_answer_t answer = {.op = msg->op,.error = csp_answer_class(error) };

    return answer;
}

void csp_answer_both(const csp_item_t * msg, const csp_item_t * recv, int error)
{
    csp_answer_t answer = csp_answer_of_recv(recv, msg->rank, msg->tag, msg->bytes, error);

    if (msg->place == CSP_IN_POST && !error) {
        answer.flags = CSP_ANSWER_INLINE;
        memcpy(answer.data, msg->data, sizeof(answer.data));
    } else if (msg->place == CSP_IN_SLOT) {
        answer.flags = CSP_ANSWER_SLOT;
        answer.object = msg->name;
        answer.segment = (uint64_t) msg->from;
    }
    csp_answer_put(recv->user, &answer);
    if (msg->sender >= 0) {
        answer = csp_answer_of_send(msg, error);
        csp_answer_put(msg->sender, &answer);
    }
}

void csp_answer_reply(int user, const csp_answer_t * answer)
{
    csp_desk_lock();
    csp_answer_put(user, answer);
    csp_desk_unlock();
}

void csp_answer_received(const csp_item_t * recv, int rank, int tag, uint64_t bytes, int error)
{
    const csp_answer_t answer = csp_answer_of_recv(recv, rank, tag, bytes, error);

    csp_answer_reply(recv->user, &answer);
}

void csp_answer_sent(int user, uint64_t op, int error)
{
    const csp_answer_t answer = {.op = op,.error = csp_answer_class(error) };

    csp_answer_reply(user, &answer);
}

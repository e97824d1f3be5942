/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <fcntl.h>
#include "csp_answer.h"
#include "csp_stage.h"

/* ---- the ghost ---- */

typedef struct job {
    uint64_t op, offset;
    uint32_t what;              /* CSP_ANSWER_FILL, CSP_ANSWER_DRAIN */
    int is_asked;               /* for the piece at `done` */
    char *here;
    size_t bytes, done;
    csp_stage_then_t then;
    void *arg;
    struct job *next;
} job_t;

/* Of each user; the first one has the stage. */
static struct queue {
    job_t *first, **last;
    int is_gone;                /* the user has left: it takes no answer */
} *queues;
static int n_jobs;

static void make_queues(void)
{
    queues = csp_must_malloc((size_t) csp_node.users * sizeof(*queues));
    for (int i = 0; i < csp_node.users; i++) {
        queues[i].first = NULL;
        queues[i].last = &queues[i].first;
        queues[i].is_gone = 0;
    }
}

static void line_up(int user, uint32_t what, uint64_t op, uint64_t offset, void *here, size_t bytes,
                    csp_stage_then_t then, void *arg)
{
    const job_t job = {
        .op = op,.offset = offset,.what = what,.here = here,.bytes = bytes,.then = then,.arg = arg
    };
    job_t *copy = csp_must_malloc(sizeof(*copy));

    if (!queues)
        make_queues();
    *copy = job;
    *queues[user].last = copy;
    queues[user].last = &copy->next;
    n_jobs++;
}

void csp_stage_fetch(int user, uint64_t op, uint64_t offset, void *here, size_t bytes,
                     csp_stage_then_t then, void *arg)
{
    line_up(user, CSP_ANSWER_FILL, op, offset, here, bytes, then, arg);
}

void csp_stage_deliver(int user, uint64_t op, uint64_t offset, void *here, size_t bytes,
                       csp_stage_then_t then, void *arg)
{
    line_up(user, CSP_ANSWER_DRAIN, op, offset, here, bytes, then, arg);
}

static size_t size_of_piece(const job_t * job)
{
    return MPL_MIN(job->bytes - job->done, CSP_STAGE);
}

static void ask(int user, job_t * job)
{
    const csp_answer_t answer = {
        .op = job->op,.flags = job->what,.object = job->offset + job->done,
        .bytes = size_of_piece(job)
    };

    if (job->what == CSP_ANSWER_DRAIN)
        memcpy(csp_node.user[user].stage, job->here + job->done, answer.bytes);
    job->is_asked = 1;
    csp_answer_reply(user, &answer);
}

static void end_first(struct queue *queue, int error)
{
    job_t *job = queue->first;

    queue->first = job->next;
    if (!queue->first)
        queue->last = &queue->first;
    n_jobs--;
    job->then(job->arg, error);
    MPL_free(job);
}

void csp_stage_left(int user)
{
    if (!queues)
        make_queues();
    queues[user].is_gone = 1;
}

static int progress_user(int user)
{
    struct queue *queue = &queues[user];
    int n = 0;

    for (; queue->first && queue->is_gone; n++)
        end_first(queue, EFAULT);
    if (queue->first && !queue->first->is_asked) {
        ask(user, queue->first);
        n++;
    }
    return n;
}

int csp_stage_progress(void)
{
    int n = 0;

    for (int i = 0; n_jobs > 0 && i < csp_node.users; i++)
        n += progress_user(i);
    return n;
}

void csp_stage_took(int user, const csp_post_t * post)
{
    job_t *job = queues[user].first;
    size_t bytes = size_of_piece(job);
    int error = (int) post->object;

    if (job->what == CSP_ANSWER_FILL && !error)
        memcpy(job->here + job->done, csp_node.user[user].stage, bytes);
    job->done += bytes;
    job->is_asked = 0;
    if (error || job->done == job->bytes)
        end_first(&queues[user], error);
}

/* ---- the user ---- */

/* By way of the system, which returns an error where a load or a store would be a fault. (Its call for
 * the memory of processes does not read all memory that the process can read, not even its own.) */
static int through_pipe(const int *end, char *to, const char *from, size_t bytes)
{
    ssize_t n;

    for (size_t done = 0; done < bytes; done += (size_t) n) {
        n = write(end[1], from + done, bytes - done);
        if (n <= 0 || read(end[0], to + done, (size_t) n) != n)
            return EFAULT;
    }
    return 0;
}

static int move(char *to, const char *from, size_t bytes)
{
    int end[2], error;

    if (pipe2(end, O_CLOEXEC | O_NONBLOCK) != 0) {
        memcpy(to, from, bytes);
        return 0;
    }
    error = through_pipe(end, to, from, bytes);
    close(end[0]);
    close(end[1]);
    return error;
}

void csp_stage_copy(const csp_op_t * op, const csp_answer_t * answer)
{
    char *data = (char *) op->data.addr + answer->object, *stage = csp_node.my_user->stage;
    int is_fill = answer->flags & CSP_ANSWER_FILL;
    int error = is_fill ? move(stage, data, answer->bytes) : move(data, stage, answer->bytes);
    const csp_post_t post = {.kind = CSP_POST_STAGED,.object = (uint64_t) error };

    if (csp_post(&post))
        csp_fail("process %d is out of memory", MPIR_Process.rank);
}

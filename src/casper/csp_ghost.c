/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <sched.h>
#include "csp_expose.h"
#include "csp_ghost.h"
#include "csp_grant.h"
#include "csp_match.h"
#include "csp_wire.h"
#include "tsm/tsm_load.h"
#include "tsm/tsm_wait.h"

/* Posts of one user that are taken in a row. */
#define POSTS_IN_A_ROW 64

/* A ghost without work looks for so long before it sleeps; less while others want its processor. */
#define SPIN_NS         50000
#define SPIN_CROWDED_NS 2000

/* It sleeps for so long at most, to see whether its users live; and where it must look for messages of
 * other ghosts, longer each time from the first to the last value. */
#define SLEEP_NS       100000000
#define SLEEP_FIRST_NS 20000
#define SLEEP_LAST_NS  1000000

#define CHECK_NS 200000000      /* between two looks whether the users live */
#define BUSY_TURNS_PER_CHECK 4096       /* between two looks at the clock for that */

static csp_client_t *clients;
static int n_clients;

void *csp_must_malloc(size_t bytes)
{
    void *memory = MPL_malloc(bytes ? bytes : 1, MPL_MEM_OTHER);

    if (!memory)
        csp_fail("a ghost is out of memory");
    return memory;
}

void csp_must(int mpi_errno, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];

    if (mpi_errno == MPI_SUCCESS)
        return;
    MPIR_Err_get_string(mpi_errno, text, sizeof(text), NULL);
    csp_fail("ghost %d cannot %s: %s", MPIR_Process.comm_world->rank, what, text);
}

csp_client_t *csp_client_of(int number)
{
    int i = 0;

    while (clients[i].user->number != number)
        i++;
    return &clients[i];
}

/* ---- answers ---- */

static void put_answer(csp_user_t * user, const csp_answer_t * answer)
{
    user->answer[csp_ring_write(&user->answers)] = *answer;
    csp_ring_publish(&user->answers);
}

void csp_answer(csp_client_t * client, const csp_answer_t * answer)
{
    csp_late_t *late;

    if (answer->op == 0)
        return;
    if (!client->first_late && csp_ring_has_room(&client->user->answers)) {
        put_answer(client->user, answer);
        return;
    }
    late = csp_must_malloc(sizeof(*late));
    late->answer = *answer;
    late->next = NULL;
    *client->last_late = late;
    client->last_late = &late->next;
}

static int answer_late(csp_client_t * client)
{
    int n = 0;

    while (client->first_late && csp_ring_has_room(&client->user->answers)) {
        csp_late_t *late = client->first_late;
        put_answer(client->user, &late->answer);
        client->first_late = late->next;
        if (!client->first_late)
            client->last_late = &client->first_late;
        MPL_free(late);
        n++;
    }
    return n;
}

/* ---- posts ---- */

static csp_spot_t spot_of(csp_client_t * client, const csp_post_t * post)
{
    csp_spot_t spot = {.pid = client->user->pid,.addr = post->addr };

    if (post->flags & CSP_POST_DIRECT)
        csp_expose_hold(&spot, post);
    return spot;
}

static void handle_send(csp_client_t * client, const csp_post_t * post, const csp_spot_t * spot)
{
    csp_msg_t msg = {
        .context = post->context,.rank = post->rank,.tag = post->tag,.bytes = post->bytes,
        .place = CSP_IN_USER,.sender = client,.spot = *spot,.op = post->op,
        .is_synchronous = post->flags & CSP_POST_SYNC
    };

    if (csp_world.ghost_of[post->dest] != MPIR_Process.comm_world->rank) {
        csp_wire_send(client, post, spot);
        return;
    }
    if (post->flags & CSP_POST_INLINE) {
        msg.place = CSP_IN_GHOST;
        msg.data = post->data;
        if (!msg.is_synchronous)
            msg.sender = NULL;
    }
    msg.client = csp_client_of(post->dest);
    csp_match_msg(&msg);
}

static void handle(csp_client_t * client, const csp_post_t * post)
{
    const csp_recv_t recv = {
        .context = post->context,.rank = post->rank,.tag = post->tag,.op = post->op,
        .serial = post->serial,.bytes = post->bytes,.client = client,
        .spot = spot_of(client, post)
    };

    switch (post->kind) {
        case CSP_POST_SEND:
            handle_send(client, post, &recv.spot);
            break;
        case CSP_POST_RECV:
            csp_match_recv(&recv);
            break;
        case CSP_POST_MRECV:
            csp_match_mrecv(&recv, post->object);
            break;
        case CSP_POST_PROBE:
        case CSP_POST_MPROBE:
            csp_match_probe(&recv, post->kind == CSP_POST_MPROBE);
            break;
        case CSP_POST_CANCEL:
            csp_match_cancel(client, post->object, post->serial);
            break;
        case CSP_POST_MAP:
            csp_expose_map(client, post);
            break;
        case CSP_POST_UNMAP:
            csp_expose_unmap(post);
            break;
        default:
            client->is_gone = 1;
    }
}

/* The post is copied, so that the user can write the next one at once. */
static int take_posts(csp_client_t * client)
{
    csp_user_t *user = client->user;
    int n = 0;

    for (; n < POSTS_IN_A_ROW && csp_ring_has_entry(&user->posts); n++) {
        csp_post_t post = user->post[csp_ring_read(&user->posts)];
        csp_ring_release(&user->posts);
        handle(client, &post);
    }
    return n;
}

static int serve_all(void)
{
    int n = 0;

    for (int i = 0; i < n_clients; i++) {
        n += take_posts(&clients[i]);
        n += answer_late(&clients[i]);
    }
    n += csp_expose_progress();
    return n + csp_wire_progress();
}

/* ---- without work ---- */

static int has_posts(void)
{
    for (int i = 0; i < n_clients; i++) {
        if (csp_ring_has_entry(&clients[i].user->posts))
            return 1;
    }
    return 0;
}

static int owes_answers(void)
{
    for (int i = 0; i < n_clients; i++) {
        if (clients[i].first_late)
            return 1;
    }
    return 0;
}

static void check_users(void)
{
    for (int i = 0; i < n_clients; i++) {
        const csp_client_t *c = &clients[i];
        if (!c->is_gone && !csp_node_lives(c->user->pid) && !csp_ring_has_entry(&c->user->posts))
            csp_fail("process %d has ended without MPI_Finalize", c->user->number);
    }
}

static void check_users_now_and_then(uint64_t now)
{
    static uint64_t next;

    if (now < next)
        return;
    next = now + CHECK_NS;
    check_users();
}

/* Posts ring the bell; messages of other ghosts and of users of other nodes, and room for late answers,
 * do not. Those of our users for windows do, but may come between the last look and the sleep. */
static void sleep_a_little(unsigned sleeps)
{
    tsm_bell_t *bell = &csp_node.my_ghost->bell;
    int looks = csp_world.ghosts > 1 || owes_answers() || csp_grant_any();
    uint64_t ns = looks ? MPL_MIN(SLEEP_FIRST_NS << MPL_MIN(sleeps, 10), SLEEP_LAST_NS) : SLEEP_NS;

    tsm_bell_arm(bell);
    if (!has_posts())
        tsm_bell_sleep_shared(bell, ns);
    tsm_bell_disarm(bell);
}

/* A batch process that wakes does not take the processor from the user whose post has woken it. Without
 * permission the ghost stays as it is. */
static void yield_to_users(void)
{
#ifdef SCHED_BATCH
    const struct sched_param none = {.sched_priority = 0 };

    sched_setscheduler(0, SCHED_BATCH, &none);
#endif
}

static int all_gone(void)
{
    for (int i = 0; i < n_clients; i++) {
        if (!clients[i].is_gone)
            return 0;
    }
    return csp_wire_is_idle();
}

static void serve(void)
{
    uint64_t idle_since = 0;
    unsigned sleeps = 0, busy = 0;

    while (!all_gone() || !csp_wire_has_ended()) {
        if (serve_all() > 0) {
            idle_since = 0;
            sleeps = 0;
            if (++busy % BUSY_TURNS_PER_CHECK == 0)
                check_users_now_and_then(tsm_now_ns());
            continue;
        }
        uint64_t now = tsm_now_ns();
        if (idle_since == 0)
            idle_since = now;
        tsm_load_touch();
        if (now - idle_since < (tsm_load_crowded() ? SPIN_CROWDED_NS : SPIN_NS)) {
            tsm_cpu_pause();
            continue;
        }
        check_users_now_and_then(now);
        sleep_a_little(sleeps++);
    }
}

static void find_clients(void)
{
    clients = csp_must_malloc(csp_node.users * sizeof(*clients));
    memset(clients, 0, csp_node.users * sizeof(*clients));
    for (int i = 0; i < csp_node.users; i++) {
        csp_user_t *user = &csp_node.user[i];
        csp_client_t *c = &clients[n_clients];
        if (csp_world.ghost_of[user->number] != MPIR_Process.comm_world->rank)
            continue;
        c->user = user;
        c->last_late = &c->first_late;
        c->last_recv = &c->first_recv;
        c->last_msg = &c->first_msg;
        n_clients++;
    }
}

void csp_ghost_run(void)
{
    find_clients();
    yield_to_users();
    csp_wire_open();
    serve();
    csp_wire_close();
    MPIR_Finalize_impl();
    if (csp_world.is_split)
        exit(0);        /* a process that has had a session leaves MPI at exit (mpir_stay_up.h) */
    _exit(0);   /* what the program does at exit is not for ghosts */
}

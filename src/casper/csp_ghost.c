/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <sched.h>
#include <signal.h>
#include "csp_answer.h"
#include "csp_expose.h"
#include "csp_ghost.h"
#include "csp_grant.h"
#include "csp_keep.h"
#include "csp_match.h"
#include "csp_pair.h"
#include "csp_stage.h"
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

/* Bytes of a pair that the ghost copies before it looks again which users wait. */
#define PIECE 65536

/* Pieces before it looks again what else there is: posts, and messages of other ghosts. */
#define PIECES_AT_ONCE 16

/* A user that has not looked for answers for so long does not wait in MPI. It may be asleep for a
 * moment (tsm_nap), or another process may have its processor. */
#define WAITS_NS 100000

#define CHECK_NS 200000000      /* between two looks whether the users live */
#define BUSY_TURNS_PER_CHECK 4096       /* between two looks at the clock for that */

/* What a ghost keeps for one of its users. */
typedef struct client {
    int user;                   /* csp_node.user[] */
    int is_gone;
} client_t;

static client_t *clients;
static int n_clients;

/* ---- posts ---- */

/* A post that is not for the desk, which is free now. */
static void handle(client_t * client, const csp_post_t * post)
{
    switch (post->kind) {
        case CSP_POST_SEND:
            csp_wire_send(client->user, post);
            break;
        case CSP_POST_MAP:
            csp_expose_map(client->user, post);
            break;
        case CSP_POST_UNMAP:
            csp_expose_unmap(post);
            break;
        case CSP_POST_STAGED:
            csp_stage_took(client->user, post);
            break;
        default:
            client->is_gone = 1;
            csp_stage_left(client->user);
    }
}

/* At the desk. */
static int take_posts(client_t * client)
{
    csp_post_t other;
    int n = 0;

    do {
        n += csp_match_posts(client->user, POSTS_IN_A_ROW - n, &other);
        if (other.kind) {
            handle(client, &other);
            csp_desk_lock();
        }
    } while (other.kind && n < POSTS_IN_A_ROW);
    return n;
}

/* Users that wait copy for themselves, and with one copy less. So the ghost takes the pairs of others,
 * and those that no user takes: all while items of its own memory are in use (csp_help), and what a
 * user has failed to copy. */
static int waits(int pid)
{
    for (int i = 0; i < n_clients; i++) {
        csp_user_t *user = &csp_node.user[clients[i].user];
        if (user->pid != pid)
            continue;
        uint64_t looked = tsm_load(&user->looked, TSM_RELAXED);         /* before the clock is read */
        return tsm_now_ns() - looked < WAITS_NS;
    }
    return 0;
}

static int may(const csp_item_t * msg, const csp_item_t * recv)
{
    return csp_node.my_ghost->desk.privates > 0 || msg->is_ghosts ||
        (!waits(msg->spot.pid) && !waits(recv->spot.pid));
}

/* At the desk, which is free while a piece of a pair is copied. After each piece a user that waits by
 * now can take over. What is left is found again by csp_pair_is_there. */
static int copy_pairs(void)
{
    csp_ref_t pair;
    int n = 0, is_copied;

    while (n < PIECES_AT_ONCE && (pair = csp_pair_take(may)) != 0) {
        tsm_store(&csp_node.my_ghost->desk.is_copying, 1, TSM_RELAXED);
        csp_desk_unlock();
        is_copied = csp_pair_copy(pair, PIECE);
        tsm_store(&csp_node.my_ghost->desk.is_copying, 0, TSM_RELAXED);
        csp_desk_lock();
        if (is_copied)
            csp_pair_end(pair);
        n++;
    }
    return n;
}

static uint32_t owed_before;    /* what users had left to us when we last looked */

static int has_desk_work(void)
{
    for (int i = 0; i < n_clients; i++) {
        if (csp_ring_has_entry(&csp_node.user[clients[i].user].posts))
            return 1;
    }
    return csp_desk_owed() != owed_before || csp_pair_is_there();
}

static int serve_desk(void)
{
    int n = 0;

    if ((!has_desk_work() && !csp_answer_owes() && !csp_pair_remains()) || !csp_desk_try())
        return 0;
    owed_before = csp_desk_owed();
    csp_desk_add_items();
    n += csp_pair_end_aside();
    for (int i = 0; i < n_clients; i++) {
        n += take_posts(&clients[i]);
        n += csp_answer_late(clients[i].user);
    }
    n += copy_pairs();
    csp_desk_unlock();
    return n + csp_pair_left();
}

/* Where messages come from other ghosts, users leave them to us when they are done with them. */
static int serve_wire(void)
{
    int n = csp_wire_progress();

    return n > 0 ? n + csp_pair_left() : 0;
}

static int serve_all(void)
{
    int n = serve_desk();

    n += csp_expose_progress();
    n += serve_wire();
    return n + csp_stage_progress();
}

/* The data of sends without a receive, once there is nothing better to do. */
static int keep_data(void)
{
    int n;

    csp_desk_lock();
    n = csp_keep();
    csp_desk_unlock();
    return n;
}

/* ---- without work ---- */

/* A user that leaves in good order, too, lives until csp_leave has come back here: it waits for this
 * process first when it closes csp_inner, then when MPICH frees the memory of the node. */
static void check_users(void)
{
    if (!csp_world.offloads)
        return;                 /* it may not see them */
    for (int i = 0; i < n_clients; i++) {
        const csp_user_t *user = &csp_node.user[clients[i].user];
        if (!csp_node_lives(user->pid))
            csp_fail("process %d has ended without MPI_Finalize", user->number);
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

void csp_ghost_check_users(void)
{
    check_users_now_and_then(tsm_now_ns());
}

int csp_ghost_watch(int *made_progress)
{
    csp_ghost_check_users();
    return MPI_SUCCESS;
}

/* Posts ring the bell; messages of other ghosts and of users of other nodes, and room for late answers,
 * do not. Those of our users for windows do, but may come between the last look and the sleep. */
static void sleep_a_little(unsigned sleeps)
{
    tsm_bell_t *bell = &csp_node.my_ghost->bell;
    int looks = csp_world.ghosts > 1 || csp_answer_owes() || csp_grant_any();
    uint64_t ns = looks ? MPL_MIN(SLEEP_FIRST_NS << MPL_MIN(sleeps, 10), SLEEP_LAST_NS) : SLEEP_NS;

    if (csp_pair_remains())
        ns = MPL_MIN(ns, WAITS_NS);
    tsm_bell_arm(bell);
    if (!has_desk_work())
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
    csp_ghost_counts_t *counts = &csp_node.my_ghost->counts;
    uint64_t idle_since = 0;
    unsigned sleeps = 0, busy = 0;

    while (!all_gone() || !csp_wire_has_ended()) {
        csp_count(&counts->turns, 1);
        if (serve_all() > 0) {
            idle_since = 0;
            sleeps = 0;
            if (++busy % BUSY_TURNS_PER_CHECK == 0)
                check_users_now_and_then(tsm_now_ns());
            continue;
        }
        csp_count(&counts->idle_turns, 1);
        uint64_t now = tsm_now_ns();
        if (idle_since == 0)
            idle_since = now;
        tsm_load_touch();
        if (now - idle_since < (tsm_load_crowded() ? SPIN_CROWDED_NS : SPIN_NS)) {
            if (csp_world.ghosts > 1)
                tsm_yield_server();
            else
                tsm_cpu_pause();
            continue;
        }
        check_users_now_and_then(now);
        csp_expose_clean();
        if (keep_data() == 0)
            sleep_a_little(sleeps++);
    }
}

static void find_clients(void)
{
    clients = csp_must_malloc(csp_node.users * sizeof(*clients));
    memset(clients, 0, csp_node.users * sizeof(*clients));
    for (int i = 0; i < csp_node.users; i++) {
        client_t *c = &clients[n_clients];
        if (!csp_node_is_mate(i))
            continue;
        c->user = i;
        n_clients++;
    }
}

void csp_ghost_ignore_signals(void)
{
    static const int signals[] = {
        SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF
    };

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], SIG_IGN);
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
        MPII_end_at_exit();     /* there has been a session, so MPI is still up */
    _exit(0);   /* what the program does at exit is not for ghosts */
}

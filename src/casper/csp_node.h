/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_NODE_H_INCLUDED
#define CSP_NODE_H_INCLUDED

/* What users and ghosts of a node share: for each user a ring of posts, to its ghost, and a ring of
 * answers, from it; for each ghost a bell, behind which it sleeps while nothing is posted, and a desk
 * (csp_desk.h), at which the ghost, or one of its users, matches. */

#include "csp_count.h"
#include "csp_item.h"
#include "csp_world.h"
#include "tsm/queue/tsm_slots.h"
#include "tsm/queue/tsm_spsc.h"
#include "tsm/tsm_bell.h"

#define CSP_RING 256            /* entries; a power of 2 */

/* A ring with one writer and one reader at a time; tsm_spsc.h has the pairs of its accesses. Who holds
 * the desk (csp_desk.h) is the reader of the posts and the writer of the answers. In a process with
 * threads the user's lock makes its threads one writer of posts (csp_post.c), and another lock makes
 * them one reader of answers (csp_done.c). A process that stops keeps nobody from its own ring: the
 * other side keeps what finds no room in a list. */
typedef tsm_spsc_t csp_ring_t;

typedef struct csp_user {
    csp_ring_t posts, answers;
    int32_t pid TSM_ALIGNED;
    int32_t number;
    uint64_t probe;             /* address of a word of the user, to try whether others can read it */
    csp_list_t recvs TSM_ALIGNED;       /* without a message, oldest first; at the desk */
    csp_list_t msgs;            /* for this user, without a receive, oldest first; at the desk */
    tsm_slots_t free_slots TSM_ALIGNED; /* by the user; freed by the receivers */
    TSM_ATOMIC(uint64_t) looked TSM_ALIGNED;    /* when the user last looked for answers in vain; 0: it
                                                 * has posted since; by the user */
    csp_post_t post[CSP_RING] TSM_ALIGNED;
    csp_answer_t answer[CSP_RING] TSM_ALIGNED;
    csp_item_t item[CSP_ITEMS] TSM_ALIGNED;     /* of the desk of its ghost */
    char slot[CSP_SLOTS][CSP_SLOT] TSM_ALIGNED;
    char stage[CSP_STAGE] TSM_ALIGNED;  /* csp_stage.h */
} csp_user_t;

typedef struct csp_ghost {
    tsm_bell_t bell TSM_ALIGNED;
    csp_ghost_counts_t counts TSM_ALIGNED;
    TSM_ATOMIC(uint32_t) is_gone TSM_ALIGNED;   /* it has left MPI in good order */
    int32_t pid;
    int32_t number;
    uint64_t probe;             /* as a user's */
    csp_desk_t desk;
    MPL_proc_mutex_t accumulates;       /* of the first ghost: for windows of the whole node */
    TSM_ATOMIC(uint32_t) is_short;      /* of the first ghost: the node was told that memory is short */
    TSM_ATOMIC(uint64_t) asked; /* of the first ghost: bytes that processes reserve now (csp_file.c) */
} csp_ghost_t;

/* The node's shared memory, in this process. */
typedef struct csp_node {
    int users, ghosts;
    csp_user_t *user;           /* [users], in the order of their numbers */
    csp_ghost_t *ghost;         /* [ghosts] */
    csp_user_t *my_user;        /* this process, one of the two; the other is NULL */
    csp_ghost_t *my_ghost;      /* in a user: its ghost */
    int me;                     /* in a user: user[me] is my_user */
    TSM_ATOMIC(int) reaches;    /* this process can reach the memory of my_ghost and its users */
    TSM_ATOMIC(uint32_t) *is_full;      /* [ghosts of all nodes]; of my_ghost, in shared memory */
} csp_node_t;

extern csp_node_t csp_node;

/* Make the shared memory of the node and fill in what is ours; by all processes of the node. It waits
 * without progress, so no message of this process may be under way. csp_node_agree: find out whether
 * the ghosts of all nodes can reach the memory of their users; by all processes. csp_node_close unmaps
 * the memory here. In MPI_Init and MPI_Finalize. Each returns an MPI error code. */
int csp_node_open(void);
int csp_node_agree(void);
int csp_node_close(void);

/* 1 if user[i] has the ghost my_ghost. */
int csp_node_is_mate(int i);

/* Wake the ghost with this number if it is of this node and sleeps. If it is only about to, it looks
 * for messages soon. */
void csp_node_wake(int number);

/* 1 if the process is still there. */
int csp_node_lives(int pid);

/* Much waits at that ghost, sent by users of my_ghost, so further data is to stay with its sender. A
 * hint, so relaxed. csp_node_tell_full: by who holds the desk for what waits there, by my_ghost for
 * what waits at others; it writes only what changes, because users read it for each small send. */
static inline int csp_node_is_full(int ghost)
{
    return unlikely(tsm_load(&csp_node.is_full[ghost], TSM_RELAXED));
}

static inline void csp_node_tell_full(int ghost, int is_full)
{
    if (csp_node_is_full(ghost) != is_full)
        tsm_store(&csp_node.is_full[ghost], (uint32_t) is_full, TSM_RELAXED);
}

/* The receiver has taken the data out of a slot of csp_node.user[user], which that user fills again. */
static inline void csp_slot_free(int user, uint64_t slot)
{
    tsm_slots_free(&csp_node.user[user].free_slots, slot);
}

/* Room for one more entry? By the writer. */
static inline int csp_ring_has_room(csp_ring_t * ring)
{
    return tsm_spsc_has_room(ring, CSP_RING);
}

/* Index of the entry to write; there is room. By the writer. */
static inline int csp_ring_write(csp_ring_t * ring)
{
    return tsm_spsc_write(ring, CSP_RING);
}

/* The entry is written. By the writer. */
static inline void csp_ring_publish(csp_ring_t * ring)
{
    tsm_spsc_publish(ring);
}

/* Is there an entry? By the reader. */
static inline int csp_ring_has_entry(csp_ring_t * ring)
{
    return tsm_spsc_has_entry(ring);
}

/* Index of the entry to read; there is one. By the reader. */
static inline int csp_ring_read(csp_ring_t * ring)
{
    return tsm_spsc_read(ring, CSP_RING);
}

/* The entry has been read and may be written again. By the reader. */
static inline void csp_ring_release(csp_ring_t * ring)
{
    tsm_spsc_release(ring);
}

#endif /* CSP_NODE_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_NODE_H_INCLUDED
#define CSP_NODE_H_INCLUDED

/* What users and ghosts of a node share: for each user a ring of posts, to its ghost, and a ring of
 * answers, from it; for each ghost a bell, behind which it sleeps while nothing is posted, and a desk
 * (csp_desk.h), at which the ghost, or one of its users, matches. */

#include "csp_item.h"
#include "csp_world.h"
#include "tsm/tsm_bell.h"

#define CSP_RING 256            /* entries; a power of 2 */

/* A ring with one writer and one reader at a time. Each index is written by one side, and counts
 * entries.
 *   publish -> has_entry   the reader finds the entry that the writer has filled in
 *   release -> has_room    the writer fills an entry in again only after the reader is done with it
 *   publish, has_entry are seq_cst for the bell: the ghost arms it and then looks, the user publishes
 *   and then looks at the bell, so one of the two sees the other (tsm_bell.h)
 * Who holds the desk (csp_desk.h) is the reader of the posts and the writer of the answers. In a
 * process with threads the user's lock makes its threads one writer of posts (csp_post.c), and another
 * one makes them one reader of answers (csp_done.c). A process that stops keeps nobody from its own
 * ring: the other side keeps what finds no room in a list. */
typedef struct csp_ring {
    TSM_ATOMIC(uint64_t) written TSM_ALIGNED;
    TSM_ATOMIC(uint64_t) read TSM_ALIGNED;
} csp_ring_t;

typedef struct csp_user {
    csp_ring_t posts, answers;
    int32_t pid TSM_ALIGNED;
    int32_t number;
    uint64_t probe;             /* address of a word of the user, to try whether others can read it */
    csp_list_t recvs TSM_ALIGNED;       /* without a message, oldest first; at the desk */
    csp_list_t msgs;            /* for this user, without a receive, oldest first; at the desk */
    TSM_ATOMIC(uint64_t) free_slots TSM_ALIGNED;        /* bits */
    TSM_ATOMIC(uint64_t) looked TSM_ALIGNED;    /* when the user last looked for answers in vain; 0: it
                                                 * has posted since; by the user */
    csp_post_t post[CSP_RING] TSM_ALIGNED;
    csp_answer_t answer[CSP_RING] TSM_ALIGNED;
    csp_item_t item[CSP_ITEMS] TSM_ALIGNED;     /* of the desk of its ghost */
    char slot[CSP_SLOTS][CSP_SLOT] TSM_ALIGNED;
} csp_user_t;

typedef struct csp_ghost {
    tsm_bell_t bell TSM_ALIGNED;
    TSM_ATOMIC(uint32_t) is_gone TSM_ALIGNED;   /* it has left MPI in good order */
    int32_t pid;
    int32_t number;
    uint64_t probe;             /* as a user's */
    csp_desk_t desk;
    MPL_proc_mutex_t accumulates;       /* of the first ghost: for windows of the whole node */
    TSM_ATOMIC(uint32_t) is_short;      /* of the first ghost: the node was told that memory is short */
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

/* The ghost of this node with this number. */
csp_ghost_t *csp_node_ghost(int number);

/* 1 if the process is still there. */
int csp_node_lives(int pid);

/* The receiver has taken the data out of a slot of csp_node.user[user], which that user fills again:
 *   csp_slot_free -> csp_slot_take     release, acquire: the data is out */
static inline void csp_slot_free(int user, uint64_t slot)
{
    tsm_fetch_add(&csp_node.user[user].free_slots, (uint64_t) 1 << slot, TSM_RELEASE);
}

/* Room for one more entry? By the writer. */
static inline int csp_ring_has_room(csp_ring_t * ring)
{
    return tsm_load(&ring->written, TSM_RELAXED) - tsm_load(&ring->read, TSM_ACQUIRE) < CSP_RING;
}

/* Index of the entry to write; there is room. By the writer. */
static inline int csp_ring_write(csp_ring_t * ring)
{
    return (int) (tsm_load(&ring->written, TSM_RELAXED) % CSP_RING);
}

/* The entry is written. seq_cst, for the bell (tsm_bell.h). By the writer. */
static inline void csp_ring_publish(csp_ring_t * ring)
{
    tsm_store(&ring->written, tsm_load(&ring->written, TSM_RELAXED) + 1, TSM_SEQ_CST);
}

/* Is there an entry? seq_cst, for the bell. By the reader. */
static inline int csp_ring_has_entry(csp_ring_t * ring)
{
    return tsm_load(&ring->written, TSM_SEQ_CST) != tsm_load(&ring->read, TSM_RELAXED);
}

/* Index of the entry to read; there is one. By the reader. */
static inline int csp_ring_read(csp_ring_t * ring)
{
    return (int) (tsm_load(&ring->read, TSM_RELAXED) % CSP_RING);
}

/* Entries that the reader has not taken; may be old. By the writer. */
static inline uint64_t csp_ring_fill(csp_ring_t * ring)
{
    return tsm_load(&ring->written, TSM_RELAXED) - tsm_load(&ring->read, TSM_RELAXED);
}

/* The entry has been read and may be written again. By the reader. */
static inline void csp_ring_release(csp_ring_t * ring)
{
    tsm_store(&ring->read, tsm_load(&ring->read, TSM_RELAXED) + 1, TSM_RELEASE);
}

#endif /* CSP_NODE_H_INCLUDED */

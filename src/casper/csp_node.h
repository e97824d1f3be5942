/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_NODE_H_INCLUDED
#define CSP_NODE_H_INCLUDED

/* What users and ghosts of a node share: for each user a ring of posts, to its ghost, and a ring of
 * answers, from it; for each ghost a bell, behind which it sleeps while nothing is posted. */

#include "csp_world.h"
#include "tsm/tsm_bell.h"

/* What a post asks for. */
enum {
    CSP_POST_SEND = 1,
    CSP_POST_RECV,
    CSP_POST_MRECV,             /* receive a message that a matched probe has found */
    CSP_POST_PROBE,
    CSP_POST_MPROBE,
    CSP_POST_CANCEL,            /* a receive */
    CSP_POST_MAP,               /* map a segment, and make a lock if it is a window's */
    CSP_POST_UNMAP,             /* the user needs them no longer; no answer */
    CSP_POST_LEAVE              /* the user posts nothing more */
};

#define CSP_POST_SYNC   1u      /* flag: the send completes after it is matched */
#define CSP_POST_INLINE 2u      /* flag: the data is in the post */
#define CSP_POST_DIRECT 4u      /* flag: the data, or its room, is in a segment that the ghost maps */
#define CSP_POST_LOCK   8u      /* flag of map and unmap: with a lock */

#define CSP_INLINE 64           /* most bytes of data in a post */

/* A post. Ranks are those in the communicator; addresses those of the user's address space. */
typedef struct csp_post {
    uint32_t kind;
    uint32_t flags;
    uint32_t context;           /* context id of the communicator */
    int32_t rank;               /* send: of the sender; receive, probe: wanted, or MPI_ANY_SOURCE */
    int32_t tag;                /* receive, probe: may be MPI_ANY_TAG */
    int32_t dest;               /* send: number of the user that receives */
    uint64_t op;                /* the user's name for the operation; 0: no answer is wanted */
    uint64_t addr;              /* of contiguous data; unmap: the lock */
    uint64_t bytes;             /* of a send, a segment; room of a receive */
    uint64_t object;            /* matched receive: the message; cancel: op of the receive; map: key
                                 * of the segment; unmap: the ghost's name for it */
    uint64_t serial;            /* receive: of this use of op; cancel: of the receive */
    uint64_t data[CSP_INLINE / sizeof(uint64_t)];       /* inline data; map: file name; direct: the
                                                         * ghost's name for the segment, offset */
} csp_post_t;

#define CSP_ANSWER_FOUND     1u /* flag: the probe has found a message */
#define CSP_ANSWER_CANCELLED 2u

/* An answer: the operation is complete. */
typedef struct csp_answer {
    uint64_t op;
    uint64_t bytes;             /* of the message, also where the receive had less room; map: lock */
    uint64_t object;            /* matched probe: the message; map: address of the segment */
    int32_t source;             /* rank of the sender in the communicator */
    int32_t tag;
    int32_t error;              /* class */
    uint32_t flags;
    uint64_t segment;           /* map: the ghost's name for it */
    uint64_t pad[2];
} csp_answer_t;

#define CSP_RING 256            /* entries; a power of 2 */

/* A ring with one writer and one reader. Each index is written by one of them and counts entries.
 *   publish -> has_entry   the reader finds the entry that the writer has filled in
 *   release -> has_room    the writer fills an entry in again only after the reader has copied it
 *   publish, has_entry are seq_cst for the bell: the ghost arms it and then looks, the user publishes
 *   and then looks at the bell, so one of the two sees the other (tsm_bell.h)
 * In a process with threads the user's lock makes its threads one writer (csp_post.c), and another one
 * makes them one reader (csp_done.c). A process that stops keeps nobody from its own ring: the other
 * side keeps what finds no room in a list. */
typedef struct csp_ring {
    TSM_ATOMIC(uint64_t) written TSM_ALIGNED;
    TSM_ATOMIC(uint64_t) read TSM_ALIGNED;
} csp_ring_t;

#define CSP_ALIVE 1u
#define CSP_GONE  2u            /* it has left MPI in good order */

typedef struct csp_user {
    csp_ring_t posts, answers;
    TSM_ATOMIC(uint32_t) state TSM_ALIGNED;
    int32_t pid;
    int32_t number;
    uint64_t probe;             /* address of a word of the user, to try whether a ghost can read it */
    csp_post_t post[CSP_RING] TSM_ALIGNED;
    csp_answer_t answer[CSP_RING] TSM_ALIGNED;
} csp_user_t;

typedef struct csp_ghost {
    tsm_bell_t bell TSM_ALIGNED;
    TSM_ATOMIC(uint32_t) state TSM_ALIGNED;
    int32_t pid;
    int32_t number;
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
} csp_node_t;

extern csp_node_t csp_node;

/* Make the shared memory of the node and fill in what is ours; by all processes of the node. It waits
 * without progress, so no message of this process may be under way. csp_node_agree: find out whether
 * the ghosts of all nodes can reach the memory of their users; by all processes. csp_node_close unmaps
 * the memory here. In MPI_Init and MPI_Finalize. Each returns an MPI error code. */
int csp_node_open(void);
int csp_node_agree(void);
int csp_node_close(void);

/* The ghost of this node with this number. */
csp_ghost_t *csp_node_ghost(int number);

/* 1 if the process is still there. */
int csp_node_lives(int pid);

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

/* The entry has been read and may be written again. By the reader. */
static inline void csp_ring_release(csp_ring_t * ring)
{
    tsm_store(&ring->read, tsm_load(&ring->read, TSM_RELAXED) + 1, TSM_RELEASE);
}

#endif /* CSP_NODE_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_ENTRY_H_INCLUDED
#define CSP_ENTRY_H_INCLUDED

/* Posts, from a user to its ghost, and answers, back to the user. */

#include <stdint.h>

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
    CSP_POST_STAGED,            /* the user has emptied or filled its stage (csp_stage.h); no answer */
    CSP_POST_LEAVE              /* the user posts nothing more */
};

#define CSP_POST_SYNC   1u      /* flag: the send completes after it is matched */
#define CSP_POST_INLINE 2u      /* flag: the data is in the post */
#define CSP_POST_DIRECT 4u      /* flag: the data, or its room, is in a segment that the ghost maps */
#define CSP_POST_LOCK   8u      /* flag of map and unmap: with a lock */
#define CSP_POST_SLOT   16u     /* flag: the data is in a slot of the user */

#define CSP_INLINE 64           /* most bytes of data in a post */
#define CSP_SLOT   1024         /* most bytes of data in a slot */
#define CSP_SLOTS  64           /* of a user */
#define CSP_STAGE  65536        /* bytes of the stage of a user */
#define CSP_EAGER  65536        /* data of up to so many bytes is kept in the ghost, so that its send
                                 * completes before it is matched */

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
    uint64_t object;            /* send: its slot; matched receive: the message; cancel: op of the
                                 * receive; map: key of the segment; unmap: the ghost's name for it;
                                 * staged: an error number */
    uint64_t serial;            /* receive: of this use of op; cancel: of the receive */
    uint64_t data[CSP_INLINE / sizeof(uint64_t)];       /* inline data; map: file name; direct: the
                                                         * ghost's name for the segment, offset */
} csp_post_t;

#define CSP_ANSWER_FOUND     1u /* flag: the probe has found a message */
#define CSP_ANSWER_CANCELLED 2u
#define CSP_ANSWER_INLINE    4u /* flag: the data of the message is here */
#define CSP_ANSWER_SLOT      8u /* flag: the data is in a slot, which the receiver frees */
#define CSP_ANSWER_GHOST     16u        /* flag: by the ghost, all or in part */
#define CSP_ANSWER_FILL      32u        /* flag: not complete; put data into the stage */
#define CSP_ANSWER_DRAIN     64u        /* flag: not complete; take data out of the stage */

/* An answer: the operation is complete, but for the last two flags. */
typedef struct csp_answer {
    uint64_t op;
    uint64_t bytes;             /* of the message, also where the receive had less room; map: lock;
                                 * fill, drain: how many */
    uint64_t object;            /* matched probe: the message; map: address of the segment; slot: its
                                 * number; fill, drain: where in the data */
    int32_t source;             /* rank of the sender in the communicator */
    int32_t tag;
    int32_t error;              /* class */
    uint32_t flags;
    uint64_t segment;           /* map: the ghost's name for it; slot: whose (csp_node.user[]) */
    uint64_t pad[2];
    uint64_t data[CSP_INLINE / sizeof(uint64_t)];       /* inline; on a line of its own */
} csp_answer_t;

#endif /* CSP_ENTRY_H_INCLUDED */

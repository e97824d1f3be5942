/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_ITEM_H_INCLUDED
#define CSP_ITEM_H_INCLUDED

/* What waits at a desk (csp_desk.h): receives, messages, and pairs of the two. Processes map the memory
 * of the node at different addresses, so items refer to each other by numbers. */

#include "csp_copy.h"
#include "csp_entry.h"
#include "tsm/tsm_atomic.h"

/* Number of an item; 0: none. First those that the users bring along, CSP_ITEMS each, then those that
 * the ghost adds, CSP_ADDED at a time. Those of the ghost's own memory have CSP_PRIVATE set. */
typedef uint32_t csp_ref_t;
#define CSP_PRIVATE 0x80000000u
#define CSP_ITEMS 512
#define CSP_ADDED 4096

typedef enum csp_place {
    CSP_IN_POST,                /* in the item: data of up to CSP_INLINE bytes */
    CSP_IN_SLOT,                /* of the user that has sent it */
    CSP_IN_USER,                /* in the memory of that user */
    CSP_IN_GHOST,               /* in that of our ghost */
    CSP_ELSEWHERE               /* with another ghost */
} csp_place_t;

typedef struct csp_item {
    csp_ref_t next;             /* in a list */
    csp_ref_t partner;          /* message: the receive that it goes to */
    int32_t user;               /* who receives: index in csp_node.user[] */
    int32_t sender;             /* message: the user to answer when it is done; -1: nobody */
    uint32_t context;
    int32_t rank, tag;
    csp_place_t place;          /* message */
    uint64_t op, serial, bytes;
    csp_spot_t spot;            /* of the buffer; message: IN_USER, IN_GHOST */
    int32_t error;              /* message: an error number if the data could not be read; pair: or not
                                 * be copied */
    int32_t is_synchronous;
    int32_t ghost;              /* message from another ghost: the rank of that */
    int32_t left;               /* what is left to the ghost (csp_desk.h) */
    int32_t is_ghosts;          /* pair: a user could not copy it */
    int32_t is_asked;           /* message: its sender is asked for the data, which is to be IN_GHOST */
    int32_t is_helped;          /* pair: the ghost has copied some of it */
    int32_t costs_credit;       /* message from another ghost, with data (csp_credit.h) */
    uint64_t copied;            /* pair: bytes */
    uint64_t name;              /* ELSEWHERE: its name for the send; IN_SLOT: the slot */
    int64_t from;               /* IN_SLOT: whose (csp_node.user[]) */
    union {
        uint64_t data[CSP_INLINE / sizeof(uint64_t)];   /* IN_POST */
        csp_answer_t answer;    /* that is left to the ghost, for `user` */
    };
} csp_item_t;

typedef struct csp_list {
    csp_ref_t first, last;
    csp_ref_t fresh;            /* the first of those at the end that csp_keep has not seen */
} csp_list_t;

/* Segments of direct memory at a time, at most (csp_expose.c). */
#define CSP_SEGMENTS (1u << 16)

/* The desk itself. All but `lock` and what is atomic belongs to who holds it. */
typedef struct csp_desk {
    TSM_ATOMIC(uint32_t) lock __attribute__((aligned(64)));     /* pid of who holds it, or 0 */
    uint32_t items;             /* in `free` */
    uint32_t privates;          /* items of the ghost's own memory that are in use */
    uint32_t kept;              /* IN_USER messages that the ghost is to keep */
    uint32_t small;             /* messages of our users that wait, and whose sends are complete, with
                                 * the data IN_POST or IN_SLOT */
    uint32_t added;             /* how often the ghost has added items */
    int32_t file;               /* its descriptor for them */
    uint64_t unfreed;           /* bytes that users have left to it since it last looked */
    csp_ref_t free;
    csp_ref_t left;             /* for the ghost; any order */
    csp_list_t pairs;           /* to be copied */
    csp_list_t probed;          /* messages that a matched probe has found */
    TSM_ATOMIC(uint32_t) is_copying;    /* the ghost copies; a hint */
    TSM_ATOMIC(uint32_t) made __attribute__((aligned(64)));     /* pairs ever made */
    TSM_ATOMIC(uint32_t) owed;  /* items ever left to the ghost that it must see to */
    TSM_ATOMIC(csp_ref_t) aside;        /* pairs that were copied while the desk was taken */
    uint32_t holds[CSP_SEGMENTS];       /* items with data in the segment (csp_expose.h) */
} csp_desk_t;

#endif /* CSP_ITEM_H_INCLUDED */

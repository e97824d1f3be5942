/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DEFERRED_PRE_H_INCLUDED
#define OFI_DEFERRED_PRE_H_INCLUDED

/* Types of ofi_deferred*.h and ofi_flush.h, for ofi_pre.h. */

#include "tsm/tsm_atomic.h"

struct MPIR_Request;
struct MPIR_Win;
struct fid_cntr;

typedef enum {
    MPIDI_OFI_NATIVE_INJECT,
    MPIDI_OFI_NATIVE_SEND,
    MPIDI_OFI_NATIVE_IOV,
    MPIDI_OFI_NATIVE_RECV,
    MPIDI_OFI_NATIVE_CALL       /* see ofi_deferred_call.h */
} MPIDI_OFI_native_kind_t;

/* What is deferred to an address, and its links; see ofi_deferred_peers.h. */
typedef struct MPIDI_OFI_deferred_item {
    struct MPIDI_OFI_deferred_item *next;       /* next one to the same address */
    struct MPIDI_OFI_deferred_item *last;       /* in the first one to an address: the last one */
    struct MPIDI_OFI_deferred_item *next_peer;  /* in the first one to an address: the first one
                                                 * to the next address */
    fi_addr_t addr;
    MPIDI_OFI_native_kind_t kind;
} MPIDI_OFI_deferred_item_t;

/* A native send that waits for room, in the request that it completes: what the call of libfabric
 * needs. */
typedef struct {
    MPIDI_OFI_deferred_item_t item;
    const void *buf;            /* data, or array of struct iovec */
    size_t len;                 /* bytes, or length of the array */
    uint64_t cq_data;
    uint64_t match_bits;
    uint64_t flags;             /* IOV */
    ssize_t refused;            /* what libfabric has returned, if it has refused it for good */
} MPIDI_OFI_deferred_send_t;

/* The same for a receive. */
typedef struct {
    struct iovec iov;           /* the request's util.iov, which others use */
    struct MPIR_Request *next;
    void *buf;                  /* memory, or, with flags, array of struct iovec */
    size_t len;                 /* bytes, or length of the array */
    uint64_t match_bits;
    uint64_t mask_bits;
    fi_addr_t addr;
    uint64_t flags;
    ssize_t refused;            /* as of a send */
} MPIDI_OFI_deferred_recv_t;

typedef union {
    MPIDI_OFI_deferred_send_t send;
    MPIDI_OFI_deferred_recv_t recv;
} MPIDI_OFI_deferred_op_t;

/* The same for the receive of a synchronous send's acknowledgement, in memory of its own. */
typedef struct MPIDI_OFI_deferred_ack {
    struct MPIDI_OFI_deferred_ack *next;
    uint64_t match_bits;
    fi_addr_t addr;
    void *context;
} MPIDI_OFI_deferred_ack_t;

/* The errors of a counter of one-sided operations; see ofi_flush.c. */
typedef struct {
    MPL_atomic_uint64_t seen;   /* at the last look */
    MPL_atomic_uint64_t completed;      /* operations, at the last look */
    MPL_atomic_uint64_t missing;        /* operations, when the newest error was seen */
    MPL_atomic_uint64_t settled;        /* no operation is waited for any more because of them */
} MPIDI_OFI_flush_errors_t;

/* What waits at one endpoint: a circle of addresses with a FIFO for each; acknowledgements and other
 * receives, a FIFO each. Its alignment keeps the endpoints of two VCIs (MPIDI_OFI_context_t, which has
 * counts that each put writes) out of one cache line. */
typedef struct {
    MPIDI_OFI_deferred_item_t *last_peer TSM_ALIGNED;   /* first item to the address that had its turn
                                                 * last, or NULL */
    int n_peers;
    struct MPIR_Request *first_recv;
    struct MPIR_Request *last_recv;
    MPIDI_OFI_deferred_ack_t *first_ack;
    MPIDI_OFI_deferred_ack_t *last_ack;
    int kept_error;             /* of progress, for the next poll to return */
    MPIDI_OFI_flush_errors_t errors;
} MPIDI_OFI_deferred_t;

/* A thread that waits for the completion of one-sided operations, on its stack. */
typedef struct MPIDI_OFI_flush_wait {
    struct MPIDI_OFI_flush_wait *next;
    struct MPIR_Win *win;       /* NULL if the thread holds an operation of its own back */
    struct fid_cntr *cntr;
    uint64_t seen;              /* errors that the window knew of when the wait began */
    int done;
    int has_failed;             /* an operation with this counter has */
} MPIDI_OFI_flush_wait_t;

/* Of a VCI; see ofi_flush.c. */
typedef struct {
    MPL_atomic_ptr_t waits;     /* MPIDI_OFI_flush_wait_t */
    struct MPIR_Win *packed_wins;
} MPIDI_OFI_flush_vni_t;

/* Of a window. */
typedef struct {
    struct MPIR_Win *next_packed;       /* in packed_wins, if it is there */
    int is_packed;
    int has_completed;          /* a flush has seen all complete, with so many issued: */
    uint64_t completed_at;
    uint64_t seen;              /* errors that a flush of the window has returned, or that are older */
    MPIDI_OFI_flush_errors_t errors;    /* of a counter of its own */
} MPIDI_OFI_flush_win_t;

#endif /* OFI_DEFERRED_PRE_H_INCLUDED */

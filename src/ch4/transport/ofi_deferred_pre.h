/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DEFERRED_PRE_H_INCLUDED
#define OFI_DEFERRED_PRE_H_INCLUDED

/* Types of ofi_deferred.h, ofi_deferred_recv.h and ofi_flush.h, for ofi_pre.h. */

struct MPIR_Request;
struct MPIR_Win;
struct fid_cntr;

typedef enum {
    MPIDI_OFI_NATIVE_INJECT,
    MPIDI_OFI_NATIVE_SEND,
    MPIDI_OFI_NATIVE_IOV,
    MPIDI_OFI_NATIVE_RECV
} MPIDI_OFI_native_kind_t;

/* A native send that waits for room, in the request that it completes: what the call of libfabric
 * needs, and its links. No communicator: the user may have freed it. */
typedef struct {
    struct MPIR_Request *next;  /* next send to the same address */
    struct MPIR_Request *last;  /* in the first send to an address: the last one to it */
    struct MPIR_Request *next_peer;     /* in the first send to an address: the first one to the
                                         * next address */
    const void *buf;            /* data, or array of struct iovec */
    size_t len;                 /* bytes, or length of the array */
    uint64_t cq_data;
    uint64_t match_bits;
    fi_addr_t addr;
    MPIDI_OFI_native_kind_t kind;
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
} MPIDI_OFI_deferred_recv_t;

/* What waits at one endpoint: sends, a circle of addresses with a FIFO for each; receives, a FIFO. */
typedef struct {
    struct MPIR_Request *last_peer;     /* first send to the address that had its turn
                                         * last, or NULL */
    int n_peers;
    struct MPIR_Request *first_recv;
    struct MPIR_Request *last_recv;
    int recvs_held;             /* a receive that goes first waits for room */
} MPIDI_OFI_deferred_t;

/* A thread that waits for the completion of one-sided operations, on its stack. */
typedef struct MPIDI_OFI_flush_wait {
    struct MPIDI_OFI_flush_wait *next;
    struct MPIR_Win *win;       /* NULL if the thread holds an operation of its own back */
    struct fid_cntr *cntr;
    int done;
} MPIDI_OFI_flush_wait_t;

#endif /* OFI_DEFERRED_PRE_H_INCLUDED */

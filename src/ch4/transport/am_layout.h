/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_AM_LAYOUT_H_INCLUDED
#define MPIDI_AM_LAYOUT_H_INCLUDED

/* What a request keeps of its active message (MPIDIG_REQUEST(req, req)), in place of MPICH's types of
 * these names. The fields are MPICH's; their order is ours, so that a message of shared memory and an
 * accumulate use as few cache lines as can be (op.h). A count of the origin is an MPI_Aint, because
 * it counts basic elements. Included by mpidpre.h, after the types of the other kinds of operations. */

typedef int (*MPIDIG_req_cmpl_cb) (MPIR_Request * req);
typedef int (*MPIDIG_recv_data_copy_cb) (MPIR_Request * req);

/* Accumulates, with a result or without, at both ends */
typedef struct MPIDIG_acc_req_t {
    MPIR_Request *req_ptr;      /* the origin's */
    MPI_Datatype origin_datatype, target_datatype;
    MPI_Aint origin_count;
    int target_count;
    MPI_Op op;
    void *target_addr;
    void *flattened_dt;
    void *data;                 /* at the target: what came in, then the result that goes out */
    MPI_Aint result_data_sz;
    void *result_addr;          /* of the call; with a result only, as the next two */
    int result_count;
    MPI_Datatype result_datatype;
    void *origin_addr;
} MPIDIG_acc_req_t;

/* Where the next part of the data goes */
typedef enum {
    MPIDIG_RECV_NONE,
    MPIDIG_RECV_DATATYPE,       /* to the buffer of the request, by its datatype */
    MPIDIG_RECV_CONTIG,         /* to iov_one */
    MPIDIG_RECV_IOV             /* to iov_ptr */
} MPIDIG_recv_type;

typedef struct MPIDIG_req_async {
    MPIDIG_recv_type recv_type;
    bool is_device_buffer;
    MPI_Aint in_data_sz;
    MPIDIG_recv_data_copy_cb data_copy_cb;      /* copies the data in place of the above; or NULL */
    MPI_Aint offset;
    struct iovec *iov_ptr;
    int iov_num;
    struct iovec iov_one;
} MPIDIG_rreq_async_t;

/* What of a message in segments is still to be sent */
typedef struct MPIDIG_sreq_async {
    MPI_Datatype datatype;
    MPI_Aint data_sz_left, offset;
    int seg_issued, seg_completed;
} MPIDIG_sreq_async_t;

typedef struct MPIDIG_req_ext_t {
    /* each message looks at these */
    uint64_t status;            /* MPIDIG_REQ_* */
    MPIDIG_req_cmpl_cb target_cmpl_cb;
    uint8_t local_vci, remote_vci;
    MPIDIG_rreq_async_t recv_async;
    /* by the kind of operation */
    union {
        MPIDIG_rreq_t rreq;
        MPIDIG_put_req_t preq;
        MPIDIG_get_req_t greq;
        MPIDIG_cswap_req_t creq;
        MPIDIG_acc_req_t areq;
        MPIDIG_part_am_req_t part_am_req;
    };
    struct iovec *iov;
    /* until its turn comes (am_order.h) */
    uint64_t seq_no;
    MPIR_Request *request;
    struct MPIDIG_req_ext_t *next, *prev;
    MPIDIG_sreq_async_t send_async;
} MPIDIG_req_ext_t;

#endif /* MPIDI_AM_LAYOUT_H_INCLUDED */

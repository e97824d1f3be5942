/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_NBC_COLL_H_INCLUDED
#define ROMIO_NBC_COLL_H_INCLUDED

/* For ad_iread_coll.c and ad_iwrite_coll.c, whose operations are in the queue of romio_queue.h. From
 * here on these calls are not what they were; each file makes them once, in the function that begins
 * an operation (MPI_Iallgather twice), with the variables fd, datatype, count and nbc_req.
 *
 *   MPIX_Grequest_class_create    the queue polls, and the query function returns the operation's error
 *   MPIX_Grequest_class_allocate  also sets up the operation's state, and its errors are those of a
 *                                 file, also if it never joins the queue. From here on datatype is one
 *                                 of the operation's own, since the program may free its type
 *   MPI_Iallgather                of the offsets: the second call begins both, when it is the
 *                                 operation's turn
 *
 * The program may move the pointer of the file as soon as the operation has moved it itself, which is
 * before the first MPI_Iallgather. */

/* The functions of the file that includes this. */
static MPI_Grequest_query_function *romio_nbc_query_fn;
static MPIX_Grequest_poll_function *romio_nbc_poll_fn;

static int romio_nbc_query(void *state, MPI_Status * status)
{
    romio_nbc_query_fn(state, status);
    return ((ADIOI_NBC_Request *) state)->romio.error;
}

static int romio_nbc_create_class(MPI_Grequest_query_function * query, MPI_Grequest_free_function * end,
                                  MPI_Grequest_cancel_function * cancel,
                                  MPIX_Grequest_poll_function * poll,
                                  MPIX_Grequest_wait_function * wait, MPIX_Grequest_class * made)
{
    (void) wait;                /* none: see romio_queue.h */
    romio_nbc_query_fn = query;
    romio_nbc_poll_fn = poll;
    return MPIX_Grequest_class_create(romio_nbc_query, end, cancel, romio_queue_poll, NULL, made);
}

static int romio_nbc_begin(MPIX_Grequest_class class, ADIOI_NBC_Request * r, MPI_Request * request,
                           ADIO_File fd, MPI_Datatype * datatype, int count)
{
    int err;

    r->romio.fd = fd;
    r->romio.poll_fn = romio_nbc_poll_fn;
    r->romio.past_fp = fd->fp_ind;
    r->romio.count = count;
    MPI_Type_contiguous(1, *datatype, &r->romio.datatype);
    MPI_Type_commit(&r->romio.datatype);
    *datatype = r->romio.datatype;
    romio_queue_take_external32(r);
    err = MPIX_Grequest_class_allocate(class, r, request);
    if (err == MPI_SUCCESS)
        ROMIO_QUEUE_RETURN_ERRORS(*request, fd->comm);
    return err;
}

static int romio_nbc_gather(ADIOI_NBC_Request * r, ADIO_Offset * mine, ADIO_Offset * all,
                            MPI_Request * request)
{
    const int second = r->romio.mine[0] != NULL;

    r->romio.mine[second] = mine;
    r->romio.all[second] = all;
    if (second)
        return romio_queue_join(r);
    r->romio.gathers = request;
    r->romio.past_fp = r->romio.fd->fp_ind;
    return MPI_SUCCESS;
}

#undef MPIX_Grequest_class_create
#define MPIX_Grequest_class_create romio_nbc_create_class

#undef MPIX_Grequest_class_allocate
#define MPIX_Grequest_class_allocate(class_, r_, request_) \
    romio_nbc_begin(class_, r_, request_, fd, &datatype, count)

#undef MPI_Iallgather
#define MPI_Iallgather(mine_, n_, type_, all_, all_n_, all_type_, comm_, request_) \
    romio_nbc_gather(nbc_req, mine_, all_, request_)

#endif /* ROMIO_NBC_COLL_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_QUEUE_H_INCLUDED
#define ROMIO_QUEUE_H_INCLUDED

/* A nonblocking collective operation on a file is a chain of nonblocking collective calls, messages
 * with tag 0 and accesses through fd->io_buf, and only the program's own calls of MPI_Test and MPI_Wait
 * move it on. All processes must make the calls of one communicator in one order, so the operations
 * of a file are in a queue: only the oldest is moved on, by whoever tests any of them, and the next
 * begins when it ends. Whoever tests one moves on the queues of other files, too: processes may wait
 * for operations on two files in different orders. A blocking collective access ends them all first;
 * every process has begun them, since all begin the collective operations of a file in one order.
 *
 *   romio_queue_join(r)          a new operation: it begins with the gathering of offsets, now if the
 *                                queue is empty (romio_nbc_coll.h). One that cannot begin ends with
 *                                the error
 *   romio_queue_poll             its poll function. Takes ROMIO's mutex, since MPI_Test and MPI_Wait
 *                                are not calls of ROMIO, and lets one thread at a time do it. So
 *                                MPI_Test may wait for an access of another thread to a file; it
 *                                makes accesses itself
 *   romio_queue_keep(r, err)     *err is an error of r, or none, and becomes the first that r had. All
 *                                processes of an operation must go on, so its errors come at the end:
 *                                its query function returns the first
 *   romio_queue_pass(r, err, e)  keeps *e, of the start of an access, and *err, of the test whether it
 *                                has ended; both become MPI_SUCCESS: r goes on, as the others wait for
 *                                its messages
 *   romio_queue_end(r, err)      the operation is over: r may be gone when this returns. If r agrees,
 *                                the processes first tell each other whether one of them has an error:
 *                                those that read for others are the only ones that see that it failed
 *   romio_queue_drain(fd)        end all that are outstanding: in ADIO_ReadStridedColl,
 *                                ADIO_WriteStridedColl, the functions of ordered access, other
 *                                collective calls that wait, and in MPI_File_close, so that no
 *                                operation refers to a closed file
 *
 * With external32 the operation accesses a buffer in place of the program's: the caller gives it to the
 * file (of a read, also the program's: romio_queue_give_external32), the operation takes it and in the
 * end converts what was read and frees it; the caller gets it back if the operation does not take it
 * (romio_queue_left_external32).
 *
 * MPI forbids MPI_File_set_view, MPI_File_set_size and MPI_File_sync while an operation is outstanding
 * (and MPI_File_close). MPI_File_set_atomicity, MPI_File_seek_shared and MPI_File_preallocate change
 * nothing that an operation uses after it has begun to send, but they make blocking collective calls,
 * which another process may make after it has waited for the operation: so they drain as well. So does
 * MPI_File_set_info, whose hints the operation reads while it is under way: all processes must read the
 * same.
 *
 * All but the poll function are called with the mutex. There is no wait function: MPI_Waitall would
 * call one for each request in turn, and generalized requests of the program would stand still
 * meanwhile. Included by romio_let_in.h. */

#include "mpiu_external32.h"

#ifdef ROMIO_INSIDE_MPICH
void MPIR_Ext_cs_enter(void);
void MPIR_Ext_cs_exit(void);

/* The files whose queues are not empty. The mutex guards the list. */
extern struct ADIOI_FileD *MPIR_Ext_queued_files;

/* MPIX_Grequest_class_create, if it checks its arguments, wants a wait function; this does not. */
int MPIR_Ext_grequest_class_create(MPI_Grequest_query_function * query,
                                   MPI_Grequest_free_function * end,
                                   MPI_Grequest_cancel_function * cancel,
                                   MPIX_Grequest_poll_function * poll,
                                   MPIX_Grequest_wait_function * wait, MPIX_Grequest_class * made);

/* Make MPI_Wait and MPI_Test return an error of the request, and do so for comm: errors of files are
 * returned by default, but a request without a communicator has the handler of MPI_COMM_WORLD. */
void MPIR_Ext_grequest_return_errors(MPI_Request request, MPI_Comm comm);
#define ROMIO_QUEUE_RETURN_ERRORS(request_, comm_) MPIR_Ext_grequest_return_errors(request_, comm_)
#undef MPIX_Grequest_class_create
#define MPIX_Grequest_class_create MPIR_Ext_grequest_class_create
#define ROMIO_QUEUE_ENTER() MPIR_Ext_cs_enter()
#define ROMIO_QUEUE_EXIT() MPIR_Ext_cs_exit()
#define ROMIO_QUEUE_YIELD() MPIR_Ext_cs_yield()
#else
__attribute__ ((weak)) struct ADIOI_FileD *MPIR_Ext_queued_files;
#define ROMIO_QUEUE_ENTER() do { } while (0)
#define ROMIO_QUEUE_EXIT() do { } while (0)
#define ROMIO_QUEUE_YIELD() do { } while (0)
#define ROMIO_QUEUE_RETURN_ERRORS(request_, comm_) do { } while (0)
#endif

/* where an operation is */
enum {
    ROMIO_QUEUE_OUTSIDE,        /* never in the queue */
    ROMIO_QUEUE_WAITS,
    ROMIO_QUEUE_BEGUN,
    ROMIO_QUEUE_AGREES,
    ROMIO_QUEUE_OVER
};

/* If it fails, r is over. Its arrays stay, as the first of the two may be under way. */
static inline int romio_queue_begin(ADIOI_NBC_Request * r)
{
    int err = MPI_SUCCESS;

    for (int i = 0; i < 2 && err == MPI_SUCCESS; i++)
        err = MPI_Iallgather(r->romio.mine[i], 1, ADIO_OFFSET, r->romio.all[i], 1, ADIO_OFFSET,
                             r->romio.fd->comm, &r->romio.gathers[i]);
    if (err == MPI_SUCCESS)
        r->romio.place = ROMIO_QUEUE_BEGUN;
    else if (r->romio.e32_buf)
        ADIOI_Free(r->romio.e32_buf);
    return err;
}

/* Take fd from the list of files, and put it at the end if its queue is not empty. */
static inline void romio_queue_list(ADIO_File fd)
{
    ADIO_File *at = &MPIR_Ext_queued_files;

    while (*at) {
        if (*at == fd)
            *at = fd->romio.next_queued;
        else
            at = &(*at)->romio.next_queued;
    }
    fd->romio.next_queued = NULL;
    if (fd->romio.queue)
        *at = fd;
}

static inline void romio_queue_remove(ADIOI_NBC_Request * r)
{
    ADIOI_NBC_Request **at = &r->romio.fd->romio.queue;

    while (*at && *at != r)
        at = &(*at)->romio.next;
    if (*at)
        *at = r->romio.next;
    if (!r->romio.fd->romio.queue)
        romio_queue_list(r->romio.fd);
}

static inline void romio_queue_keep(ADIOI_NBC_Request * r, int *err)
{
    if (r->romio.error == MPI_SUCCESS)
        r->romio.error = *err;
    *err = r->romio.error;
}

static inline void romio_queue_pass(ADIOI_NBC_Request * r, int *err, int *begin_err)
{
    romio_queue_keep(r, begin_err);
    romio_queue_keep(r, err);
    *begin_err = *err = MPI_SUCCESS;
}

/* r->romio.agrees is the same in all processes: each has exchanged what was read. */
static inline int romio_queue_agree(ADIOI_NBC_Request * r)
{
    int err;

    r->romio.agrees = 0;
    r->romio.failed[0] = r->romio.error != MPI_SUCCESS;
    err = MPI_Iallreduce(&r->romio.failed[0], &r->romio.failed[1], 1, MPI_INT, MPI_MAX,
                         r->romio.fd->comm, &r->romio.agreement);
    if (err == MPI_SUCCESS)
        r->romio.place = ROMIO_QUEUE_AGREES;
    return err;
}

static inline int romio_queue_complete(ADIOI_NBC_Request * r, int err)
{
    romio_queue_keep(r, &err);
    if (r->romio.agrees) {
        err = romio_queue_agree(r);
        if (err == MPI_SUCCESS)
            return MPI_SUCCESS;
        romio_queue_keep(r, &err);
    }
    if (r->romio.place != ROMIO_QUEUE_OUTSIDE && r->rdwr == ADIOI_WRITE)
        romio_holes_forget(r->romio.fd);
    romio_queue_remove(r);
    MPI_Type_free(&r->romio.datatype);
    r->romio.place = ROMIO_QUEUE_OVER;
    return MPI_Grequest_complete(r->req);
}

static inline int romio_queue_test_agreement(ADIOI_NBC_Request * r)
{
    int agreed = 0, err = MPI_Test(&r->romio.agreement, &agreed, MPI_STATUS_IGNORE);

    if (err != MPI_SUCCESS || !agreed)
        return err;
    return romio_queue_complete(r, r->romio.failed[1] ? MPI_ERR_IO : MPI_SUCCESS);
}

/* The request exists, so it is the request that fails. */
static inline int romio_queue_join(ADIOI_NBC_Request * r)
{
    ADIOI_NBC_Request **end = &r->romio.fd->romio.queue;
    int err = MPI_SUCCESS;

    while (*end)
        end = &(*end)->romio.next;
    *end = r;
    r->romio.place = ROMIO_QUEUE_WAITS;
    if (r->romio.fd->romio.queue == r) {
        romio_queue_list(r->romio.fd);
        err = romio_queue_begin(r);
    }
    return err == MPI_SUCCESS ? MPI_SUCCESS : romio_queue_complete(r, err);
}

/* The poll functions of ROMIO let other threads in while they test, so one that finds the queue polled
 * leaves it alone. Nobody can join with the address of an operation that has just ended, because the
 * mutex is held from its end on. An operation whose poll function fails is over: a call of MPI has
 * failed in it. */
static inline void romio_queue_advance(ADIO_File fd)
{
    ADIOI_NBC_Request *oldest;
    int err;

    if (fd->romio.queue_polled) {
        ROMIO_QUEUE_YIELD();
        return;
    }
    fd->romio.queue_polled = 1;
    while ((oldest = fd->romio.queue) != NULL) {
        if (oldest->romio.place == ROMIO_QUEUE_WAITS)
            err = romio_queue_begin(oldest);
        else if (oldest->romio.place == ROMIO_QUEUE_AGREES)
            err = romio_queue_test_agreement(oldest);
        else
            err = oldest->romio.poll_fn(oldest, MPI_STATUS_IGNORE);
        if (fd->romio.queue == oldest && err == MPI_SUCCESS)
            break;
        if (fd->romio.queue == oldest)
            romio_queue_complete(oldest, err);
    }
    fd->romio.queue_polled = 0;
}

/* Advance fd and the first file of the list, which goes to the end of it: calls in a row reach all
 * files, and one call makes two polls however many there are. Advancing lets other threads in, which
 * change the list and may close files, so a file is not looked at afterwards. */
static inline void romio_queue_advance_with(ADIO_File fd)
{
    ADIO_File first;

    romio_queue_advance(fd);
    first = MPIR_Ext_queued_files;
    if (first)
        romio_queue_list(first);
    if (first && first != fd)
        romio_queue_advance(first);
}

static inline int romio_queue_poll(void *state, MPI_Status * status)
{
    ADIOI_NBC_Request *r = (ADIOI_NBC_Request *) state;
    int err;

    ROMIO_QUEUE_ENTER();
    if (r->romio.place == ROMIO_QUEUE_OUTSIDE) {
        err = r->romio.poll_fn(r, status);
        if (err != MPI_SUCCESS && r->romio.place == ROMIO_QUEUE_OUTSIDE)
            romio_queue_complete(r, err);
    } else if (r->romio.place != ROMIO_QUEUE_OVER) {
        romio_queue_advance_with(r->romio.fd);
    }
    ROMIO_QUEUE_EXIT();
    return MPI_SUCCESS;
}

static inline void romio_queue_drain(ADIO_File fd)
{
    while (fd->romio.queue) {
        romio_queue_advance_with(fd);
        ROMIO_QUEUE_YIELD();
    }
}

/* user: the program's buffer for a read, else buf. */
static inline void romio_queue_give_external32(ADIO_File fd, void *buf, void *user)
{
    fd->romio.e32_buf = buf;
    fd->romio.e32_user = user;
}

static inline void romio_queue_take_external32(ADIOI_NBC_Request * r)
{
    r->romio.e32_buf = r->romio.fd->romio.e32_buf;
    r->romio.e32_user = r->romio.fd->romio.e32_user;
    r->romio.fd->romio.e32_buf = r->romio.fd->romio.e32_user = NULL;
}

static inline void *romio_queue_left_external32(ADIO_File fd)
{
    void *left = fd->romio.e32_buf;

    fd->romio.e32_buf = fd->romio.e32_user = NULL;
    return left;
}

static inline int romio_queue_end(ADIOI_NBC_Request * r, int err)
{
    if (r->romio.e32_buf) {
        romio_queue_keep(r, &err);
        if (r->romio.e32_user != r->romio.e32_buf && r->romio.error == MPI_SUCCESS)
            err = MPIU_read_external32_conversion_fn(r->romio.e32_user, r->romio.datatype,
                                                     r->romio.count, r->romio.e32_buf);
        ADIOI_Free(r->romio.e32_buf);
    }
    return romio_queue_complete(r, err);
}

#undef ADIO_ReadStridedColl
#undef ADIO_WriteStridedColl
#define ADIO_ReadStridedColl(fd_, ...) \
    (romio_queue_drain(fd_), (*(fd_)->fns->ADIOI_xxx_ReadStridedColl) (fd_, __VA_ARGS__))
#define ADIO_WriteStridedColl(fd_, ...) \
    (romio_queue_drain(fd_), (*(fd_)->fns->ADIOI_xxx_WriteStridedColl) (fd_, __VA_ARGS__), \
     romio_holes_forget(fd_))

#endif /* ROMIO_QUEUE_H_INCLUDED */

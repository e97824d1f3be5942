/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_direct.h"
#include "csp_envelope.h"

/* A slot for data; -1: all are in use. The lock makes the threads of this process one owner. */
static int take_slot(void)
{
    int slot;

    csp_lock();
    slot = tsm_slots_take(&csp_node.my_user->free_slots);
    csp_unlock();
    return slot;
}

/* A small send takes its data along, in the post or in a slot. A standard one is then complete. (Where
 * much waits already it does not: its data then stays with the program, as that of large ones.) */
static int send_along(csp_post_t * post, const csp_data_t * data)
{
    int slot;

    if (data->bytes <= CSP_INLINE) {
        post->flags |= CSP_POST_INLINE;
        memcpy(post->data, data->addr, data->bytes);
    } else {
        slot = data->bytes <= CSP_SLOT ? take_slot() : -1;
        if (slot < 0)
            return 0;
        post->flags |= CSP_POST_SLOT;
        post->object = (uint64_t) slot;
        memcpy(csp_node.my_user->slot[slot], data->addr, data->bytes);
    }
    return !(post->flags & CSP_POST_SYNC);
}

/* The ghost answers when it is done. On failure the data stays the caller's. */
static int send_for_answer(csp_post_t * post, const csp_data_t * data, MPIR_Comm * comm,
                           MPIR_Request ** req)
{
    int mpi_errno = MPI_SUCCESS;
    csp_op_t *op = csp_op_begin(MPIR_REQUEST_KIND__SEND, comm, req);

    MPIR_ERR_CHKANDSTMT(!op, mpi_errno, MPIX_ERR_NOREQ, goto fn_exit, "**nomemreq");
    op->data = *data;
    csp_direct_mark(post);
    post->op = (uint64_t) (uintptr_t) op;
    csp_count_send(1);
    mpi_errno = csp_post(post);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    csp_count_send(-1);
    csp_op_drop(op);
    *req = NULL;
    goto fn_exit;
}

/* The data has gone along, and so the send is complete. */
static int send_and_forget(csp_post_t * post, MPIR_Request ** req)
{
    int mpi_errno = csp_post(post);

    if (mpi_errno)
        return mpi_errno;
    *req = MPIR_Request_create_complete(MPIR_REQUEST_KIND__SEND);
    csp_await_room();
    return MPI_SUCCESS;
}

int csp_isend(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
              MPIR_Comm * comm, int is_synchronous, MPIR_Request ** req)
{
    int mpi_errno;
    csp_data_t data;
    csp_post_t post = {
        .kind = CSP_POST_SEND,.flags = is_synchronous ? CSP_POST_SYNC : 0
    };

    *req = NULL;
    csp_envelope_send(comm, rank, tag, &post);
    mpi_errno = csp_data_of_send(buf, count, datatype, &data);
    MPIR_ERR_CHECK(mpi_errno);
    post.addr = (uint64_t) (uintptr_t) data.addr;
    post.bytes = (uint64_t) data.bytes;
    if (!csp_node_is_full(csp_world.ghost_of[post.dest]) && send_along(&post, &data)) {
        csp_data_free(&data);
        mpi_errno = send_and_forget(&post, req);
    } else {
        mpi_errno = send_for_answer(&post, &data, comm, req);
    }
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    csp_data_free(&data);
    if (post.flags & CSP_POST_SLOT)
        csp_slot_free(csp_node.me, post.object);
    goto fn_exit;
}

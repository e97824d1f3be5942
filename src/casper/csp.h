/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_H_INCLUDED
#define CSP_H_INCLUDED

/* Ghost processes (doc/casper.md): what the rest of the library sees of them. CSP_NG processes of each
 * node never return from MPI_Init; they match and move the messages of the other processes, the users,
 * while those compute. Users post their operations to their ghost in shared memory of the node; a
 * completed operation comes back the same way and completes an ordinary request.
 *
 * A communicator is offloaded or not. All point-to-point calls of its members take the same way, so the
 * two ends of a message always meet. Collectives and partitioned communication do not.
 *
 * A window made by MPI_Win_allocate is offloaded or not. If it is, ghosts keep the locks and carry out
 * what comes from other nodes (csp_win.h), so that an origin does not wait for a target.
 *
 * Without ghosts csp_takes is false, which costs one load and one branch for each operation. */

#ifdef ENABLE_CASPER

#include "csp_win.h"

struct csp_op;

/* 1 if a point-to-point operation on comm goes to the ghost. Any thread. */
#define csp_takes(comm_, context_offset_) \
    (unlikely(MPIDI_COMM(comm_, casper)) && (context_offset_) == MPIR_CONTEXT_INTRA_PT2PT)

/* The same for a send or a receive of so much data. Where the communicator has a threshold, sender and
 * receiver have the same size, or the receive is an error (csp_comm.c). */
#define csp_takes_msg(comm_, context_offset_, count_, datatype_) \
    (csp_takes(comm_, context_offset_) && csp_is_enough(comm_, count_, datatype_))

static inline int csp_is_enough(MPIR_Comm * comm, MPI_Aint count, MPI_Datatype datatype)
{
    MPI_Aint size;

    if (MPIDI_COMM(comm, casper_least) == 0)
        return 1;
    MPIR_Datatype_get_size_macro(datatype, size);
    return count * size >= MPIDI_COMM(comm, casper_least);
}

/* 1 if req is an operation that a ghost has, also if its communicator no longer uses ghosts. */
#define csp_has(req_) ((req_)->casper != NULL)

/* The operations, with the arguments of the MPI calls; rank is never MPI_PROC_NULL. Any thread, with no
 * VCI held or with one held. Each returns an MPI error code; what goes wrong later is in the status of
 * the request. buf stays the user's; comm and datatype are referenced as long as they are needed. */
int csp_isend(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
              MPIR_Comm * comm, int is_synchronous, MPIR_Request ** req);
int csp_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag, MPIR_Comm * comm,
              MPIR_Request ** req);
int csp_imrecv(void *buf, MPI_Aint count, MPI_Datatype datatype, MPIR_Request * message);
int csp_iprobe(int rank, int tag, MPIR_Comm * comm, int *flag, MPI_Status * status);
int csp_improbe(int rank, int tag, MPIR_Comm * comm, int *flag, MPIR_Request ** message,
                MPI_Status * status);
int csp_cancel_recv(MPIR_Request * req);

/* Communicators. csp_comm_commit: comm is complete, decide whether it is offloaded. csp_comm_hints:
 * note the user's hints. csp_comm_agree: they have been given in a call that is collective over comm,
 * on which no message is under way; compare them, and decide again. Returns an MPI error code.
 * csp_comm_change: the same in MPI_Comm_set_info, where messages may be under way if the info changes
 * no hint of ours; then no message takes another way. csp_comm_forget: they have been given in a call
 * that must not wait. All: comm may be NULL. csp_comm_info: add those in force that MPICH cannot tell
 * to info. csp_comm_map: 1 if comm is MPI_COMM_WORLD and has been given the map of ranks that it needs
 * beside ghosts. */
void csp_comm_commit(MPIR_Comm * comm);
void csp_comm_hints(MPIR_Comm * comm, MPIR_Info * info);
int csp_comm_agree(MPIR_Comm * comm);
int csp_comm_change(MPIR_Comm * comm);
void csp_comm_forget(MPIR_Comm * comm);
int csp_comm_info(MPIR_Comm * comm, MPIR_Info * info);
int csp_comm_map(MPIR_Comm * comm);

/* Windows. csp_win_alloc: win is being made by MPI_Win_allocate on comm, which it has duplicated; if
 * it is to be offloaded, give it memory, at *base, else leave it alone. Collective over comm.
 * csp_win_ready: its other parts are made. csp_win_free: nobody uses it any more. csp_win_info: add the
 * hint in force to info. Each that returns something returns an MPI error code. */
int csp_win_alloc(MPI_Aint size, int disp_unit, MPIR_Comm * comm, MPIR_Info * info, void **base,
                  MPIR_Win * win);
void csp_win_ready(MPIR_Win * win);
void csp_win_free(MPIR_Win * win);
int csp_win_info(MPIR_Win * win, MPIR_Info * info);

/* Memory of MPI_Alloc_mem: direct (csp_direct.h) if there is a ghost and enough of it, else ordinary;
 * NULL without memory. csp_free_mem gives it back. Any thread, with no VCI held. */
void *csp_alloc_mem(MPI_Aint size);
void csp_free_mem(void *addr);

/* Make the memory of a window of MPI_Win_allocate_shared, just made, direct; base, size: of our part.
 * It stays as it is if that cannot be done, or if the hint shmbuf_regist is false. Collective. Returns
 * an MPI error code, if communication fails only. */
int csp_win_share(MPIR_Win * win, MPIR_Info * info, void *base, MPI_Aint size);
void csp_win_unshare(MPIR_Win * win);

/* 1 if win is offloaded; 1 if a one-sided operation goes to a ghost. Any thread. */
#define csp_win_has(win_) (unlikely(MPIDI_WIN(win_, threads).casper != NULL))
#define csp_rma_takes(op_) \
    (csp_win_has((op_)->win) && MPIDI_WIN((op_)->win, threads).casper->target[(op_)->rank].is_far)

/* Such an operation, as MPIDI_issue (threads/issue/issue.h). */
int csp_rma(const MPIDI_op_t * op, MPIR_Request ** req);

/* Call MPIDI_NM_mpi_win_CALL ARGS, or, if the window is offloaded, csp_far_CALL ARGS. */
#define CSP_WIN(win_, call_, args_) \
    (csp_win_has(win_) ? csp_far_##call_ args_ : MPIDI_NM_mpi_win_##call_ args_)

int csp_far_lock(int type, int rank, int assert, MPIR_Win * win, MPIDI_av_entry_t * av);
int csp_far_lock_all(int assert, MPIR_Win * win);
int csp_far_unlock(int rank, MPIR_Win * win, MPIDI_av_entry_t * av);
int csp_far_unlock_all(MPIR_Win * win);
int csp_far_flush(int rank, MPIR_Win * win, MPIDI_av_entry_t * av);
int csp_far_flush_local(int rank, MPIR_Win * win, MPIDI_av_entry_t * av);
int csp_far_flush_all(MPIR_Win * win);
int csp_far_flush_local_all(MPIR_Win * win);
int csp_far_fence(int assert, MPIR_Win * win);
int csp_far_complete(MPIR_Win * win);

/* Start and end, each by one thread; csp_choose and csp_start are collective over all processes.
 * csp_choose: the node map is known; choose the ghosts and number the processes anew, users first.
 * csp_join_node: processes of the node can share memory, and none has sent a message; collective over
 * the node, without progress of MPI.
 * csp_start: MPI is up; cut MPI_COMM_WORLD down to the users. A ghost does not return.
 * csp_quiesce: wait for sends whose requests were freed. csp_leave: nothing more will be posted.
 * MPII_end_at_exit: by a ghost, what a process that has had a session does at exit (mpir_stay_up.h). */
int csp_choose(void);
int csp_join_node(void);
int csp_start(void);
int csp_quiesce(void);
void csp_leave(void);
void MPII_end_at_exit(void);

/* Wait until what this process has posted so far is in the ring, where the ghost finds it. For calls
 * after which a process need not call MPI again, although small sends are complete once they are
 * posted. Any thread with no VCI held; in global, with its lock held. */
void csp_post_all(void);

/* Ghosts of all nodes; 0: there are none. */
int csp_ghosts(void);

#else

#define csp_takes(comm_, context_offset_) 0
#define csp_takes_msg(comm_, context_offset_, count_, datatype_) 0
#define csp_has(req_) 0
#define csp_isend(buf_, count_, datatype_, rank_, tag_, comm_, is_synchronous_, req_) MPI_SUCCESS
#define csp_irecv(buf_, count_, datatype_, rank_, tag_, comm_, req_) MPI_SUCCESS
#define csp_imrecv(buf_, count_, datatype_, message_) MPI_SUCCESS
#define csp_iprobe(rank_, tag_, comm_, flag_, status_) MPI_SUCCESS
#define csp_improbe(rank_, tag_, comm_, flag_, message_, status_) MPI_SUCCESS
#define csp_cancel_recv(req_) MPI_SUCCESS
#define csp_comm_commit(comm_) do { } while (0)
#define csp_comm_hints(comm_, info_) do { } while (0)
#define csp_comm_agree(comm_) MPI_SUCCESS
#define csp_comm_change(comm_) MPI_SUCCESS
#define csp_comm_forget(comm_) do { } while (0)
#define csp_comm_map(comm_) 0
#define csp_win_alloc(size_, disp_unit_, comm_, info_, base_, win_) MPI_SUCCESS
#define csp_win_ready(win_) do { } while (0)
#define csp_win_free(win_) do { } while (0)
#define csp_win_share(win_, info_, base_, size_) MPI_SUCCESS
#define csp_alloc_mem(size_) MPL_malloc(size_, MPL_MEM_USER)
#define csp_free_mem(addr_) MPL_free(addr_)
#define csp_win_info(win_, info_) MPI_SUCCESS
#define csp_win_has(win_) 0
#define CSP_WIN(win_, call_, args_) MPIDI_NM_mpi_win_##call_ args_
#define csp_rma_takes(op_) 0
#define csp_rma(op_, req_) ((void) (op_), (void) (req_), MPI_SUCCESS)
#define csp_choose() MPI_SUCCESS
#define csp_join_node() MPI_SUCCESS
#define csp_start() MPI_SUCCESS
#define csp_quiesce() MPI_SUCCESS
#define csp_leave() do { } while (0)
#define csp_post_all() do { } while (0)
#define csp_ghosts() 0

#endif

#endif /* CSP_H_INCLUDED */

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
 * two ends of a message always meet. Collectives, one-sided and partitioned communication do not.
 *
 * Without ghosts csp_takes is false, which costs one load and one branch for each operation. */

#ifdef ENABLE_CASPER

struct csp_op;

/* 1 if a point-to-point operation on comm goes to the ghost. Any thread. */
#define csp_takes(comm_, context_offset_) \
    (unlikely(MPIDI_COMM(comm_, casper)) && (context_offset_) == MPIR_CONTEXT_INTRA_PT2PT)

/* 1 if req is an operation on an offloaded communicator. */
#define csp_has(req_) ((req_)->comm && MPIDI_COMM((req_)->comm, casper))

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

/* Communicators. csp_comm_commit: comm is complete, decide whether it is offloaded. csp_comm_hints: the
 * user gives hints; collective over comm, on which no message may be under way. csp_comm_map: 1 if comm
 * is MPI_COMM_WORLD and has been given the map of ranks that it needs beside ghosts. */
void csp_comm_commit(MPIR_Comm * comm);
void csp_comm_hints(MPIR_Comm * comm, MPIR_Info * info);
int csp_comm_map(MPIR_Comm * comm);

/* Start and end, each by one thread; csp_choose and csp_start are collective over all processes.
 * csp_choose: the node map is known; choose the ghosts and number the processes anew, users first.
 * csp_join_node: processes of the node can share memory, and none has sent a message; collective over
 * the node, without progress of MPI.
 * csp_start: MPI is up; cut MPI_COMM_WORLD down to the users. A ghost does not return.
 * csp_quiesce: wait for sends whose requests were freed. csp_leave: nothing more will be posted. */
int csp_choose(void);
int csp_join_node(void);
int csp_start(void);
int csp_quiesce(void);
void csp_leave(void);

/* Ghosts of all nodes; 0: there are none. */
int csp_ghosts(void);

#else

#define csp_takes(comm_, context_offset_) 0
#define csp_has(req_) 0
#define csp_isend(buf_, count_, datatype_, rank_, tag_, comm_, is_synchronous_, req_) MPI_SUCCESS
#define csp_irecv(buf_, count_, datatype_, rank_, tag_, comm_, req_) MPI_SUCCESS
#define csp_imrecv(buf_, count_, datatype_, message_) MPI_SUCCESS
#define csp_iprobe(rank_, tag_, comm_, flag_, status_) MPI_SUCCESS
#define csp_improbe(rank_, tag_, comm_, flag_, message_, status_) MPI_SUCCESS
#define csp_cancel_recv(req_) MPI_SUCCESS
#define csp_comm_commit(comm_) do { } while (0)
#define csp_comm_hints(comm_, info_) do { } while (0)
#define csp_comm_map(comm_) 0
#define csp_choose() MPI_SUCCESS
#define csp_join_node() MPI_SUCCESS
#define csp_start() MPI_SUCCESS
#define csp_quiesce() MPI_SUCCESS
#define csp_leave() do { } while (0)
#define csp_ghosts() 0

#endif

#endif /* CSP_H_INCLUDED */

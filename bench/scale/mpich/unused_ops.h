/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Operations that op_apply.h names and no program here starts. Included by mpidimpl.h. */
#ifndef UNUSED_OPS_H_INCLUDED
#define UNUSED_OPS_H_INCLUDED

#define UNUSED_OP(name_, ...) \
    static inline int MPIDI_##name_##_direct(__VA_ARGS__) \
    { \
        abort(); \
    }

#define SENDS const void *, MPI_Aint, MPI_Datatype, int, int, MPIR_Comm *, int, MPIDI_av_entry_t *
#define PUTS const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype
#define GETS void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype
#define GETS_ACC const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Aint, int, \
    MPI_Datatype, MPI_Op, MPIR_Win *

UNUSED_OP(isend_coll, SENDS, MPIR_Request **, MPIR_Errflag_t *)
UNUSED_OP(issend, SENDS, MPIR_Request **)
UNUSED_OP(imrecv, void *, MPI_Aint, MPI_Datatype, MPIR_Request *)
UNUSED_OP(put, PUTS, MPIR_Win *)
UNUSED_OP(get, GETS, MPIR_Win *)
UNUSED_OP(accumulate, PUTS, MPI_Op, MPIR_Win *)
UNUSED_OP(get_accumulate, GETS_ACC)
UNUSED_OP(fetch_and_op, const void *, void *, MPI_Datatype, int, MPI_Aint, MPI_Op, MPIR_Win *)
UNUSED_OP(compare_and_swap, const void *, const void *, void *, MPI_Datatype, int, MPI_Aint,
          MPIR_Win *)
UNUSED_OP(rput, PUTS, MPIR_Win *, MPIR_Request **)
UNUSED_OP(rget, GETS, MPIR_Win *, MPIR_Request **)
UNUSED_OP(raccumulate, PUTS, MPI_Op, MPIR_Win *, MPIR_Request **)
UNUSED_OP(rget_accumulate, GETS_ACC, MPIR_Request **)

/* No ghosts (casper/csp.h). */
#define csp_takes_msg(comm_, context_offset_, count_, datatype_) 0
#define csp_has(req_) 0
#define csp_isend(buf_, count_, datatype_, rank_, tag_, comm_, is_synchronous_, req_) MPI_SUCCESS
#define csp_irecv(buf_, count_, datatype_, rank_, tag_, comm_, req_) MPI_SUCCESS
#define csp_imrecv(buf_, count_, datatype_, message_) MPI_SUCCESS

#undef SENDS
#undef PUTS
#undef GETS
#undef GETS_ACC
#undef UNUSED_OP

#endif /* UNUSED_OPS_H_INCLUDED */

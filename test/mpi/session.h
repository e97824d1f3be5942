/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#ifndef SESSION_H_INCLUDED
#define SESSION_H_INCLUDED

/* Sessions for several threads. Included by one source. */

#include "mt.h"

static inline MPI_Session open_session(void)
{
    MPI_Session s;
    MPI_Info info;
    MT_OK(MPI_Info_create(&info));
    MT_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    MT_OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &s));
    MT_OK(MPI_Info_free(&info));
    return s;
}

/* Of the processes of pset: collective. */
static inline MPI_Comm comm_of_session(MPI_Session s, const char *pset)
{
    MPI_Group group;
    MPI_Comm comm;
    MT_OK(MPI_Group_from_session_pset(s, pset, &group));
    MT_OK(MPI_Comm_create_from_group(group, "tsm-test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                     &comm));
    MT_OK(MPI_Group_free(&group));
    return comm;
}

/* Of a thread, with the same thread of the peer. */
static inline void exchange_numbers(MPI_Comm comm, int id, int n)
{
    for (int i = 0; i < n; i++) {
        int in = -1, out = i + id;
        MT_OK(MPI_Sendrecv(&out, 1, MPI_INT, mt.peer, id, &in, 1, MPI_INT, mt.peer, id, comm,
                           MPI_STATUS_IGNORE));
        MT_CHECK(in == out, "thread %d: %d arrived instead of %d", id, in, out);
    }
}

#endif /* SESSION_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#ifdef ENABLE_THREAD_STATS

#include "threads/stats/counters.h"
#include "threads/stats/events.h"
#include "tsm/tsm_load.h"

#define PREFIX "ch4_threads_"

/* What a tool reads of an event. */
typedef struct {
    int vci;
    int path;
    unsigned long long ns;
} waited_t;

typedef struct {
    int vci;
    int competitors;
} kept_t;

static int waited_index = -1, kept_index = -1;

/* With MPI_T's mutex. A second MPI_Session_init finds the events there. */
void MPIDI_events_register(void)
{
    MPI_Datatype waited_types[] = { MPI_INT, MPI_INT, MPI_UNSIGNED_LONG_LONG };
    MPI_Aint waited_at[] = {
        offsetof(waited_t, vci), offsetof(waited_t, path), offsetof(waited_t, ns)
    };
    MPI_Datatype kept_types[] = { MPI_INT, MPI_INT };
    MPI_Aint kept_at[] = { offsetof(kept_t, vci), offsetof(kept_t, competitors) };
    int source = -1, found;

    if (MPIR_T_event_get_index_impl(PREFIX "lock_waited", &found) == MPI_SUCCESS)
        return;
    MPIR_T_register_source("ch4_threads", "threads inside MPI that compete for a VCI",
                           MPI_T_SOURCE_UNORDERED, NULL, 0, 0, &source);
    MPIR_T_register_event(source, PREFIX "lock_waited", MPI_T_VERBOSITY_USER_DETAIL, waited_types,
                          waited_at, 3, "a thread has waited for a VCI: number of the VCI, path (0 "
                          "main, 1 progress loop), nanoseconds", MPI_T_BIND_NO_OBJECT, "CH4_THREADS",
                          &waited_index);
    MPIR_T_register_event(source, PREFIX "lock_kept", MPI_T_VERBOSITY_USER_DETAIL, kept_types, kept_at,
                          2, "a thread has got a lock again while others waited: number of the VCI, "
                          "threads in competition", MPI_T_BIND_NO_OBJECT, "CH4_THREADS", &kept_index);
}

/* event_calls.h of MPI_T */
int MPIR_T_event_handles_exist(void);

uint64_t MPIDI_events_clock(void)
{
    return MPIR_T_event_handles_exist()? tsm_now_ns() : 0;
}

void MPIDI_events_waited(int vci, int path, uint64_t begin_ns)
{
    waited_t data = {.vci = vci,.path = path };

    if (!begin_ns)
        return;
    data.ns = tsm_now_ns() - begin_ns;
    MPIR_T_event_instance(waited_index, MPI_T_CB_REQUIRE_THREAD_SAFE, &data);
}

void MPIDI_events_kept(int vci, uint64_t competitors)
{
    kept_t data = {.vci = vci,.competitors = (int) competitors };

    MPIR_T_event_instance(kept_index, MPI_T_CB_REQUIRE_THREAD_SAFE, &data);
}

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "tsm/tsm_load.h"
#include "tsm/tsm_wait.h"

/* Without it the thread would hold the locks most of the time and keep the threads of the program from
 * them (TOPC section 7.1.2). */

/* Its longest rest: 1 << REST_SHIFT pauses, some 20 us. */
#define REST_SHIFT 10

void MPIDI_async_rest(void)
{
    static __thread unsigned done;
    static __thread unsigned vain;      /* polls in a row that found nothing */

    vain = done == MPIDI_thread_done() ? vain + 1 : 0;
    done = MPIDI_thread_done();
    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++)
        MPIDI_poll_give_way(vci);
    tsm_load_touch();
    if (tsm_load_crowded()) {
        MPIDI_section_yield_or_nap(vain);
    } else {
        for (unsigned i = 0; i < 1u << MPL_MIN(vain, REST_SHIFT); i++)
            tsm_cpu_pause();
    }
}

#endif

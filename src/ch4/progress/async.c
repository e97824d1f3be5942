/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#include "tsm/tsm_load.h"
#include "tsm/tsm_wait.h"

/* Without it the thread would hold the locks most of the time and keep the threads of the program from
 * them (TOPC section 7.1.2). */

/* A rest is twice as long as the one before: at most 2^16 pauses, the most that the variable allows. */
#define LAST_DOUBLING 16u

/* A rest after so many polls in vain, while there is a processor for each thread. */
static void rest(unsigned vain)
{
    const unsigned pauses = MPL_MIN(1u << MPL_MIN(vain, LAST_DOUBLING),
                                    (unsigned) MPIR_CVAR_CH4_ASYNC_PAUSES);

    for (unsigned i = 0; i < pauses; i++)
        tsm_cpu_pause();
}

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

void MPIDI_async_rest(void)
{
    /* a process has one such thread at a time */
    static unsigned done;
    static unsigned vain;       /* polls in a row that found nothing */
    static int found;           /* that found something, since the last rest */
    const int is_vain = done == MPIDI_thread_done();

    done = MPIDI_thread_done();
    vain = is_vain ? vain + 1 : 0;
    /* each poll of this thread ends with the first completion, see drive.h */
    if (!is_vain && ++found < MPIR_CVAR_CH4_SHM_BATCH)
        return;
    found = 0;
    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++)
        MPIDI_poll_give_way(vci);
    tsm_load_touch();
    if (tsm_load_crowded())
        MPIDI_section_yield_or_nap(vain);
    else
        rest(vain);
}

#elif defined(MPICH_IS_THREADED)

static void rest_or_yield(unsigned vain)
{
    tsm_load_touch();
    if (tsm_load_crowded())
        tsm_yield();
    else
        rest(vain);
}

void MPIDI_async_rest(void)
{
    /* a process has one such thread at a time */
    static int done;
    static unsigned vain;       /* polls in a row that completed no request */
    const int now = MPL_atomic_relaxed_load_int(&MPIDI_VCI(0).progress_count);
    int err = 0;

    vain = now == done ? vain + 1 : 0;
    if (MPIR_ThreadInfo.isThreaded)
        MPIDU_LOCK_YIELDS(MPIDU_Thread_let_in(&MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX, &err,
                                              rest_or_yield(vain)));
    /* with the lock again, which is kept until the next poll ends: that poll alone counts */
    done = MPL_atomic_relaxed_load_int(&MPIDI_VCI(0).progress_count);
}

#endif

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_MODEL_H_INCLUDED
#define CH4_MODEL_H_INCLUDED

/* Which thread-safety model is in force: a constant for a fixed model, so that the other branch
 * folds away, a variable set in MPI_Init for the runtime build. */

#if MPICH_THREAD_MODEL == MPICH_THREAD_MODEL__LOCKQ
#define MPIDI_TSM_MODEL MPICH_THREAD_MODEL__LOCKQ
#elif MPICH_THREAD_MODEL == MPICH_THREAD_MODEL__RUNTIME
#define MPIDI_TSM_MODEL MPIDI_tsm_model
#else
#define MPIDI_TSM_MODEL MPICH_THREAD_MODEL
#endif

extern int MPIDI_tsm_model;

int MPIDI_tsm_model_init(void);
void MPIDI_tsm_vci_init(int vci);
int MPIDI_tsm_finalize(void);
void MPIDI_tsm_thread_close(void);

/* Operations may be handed over. */
#define MPIDI_TSM_LOCKQ_ACTIVE \
    (MPIDI_TSM_MODEL == MPICH_THREAD_MODEL__LOCKQ && MPIR_ThreadInfo.isThreaded && \
     MPIDI_CH4_MT_MODEL == MPIDI_CH4_MT_DIRECT)

#endif /* CH4_MODEL_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_RMA_NAMES_H_INCLUDED
#define MPIDI_ISSUE_RMA_NAMES_H_INCLUDED

/* For ch4_rma.h: MPICH's functions, which follow, are MPIDI_*_direct; rma_wrappers.h, behind them,
 * gives the names back and has the functions that the upper layers call. */
#define MPIDI_put MPIDI_put_direct
#define MPIDI_get MPIDI_get_direct
#define MPIDI_accumulate MPIDI_accumulate_direct
#define MPIDI_get_accumulate MPIDI_get_accumulate_direct
#define MPIDI_fetch_and_op MPIDI_fetch_and_op_direct
#define MPIDI_compare_and_swap MPIDI_compare_and_swap_direct
#define MPIDI_rput MPIDI_rput_direct
#define MPIDI_rget MPIDI_rget_direct
#define MPIDI_raccumulate MPIDI_raccumulate_direct
#define MPIDI_rget_accumulate MPIDI_rget_accumulate_direct

#endif /* MPIDI_ISSUE_RMA_NAMES_H_INCLUDED */

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_INIT_LOCKED_H_INCLUDED
#define UCX_INIT_LOCKED_H_INCLUDED

/* For ucx_init.c. A program with sessions may make the first communicator of all processes while
 * another of its threads communicates with itself and so polls VCI 0, which has the first worker. UCX
 * does not lock a worker, so its calls lock the VCI: one by one, since other processes are waited for
 * in between. No other VCI is polled before all workers are there; then they are flushed. */

#include <ucp/api/ucp.h>
#include "ucx_barrier.h"
#include "ucx_gaps.h"

/* MPIDI_UCX_name, which calls ucp_name with VCI 0 locked. */
#define MPIDI_UCX_LOCKED(name_, parameters_, arguments_) \
    static ucs_status_t MPIDI_UCX_##name_ parameters_ \
    { \
        ucs_status_t status; \
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock); \
        status = ucp_##name_ arguments_; \
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock); \
        return status; \
    }

MPIDI_UCX_LOCKED(worker_create, (ucp_context_h context, const ucp_worker_params_t * params,
                                 ucp_worker_h * worker), (context, params, worker))
MPIDI_UCX_LOCKED(worker_get_address, (ucp_worker_h worker, ucp_address_t ** address, size_t * length),
                 (worker, address, length))
MPIDI_UCX_LOCKED(worker_set_am_handler, (ucp_worker_h worker, uint16_t id, ucp_am_callback_t handler,
                                         void *arg, uint32_t flags), (worker, id, handler, arg, flags))
MPIDI_UCX_LOCKED(ep_create, (ucp_worker_h worker, const ucp_ep_params_t * params, ucp_ep_h * ep),
                 (worker, params, ep))

static int MPIDI_UCX_vni_of(ucp_worker_h worker)
{
    int vni = 0;

    while (MPIDI_UCX_global.ctx[vni].worker != worker)
        vni++;
    return vni;
}

/* Waits for the flush, so that the caller has no request to release. */
static ucs_status_ptr_t MPIDI_UCX_worker_flush(ucp_worker_h worker, unsigned flags,
                                               ucp_send_callback_t done)
{
    MPIDU_Thread_mutex_t *lock = &MPIDI_VCI(MPIDI_UCX_vni_of(worker)).lock;
    ucs_status_ptr_t req;

    MPID_THREAD_CS_ENTER(VCI, *lock);
    req = ucp_worker_flush_nb(worker, flags, done);
    MPID_THREAD_CS_EXIT(VCI, *lock);
    if (!UCS_PTR_IS_PTR(req))
        return NULL;
    while (ucp_request_check_status(req) == UCS_INPROGRESS)
        MPID_Progress_test(NULL);
    MPID_THREAD_CS_ENTER(VCI, *lock);
    ucp_request_release(req);
    MPID_THREAD_CS_EXIT(VCI, *lock);
    return NULL;
}

ucp_datatype_t MPIDI_UCX_gaps_type;

static void *MPIDI_UCX_gaps_start(void *context, void *gaps, size_t count)
{
    return gaps;
}

static size_t MPIDI_UCX_gaps_size(void *gaps_)
{
    const MPIDI_UCX_gaps_t *gaps = gaps_;

    return gaps->type->size * gaps->count;
}

static ucs_status_t MPIDI_UCX_gaps_unpack(void *gaps_, size_t offset, const void *data, size_t length)
{
    const MPIDI_UCX_gaps_t *gaps = gaps_;
    const MPI_Aint bytes = MPL_MIN(length, MPIDI_UCX_gaps_size(gaps_));
    MPI_Aint unpacked;

    MPIR_Typerep_unpack(data, bytes, gaps->buf, gaps->count, gaps->type->handle, offset, &unpacked);
    return unpacked == bytes ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED;
}

static void MPIDI_UCX_gaps_finish(void *gaps)
{
}

static ucs_status_t MPIDI_UCX_init(const ucp_params_t * params, const ucp_config_t * config,
                                   ucp_context_h * context)
{
    const ucp_generic_dt_ops_t gaps = {
        .start_unpack = MPIDI_UCX_gaps_start,
        .packed_size = MPIDI_UCX_gaps_size,
        .unpack = MPIDI_UCX_gaps_unpack,
        .finish = MPIDI_UCX_gaps_finish,
    };
    ucs_status_t status = ucp_dt_create_generic(&gaps, NULL, &MPIDI_UCX_gaps_type);

    return status == UCS_OK ? ucp_init(params, config, context) : status;
}

static void MPIDI_UCX_cleanup(ucp_context_h context)
{
    ucp_cleanup(context);
    ucp_dt_destroy(MPIDI_UCX_gaps_type);
}

/* In MPI_Finalize, by the only thread left, when nobody communicates any more: windows that the program
 * has not freed give back what they have of UCX, which ends the program otherwise. */
static void MPIDI_UCX_worker_destroy(ucp_worker_h worker)
{
    MPIDIU_map_entry_t *entry, *next;

    if (worker == MPIDI_UCX_global.ctx[0].worker) {
        HASH_ITER(hh, MPIDI_global.win_map->head, entry, next) {
            (void) MPIDI_UCX_mpi_win_free_hook(entry->value);
        }
    }
    ucp_worker_destroy(worker);
}

#ifndef MPIDI_CH4_DIRECT_NETMOD
/* Receives are not given to the network adapter to match, which UCX does not by default: it takes them
 * back some time after ucp_request_cancel, and one from any source must be free before shared memory
 * takes its message (ucx_recv.h). A UCX without these settings has no such receives. */
static ucs_status_t MPIDI_UCX_config_read(const char *prefix, const char *file, ucp_config_t ** config)
{
    ucs_status_t status = ucp_config_read(prefix, file, config);

    if (status == UCS_OK) {
        (void) ucp_config_modify(*config, "TM_THRESH", "inf");
        (void) ucp_config_modify(*config, "TM_FORCE_THRESH", "inf");
    }
    return status;
}

#define ucp_config_read MPIDI_UCX_config_read
#endif
#define ucp_init MPIDI_UCX_init
#define ucp_cleanup MPIDI_UCX_cleanup
#define ucp_worker_create MPIDI_UCX_worker_create
#define ucp_worker_destroy MPIDI_UCX_worker_destroy
#define ucp_worker_flush_nb MPIDI_UCX_worker_flush
#define ucp_worker_get_address MPIDI_UCX_worker_get_address
#define ucp_worker_set_am_handler MPIDI_UCX_worker_set_am_handler
#define ucp_ep_create MPIDI_UCX_ep_create

#endif /* UCX_INIT_LOCKED_H_INCLUDED */

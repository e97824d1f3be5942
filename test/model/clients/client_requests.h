/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What src/ch4/request_cache.c needs of MPICH, for a client that includes that file: few objects, small
 * batches, and one pool. Defines `me`, the number of the calling thread, from 0. */

#ifndef CLIENT_REQUESTS_H_INCLUDED
#define CLIENT_REQUESTS_H_INCLUDED

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tsm_atomic.h"

#define MPICH_THREAD_GRANULARITY__VCI 1
#define MPICH_THREAD_GRANULARITY MPICH_THREAD_GRANULARITY__VCI
#define MPL_COMPILE_TIME_ASSERT(what_) _Static_assert(what_, #what_)
#define MPL_snprintf snprintf
#define MPI_SUCCESS 0

/* a block is memory of the checker's, which notices a use after it is free */
#define mmap(at_, size_, prot_, flags_, file_, offset_) calloc(1, size_)
#define munmap(block_, size_) free(block_)
#undef MAP_FAILED
#define MAP_FAILED NULL

#define MPIDI_THREAD_REQUEST_POOLS 1
#define MPIR_REQUEST_NUM_POOLS 1
#define MPIDI_REQUEST_BATCH 2
#define REQUEST_NUM_INDICES 4
#define REQUEST_NUM_BLOCKS 2
#define HANDLE_KIND_INDIRECT 2u
#define HANDLE_KIND_SHIFT 30
#define MPIR_REQUEST 11
#define HANDLE_MPI_KIND_SHIFT 26
#define REQUEST_POOL_SHIFT 20
#define REQUEST_BLOCK_SHIFT 8

typedef struct MPIR_Handle_common {
    int handle;
    void *next;
} MPIR_Handle_common;

typedef struct MPIR_Request {
    int handle;
    void *next;
    int user;
    struct {
        struct {
            TSM_ATOMIC(uint32_t) batch_next;
            int batch_count;
        } threads;
    } dev;
} MPIR_Request;

typedef struct MPIR_Object_alloc {
    int indirect_size;
    void **indirect;
} MPIR_Object_alloc_t;

typedef struct MPIDI_request_cache {
    void *head;
    int count;
} MPIDI_request_cache_t;

typedef struct MPIDI_thread {
    MPIDI_request_cache_t cache[MPIDI_THREAD_REQUEST_POOLS];
} MPIDI_thread_t;

static MPIR_Object_alloc_t MPIR_Request_mem[MPIDI_THREAD_REQUEST_POOLS];

/* as MPICH finds it, but with the order in which the table is read (mpir_handlemem.h) */
#define MPIR_Request_get_ptr(handle_, req_) \
    ((req_) = (MPIR_Request *) tsm_load((TSM_ATOMIC(void *) *) \
        &MPIR_Request_mem[0].indirect[(handle_) >> REQUEST_BLOCK_SHIFT & 0xff], TSM_RELAXED) + \
        ((handle_) & 0xff))

MPIDI_thread_t *MPIDI_thread_self(void);
void *MPIDI_request_cache_refill(int pool);
void MPIDI_request_cache_spill(MPIDI_thread_t * self, int pool);
void MPIDI_request_cache_open(void);
void MPIDI_request_cache_close(void);

/* A program that is out of requests ends; here that is a fault of the client. */
#define MPID_Abort(comm_, error_, code_, text_) abort()
#define MPIDI_thread_at_exit(fn_) ((void) (fn_))
#define MPIDI_thread_foreach(fn_) ((void) (fn_))

#endif /* CLIENT_REQUESTS_H_INCLUDED */

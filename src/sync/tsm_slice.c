/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The rare half of tsm_slice.h. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "tsm_slice.h"
#include "tsm_wait.h"

#include <errno.h>

int tsm_slice_on_;

#if TSM_HAVE_SLICE

/* What a thread knows of itself. */
typedef struct slice_thread {
    tsm_slice_area_t *area;             /* NULL: not enabled */
    uint32_t depth;                     /* sections that it is in */
    uint8_t tried;
    uint8_t is_outer;                   /* the request is the program's own */
} slice_thread_t;

static __thread slice_thread_t self __attribute__((tls_model("initial-exec")));

/* Tests replace the two facts about the machine. */
#ifndef TSM_SLICE_AREA
#include <sys/prctl.h>
#include <sys/rseq.h>

#ifndef PR_RSEQ_SLICE_EXTENSION
#define PR_RSEQ_SLICE_EXTENSION 79
#define PR_RSEQ_SLICE_EXTENSION_SET 2
#define PR_RSEQ_SLICE_EXT_ENABLE 1
#endif

#define TSM_SLICE_AREA() registered_area()
#define TSM_SLICE_ENABLE() prctl(PR_RSEQ_SLICE_EXTENSION, (unsigned long) PR_RSEQ_SLICE_EXTENSION_SET, \
                                 (unsigned long) PR_RSEQ_SLICE_EXT_ENABLE, 0ul, 0ul)

/* The caller's area, or NULL if it is too short: the kernel takes 32 bytes for the old form, which is
 * without the extension. */
static tsm_slice_area_t *registered_area(void)
{
    if (__rseq_size <= sizeof(tsm_slice_area_t))
        return NULL;
    return (tsm_slice_area_t *) ((char *) __builtin_thread_pointer() + __rseq_offset);
}
#endif

/* Enable the extension for the caller. Looks at the flags first: some kernels end a thread that asks
 * without them. */
static void enable(void)
{
    tsm_slice_area_t *area = TSM_SLICE_AREA();
    int saved = errno;

    self.tried = 1;
    self.area = NULL;
    if (area != NULL && (tsm_load(&area->flags, TSM_RELAXED) & TSM_SLICE_AVAILABLE) &&
        TSM_SLICE_ENABLE() == 0)
        self.area = area;
    errno = saved;
}

int tsm_slice_start(int allowed)
{
    if (allowed)
        enable();
    tsm_slice_on_ = allowed && self.area != NULL;
    return tsm_slice_on_;
}

void tsm_slice_begin_(void)
{
    tsm_slice_area_t *area;

    if (!self.tried)
        enable();
    area = self.area;
    if (area == NULL || self.depth++ > 0)
        return;
    self.is_outer = tsm_load(&area->request, TSM_RELAXED) || tsm_load(&area->granted, TSM_RELAXED);
    if (self.is_outer)
        return;
    tsm_store(&area->request, 1, TSM_RELAXED);
    tsm_compiler_fence();
}

void tsm_slice_end_(void)
{
    tsm_slice_area_t *area = self.area;

    if (self.depth == 0 || --self.depth > 0 || self.is_outer)
        return;
    tsm_compiler_fence();
    tsm_store(&area->request, 0, TSM_RELAXED);
    tsm_compiler_fence();               /* the kernel grants only what it sees requested */
    if (tsm_load(&area->granted, TSM_RELAXED))
        tsm_yield_slice();
}

#else

int tsm_slice_start(int allowed)
{
    (void) allowed;
    return 0;
}

void tsm_slice_begin_(void)
{
}

void tsm_slice_end_(void)
{
}

#endif
